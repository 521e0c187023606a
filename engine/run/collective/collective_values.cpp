// SPDX-License-Identifier: Apache-2.0
// Inputs whose result is known exactly, the results, and the comparison.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/run/collective/collective_parts.h"
#include "kernels/base/bf16.h"

namespace parallelarium {

namespace {

constexpr std::int64_t kBlock = 4096;  // elements at once: few enough to stay in the cache

// Mixes rank and element, so that a swapped rank or a shifted element shows.
std::uint32_t mixed(int rank, std::int64_t element) {
  auto x = static_cast<std::uint64_t>(element) * 64 + static_cast<std::uint64_t>(rank) + 1;
  x *= 0x9E3779B97F4A7C15U;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9U;
  return static_cast<std::uint32_t>(x >> 33);
}

// A value as the type keeps it.
double kept(DataType type, double value) {
  switch (type) {
    case DataType::kF32:
      return static_cast<double>(static_cast<float>(value));
    case DataType::kBf16:
      return static_cast<double>(widen(round_to_bf16(static_cast<float>(value))));
    default:
      return value;
  }
  return value;
}

template <class Number>
double to_double(Number value) {
  return static_cast<double>(value);
}
double to_double(Bf16 value) { return static_cast<double>(widen(value)); }
template <class Number>
Number from_double(double value) {
  return static_cast<Number>(value);
}
template <>
Bf16 from_double<Bf16>(double value) {
  return round_to_bf16(static_cast<float>(value));
}

// What a rank puts into its elements is a rule over mixed(): `with` is called with that rule, once
// for many elements, so that none has to choose it.
template <class With>
auto by_rule(const CollectiveSpec& spec, const With& with) {
  if (reduces(spec.kind)) {
    // 64 ranks add up to 192 at most: exact in bf16, in any order.
    if (spec.reduction == Reduction::kSum || spec.reduction == Reduction::kAvg)
      return with([](std::uint32_t bits) { return static_cast<int>(bits % 4); });
    // Powers of two, few of them.
    if (spec.reduction == Reduction::kProd)
      return with([](std::uint32_t bits) { return bits % 16 == 0 ? 2 : bits % 16 == 1 ? -1 : 1; });
  }
  return with([](std::uint32_t bits) { return static_cast<int>(bits % 257) - 128; });
}

// The mean of a sum, as the type's ranks divide it.
double mean_of(const CollectiveSpec& spec, double sum) {
  if (spec.ranks == 1) return sum;
  if (spec.type == DataType::kI32) return std::trunc(sum / spec.ranks);
  // bf16 is divided in fp32 and rounded once more.
  const double quotient = sum / spec.ranks;
  return spec.type == DataType::kBf16
             ? kept(DataType::kBf16, static_cast<double>(static_cast<float>(quotient)))
             : kept(spec.type, quotient);
}

// The rank's inputs of elements from `first` on.
template <class Number>
void inputs_of(const CollectiveSpec& spec, int rank, std::int64_t first, std::int64_t count,
               Number* into) {
  by_rule(spec, [&](auto rule) {
    for (std::int64_t i = 0; i < count; ++i)
      into[i] = from_double<Number>(rule(mixed(rank, first + i)));
  });
}

// As combined_value, of elements from `first` on. `count` must be kBlock at most.
template <class Number>
void combined_of(const CollectiveSpec& spec, std::int64_t first, std::int64_t count, Number* into) {
  // Small whole numbers and powers of two: a float holds them all.
  std::array<float, kBlock> sums;
  inputs_of(spec, 0, first, count, sums.data());
  const auto with_next = [&](int rank, auto combine) {
    by_rule(spec, [&](auto rule) {
      for (std::int64_t i = 0; i < count; ++i)
        sums[static_cast<std::size_t>(i)] = combine(
            sums[static_cast<std::size_t>(i)], static_cast<float>(rule(mixed(rank, first + i))));
    });
  };
  for (int rank = 1; rank < spec.ranks; ++rank) {
    switch (spec.reduction) {
      case Reduction::kProd:
        with_next(rank, [](float a, float b) { return a * b; });
        break;
      case Reduction::kMin:
        with_next(rank, [](float a, float b) { return std::min(a, b); });
        break;
      case Reduction::kMax:
        with_next(rank, [](float a, float b) { return std::max(a, b); });
        break;
      default:
        with_next(rank, [](float a, float b) { return a + b; });
    }
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const double sum = sums[static_cast<std::size_t>(i)];
    into[i] = from_double<Number>(spec.reduction == Reduction::kAvg ? mean_of(spec, sum) : sum);
  }
}

template <class Number>
void fill_as(const CollectiveSpec& spec, int rank, std::byte* into, std::int64_t count,
             InputValue value, std::int64_t first) {
  auto* values = reinterpret_cast<Number*>(into);
  if (value == &input_value) return inputs_of(spec, rank, first, count, values);
  for (std::int64_t i = 0; i < count; ++i)
    values[i] = from_double<Number>(value(spec, rank, first + i));
}

template <class Number>
double read_as(const std::byte* array, std::int64_t element) {
  return to_double(reinterpret_cast<const Number*>(array)[element]);
}

// Compares the elements of `range` in `array` with what `expect(first, count, into)` writes.
template <class Number, class Expect>
void compare_as(const std::byte* array, ChunkRange range, int rank, const Expect& expect,
                CollectiveObservation& run, const std::atomic<bool>* cancel) {
  const auto* found = reinterpret_cast<const Number*>(array);
  std::array<Number, kBlock> wanted;
  for (std::int64_t first = range.begin; first < range.end; first += kBlock) {
    if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) return;
    const std::int64_t count = std::min(kBlock, range.end - first);
    expect(first, count, wanted.data());
    // Right results have no negative zero: what is right has equal bits.
    if (std::memcmp(wanted.data(), found + first,
                    static_cast<std::size_t>(count) * sizeof(Number)) == 0)
      continue;
    for (std::int64_t i = 0; i < count; ++i) {
      if (std::memcmp(&wanted[static_cast<std::size_t>(i)], &found[first + i], sizeof(Number)) == 0)
        continue;
      const double right = to_double(wanted[static_cast<std::size_t>(i)]);
      const double seen = to_double(found[first + i]);
      ++run.wrong_cells;
      if (run.wrong.size() < kMostTold) run.wrong.push_back({rank, first + i, right, seen});
    }
  }
}

template <class Number>
void compare_result_as(const Collective& collective, int rank, const std::byte* array,
                       const std::byte* result, CollectiveObservation& run,
                       const std::atomic<bool>* cancel) {
  const CollectiveSpec& spec = collective.spec;
  const std::int64_t count = spec.bytes / size_of(spec.type);
  const ChunkRange whole{0, count}, own = chunk_of(count, spec.ranks, rank);
  const auto combined = [&](ChunkRange range) {
    compare_as<Number>(
        array, range, rank,
        [&](std::int64_t first, std::int64_t some, Number* into) {
          combined_of(spec, first, some, into);
        },
        run, cancel);
  };
  // `shift`: how much further on the elements were in the array they come from.
  const auto inputs = [&](const std::byte* at, ChunkRange range, int from, std::int64_t shift = 0) {
    compare_as<Number>(
        at, range, rank,
        [&](std::int64_t first, std::int64_t some, Number* into) {
          inputs_of(spec, from, first + shift, some, into);
        },
        run, cancel);
  };
  switch (spec.kind) {
    case CollectiveKind::kAllReduce:
      return combined(whole);
    case CollectiveKind::kReduceScatter:
      return combined(own);
    case CollectiveKind::kReduce:
      if (rank == spec.root) combined(whole);
      return;
    case CollectiveKind::kBroadcast:
      return inputs(array, whole, spec.root);
    case CollectiveKind::kScatter:
      return inputs(array, own, spec.root);
    case CollectiveKind::kGather:
    case CollectiveKind::kAllGather:
      if (spec.kind == CollectiveKind::kGather && rank != spec.root) return;
      for (int from = 0; from < spec.ranks; ++from)
        inputs(array, chunk_of(count, spec.ranks, from), from);
      return;
    case CollectiveKind::kAllToAll:
      for (int from = 0; from < spec.ranks; ++from) {
        const int chunk = from * spec.ranks + rank;
        const ChunkRange there = result_range(collective, chunk);
        inputs(result, there, from, chunk_range(collective, chunk).begin - there.begin);
      }
      return;
  }
}

}  // namespace

