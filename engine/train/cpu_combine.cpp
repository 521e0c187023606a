// SPDX-License-Identifier: Apache-2.0
#include "engine/train/cpu_combine.h"

#include <array>
#include <cassert>
#include <cstring>

#include "kernels/base/bf16.h"
#include "kernels/exchange/combine.h"

namespace parallelarium {
namespace {

constexpr std::size_t kMostParts = 65;  // of a collective of 64 ranks, and the target

template <class Number>
void combine_parts(Reduction reduction, std::byte* target, std::span<const std::byte* const> parts,
                   int divisor, std::int64_t count) {
  static_assert(static_cast<int>(Combine::kAverage) == static_cast<int>(Reduction::kAvg));
  std::array<const Number*, kMostParts> typed;
  assert(!parts.empty() && parts.size() <= typed.size());
  for (std::size_t i = 0; i < parts.size(); ++i)
    typed[i] = reinterpret_cast<const Number*>(parts[i]);
  combine_cpu(reinterpret_cast<Number*>(target), typed.data(), parts.size(),
              static_cast<Combine>(reduction), divisor, static_cast<std::size_t>(count));
}

}  // namespace

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
      std::memcpy(target, parts[0], static_cast<std::size_t>(count));
  }
}

}  // namespace parallelarium
