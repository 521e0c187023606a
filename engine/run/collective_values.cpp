// SPDX-License-Identifier: Apache-2.0
// Inputs whose result is known exactly, the results, and the comparison.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/run/collective_parts.h"
#include "kernels/bf16.h"

namespace parallelarium {

namespace {

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

template <class Number>
void fill_as(const CollectiveSpec& spec, int rank, std::byte* array, std::int64_t count,
             InputValue value) {
  auto* values = reinterpret_cast<Number*>(array);
  for (std::int64_t i = 0; i < count; ++i) values[i] = from_double<Number>(value(spec, rank, i));
}

template <class Number>
double read_as(const std::byte* array, std::int64_t element) {
  return to_double(reinterpret_cast<const Number*>(array)[element]);
}

}  // namespace

double input_value(const CollectiveSpec& spec, int rank, std::int64_t element) {
  const std::uint32_t bits = mixed(rank, element);
  if (!reduces(spec.kind)) return static_cast<double>(bits % 257) - 128;
  switch (spec.reduction) {
    case Reduction::kSum:  // 64 ranks add up to 192 at most: exact in bf16, in any order
    case Reduction::kAvg:
      return bits % 4;
    case Reduction::kProd:  // powers of two, few of them
      return bits % 16 == 0 ? 2 : bits % 16 == 1 ? -1 : 1;
    default:
      return static_cast<double>(bits % 257) - 128;
  }
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
  if (spec.reduction != Reduction::kAvg || spec.ranks == 1) return value;
  if (spec.type == DataType::kI32) return std::trunc(value / spec.ranks);
  // bf16 is divided in fp32 and rounded once more.
  const double quotient = value / spec.ranks;
  return spec.type == DataType::kBf16
             ? kept(DataType::kBf16, static_cast<double>(static_cast<float>(quotient)))
             : kept(spec.type, quotient);
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

void fill_input(const CollectiveSpec& spec, int rank, std::byte* array, std::int64_t count,
                InputValue value) {
  switch (spec.type) {
    case DataType::kF32:
      return fill_as<float>(spec, rank, array, count, value);
    case DataType::kBf16:
      return fill_as<Bf16>(spec, rank, array, count, value);
    case DataType::kF64:
      return fill_as<double>(spec, rank, array, count, value);
    case DataType::kI32:
      return fill_as<std::int32_t>(spec, rank, array, count, value);
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
                    const std::byte* result, CollectiveObservation& run) {
  constexpr std::size_t kMostTold = 8;
  const CollectiveSpec& spec = collective.spec;
  const auto compare = [&](const std::byte* at, ChunkRange range, const auto& expected) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const double wanted = expected(i), found = read_value(spec.type, at, i);
      // As bits, so that a NaN is never right; inputs and results have no negative zero.
      if (wanted == found) continue;
      ++run.wrong_cells;
      if (run.wrong.size() < kMostTold) run.wrong.push_back({rank, i, wanted, found});
    }
  };
  const std::int64_t count = spec.bytes / size_of(spec.type);
  const ChunkRange whole{0, count}, own = chunk_of(count, spec.ranks, rank);
  const auto combined = [&](std::int64_t i) { return combined_value(spec, i); };
  const auto of_rank = [&](int from) {
    return [&spec, from](std::int64_t i) { return input_value(spec, from, i); };
  };
  switch (spec.kind) {
    case CollectiveKind::kAllReduce:
      return compare(array, whole, combined);
    case CollectiveKind::kReduceScatter:
      return compare(array, own, combined);
    case CollectiveKind::kReduce:
      if (rank == spec.root) compare(array, whole, combined);
      return;
    case CollectiveKind::kBroadcast:
      return compare(array, whole, of_rank(spec.root));
    case CollectiveKind::kScatter:
      return compare(array, own, of_rank(spec.root));
    case CollectiveKind::kGather:
    case CollectiveKind::kAllGather:
      if (spec.kind == CollectiveKind::kGather && rank != spec.root) return;
      for (int from = 0; from < spec.ranks; ++from)
        compare(array, chunk_of(count, spec.ranks, from), of_rank(from));
      return;
    case CollectiveKind::kAllToAll:
      for (int from = 0; from < spec.ranks; ++from) {
        const int chunk = from * spec.ranks + rank;
        const std::int64_t shift =
            chunk_range(collective, chunk).begin - result_range(collective, chunk).begin;
        compare(result, result_range(collective, chunk),
                [&](std::int64_t i) { return input_value(spec, from, i + shift); });
      }
      return;
  }
}

}  // namespace parallelarium