double input_value(const CollectiveSpec& spec, int rank, std::int64_t element) {
  return by_rule(spec, [&](auto rule) { return static_cast<double>(rule(mixed(rank, element))); });
}

double combined_value(const CollectiveSpec& spec, std::int64_t element) {
  double value = input_value(spec, 0, element);
  for (int rank = 1; rank < spec.ranks; ++rank) {
    const double next = input_value(spec, rank, element);
    switch (spec.reduction) {
      case Reduction::kProd:
        value *= next;
        break;
      case Reduction::kMin:
        value = std::min(value, next);
        break;
      case Reduction::kMax:
        value = std::max(value, next);
        break;
      default:
        value += next;
    }
  }
  return spec.reduction == Reduction::kAvg ? mean_of(spec, value) : value;
}

double inexact_value(const CollectiveSpec& spec, int rank, std::int64_t element) {
  // 62 bits in [0, 1], as many as float64 keeps: two numbers of 31.
  constexpr double kSteps = 1U << 31;
  constexpr std::int64_t kElsewhere = std::int64_t{1} << 45;
  const double low = static_cast<double>(mixed(rank, element + kElsewhere)) / kSteps;
  const double share = (static_cast<double>(mixed(rank, element)) + low) / kSteps;
  if (spec.type == DataType::kI32) return std::trunc(share * 1000);
  return spec.reduction == Reduction::kProd ? 1 + share / 4 : 1 + share;
}

