// SPDX-License-Identifier: Apache-2.0
#include "engine/train/cpu_combine.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <type_traits>

#include "kernels/bf16.h"
#include "kernels/combine.h"

namespace parallelarium {
namespace {

std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

// Numbers are added up in this type.
template <class Number>
using Wide = std::conditional_t<std::is_same_v<Number, Bf16>, float, Number>;

template <class Number>
Wide<Number> load(Number value) {
  if constexpr (std::is_same_v<Number, Bf16>)
    return widen(value);
  else
    return value;
}
template <class Number>
Number store(Wide<Number> value) {
  if constexpr (std::is_same_v<Number, Bf16>)
    return round_to_bf16(value);
  else
    return value;
}

// Block by block, so that the block stays in cache.
template <class Number>
void reduce_parts(std::byte* target_bytes, std::span<const std::byte* const> parts, bool largest,
                  bool adds, std::int64_t count) {
  constexpr std::int64_t kBlock = 512;
  std::array<Wide<Number>, kBlock> sum;
  auto* target = reinterpret_cast<Number*>(target_bytes);
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::int64_t length = std::min(kBlock, count - first);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Number* part = reinterpret_cast<const Number*>(parts[i]) + first;
      if (i == 0) {
        for (std::int64_t j = 0; j < length; ++j) sum[size(j)] = load(part[j]);
      } else if (largest) {
        for (std::int64_t j = 0; j < length; ++j) {
          Wide<Number>& most = sum[size(j)];
          most = std::max(most, load(part[j]));
        }
      } else {
        for (std::int64_t j = 0; j < length; ++j) sum[size(j)] += load(part[j]);
      }
    }
    if (adds) {
      for (std::int64_t j = 0; j < length; ++j)
        target[first + j] = store<Number>(load(target[first + j]) + sum[size(j)]);
    } else {
      for (std::int64_t j = 0; j < length; ++j) target[first + j] = store<Number>(sum[size(j)]);
    }
  }
}

template <class Number>
void combine_parts(Reduction reduction, std::byte* target, std::span<const std::byte* const> parts,
                   int divisor, std::int64_t count) {
  static_assert(static_cast<int>(Combine::kAverage) == static_cast<int>(Reduction::kAvg));
  // Of a collective of 64 ranks at most.
  std::array<const Number*, 64> typed;
  assert(!parts.empty() && parts.size() <= typed.size());
  for (std::size_t i = 0; i < parts.size(); ++i)
    typed[i] = reinterpret_cast<const Number*>(parts[i]);
  combine_cpu(reinterpret_cast<Number*>(target), typed.data(), parts.size(),
              static_cast<Combine>(reduction), divisor, size(count));
}

}  // namespace

void reduce_on_cpu(DataType type, std::byte* target, std::span<const std::byte* const> parts,
                   bool largest, bool adds, std::int64_t count) {
  switch (type) {
    case DataType::kF64:
      return reduce_parts<double>(target, parts, largest, adds, count);
    case DataType::kBf16:
      return reduce_parts<Bf16>(target, parts, largest, adds, count);
    default:
      assert(type == DataType::kF32);
      return reduce_parts<float>(target, parts, largest, adds, count);
  }
}

void combine_on_cpu(DataType type, Reduction reduction, std::byte* target,
                    std::span<const std::byte* const> parts, int divisor, std::int64_t count) {
  switch (type) {
    case DataType::kF32:
      return combine_parts<float>(reduction, target, parts, divisor, count);
    case DataType::kBf16:
      return combine_parts<Bf16>(reduction, target, parts, divisor, count);
    case DataType::kF64:
      return combine_parts<double>(reduction, target, parts, divisor, count);
    case DataType::kI32:
      return combine_parts<std::int32_t>(reduction, target, parts, divisor, count);
    case DataType::kU8:  // bytes are moved, not reckoned with
      assert(reduction == Reduction::kNone);
      std::memcpy(target, parts[0], size(count));
  }
}

}  // namespace parallelarium