void fill_input(const CollectiveSpec& spec, int rank, std::byte* into, std::int64_t count,
                InputValue value, std::int64_t first) {
  switch (spec.type) {
    case DataType::kF32:
      return fill_as<float>(spec, rank, into, count, value, first);
    case DataType::kBf16:
      return fill_as<Bf16>(spec, rank, into, count, value, first);
    case DataType::kF64:
      return fill_as<double>(spec, rank, into, count, value, first);
    case DataType::kI32:
      return fill_as<std::int32_t>(spec, rank, into, count, value, first);
    case DataType::kU8:
      return;  // make_collective refuses it
  }
}

double read_value(DataType type, const std::byte* array, std::int64_t element) {
  switch (type) {
    case DataType::kF32:
      return read_as<float>(array, element);
    case DataType::kBf16:
      return read_as<Bf16>(array, element);
    case DataType::kF64:
      return read_as<double>(array, element);
    case DataType::kI32:
      return read_as<std::int32_t>(array, element);
    case DataType::kU8:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

void compare_result(const Collective& collective, int rank, const std::byte* array,
                    const std::byte* result, CollectiveObservation& run,
                    const std::atomic<bool>* cancel) {
  switch (collective.spec.type) {
    case DataType::kF32:
      return compare_result_as<float>(collective, rank, array, result, run, cancel);
    case DataType::kBf16:
      return compare_result_as<Bf16>(collective, rank, array, result, run, cancel);
    case DataType::kF64:
      return compare_result_as<double>(collective, rank, array, result, run, cancel);
    case DataType::kI32:
      return compare_result_as<std::int32_t>(collective, rank, array, result, run, cancel);
    case DataType::kU8:
      return;  // make_collective refuses it
  }
}

}  // namespace parallelarium
