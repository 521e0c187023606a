// SPDX-License-Identifier: Apache-2.0
#include "engine/run/cuda/combine.h"

#include <array>

#include "kernels/gpu.h"

namespace parallelarium {

namespace {

template <class T>
cudaError_t combine_typed(Reduction reduction, std::byte* target,
                          std::span<const std::byte* const> parts, int divisor, std::int64_t count,
                          cudaStream_t stream) {
  static_assert(static_cast<int>(Combine::kAverage) == static_cast<int>(Reduction::kAvg));
  std::array<const T*, kMostCombined> typed;
  if (parts.size() > typed.size()) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < parts.size(); ++i) typed[i] = reinterpret_cast<const T*>(parts[i]);
  return combine(reinterpret_cast<T*>(target), typed.data(), static_cast<int>(parts.size()),
                 static_cast<Combine>(reduction), divisor, static_cast<std::size_t>(count), stream);
}

}  // namespace

cudaError_t combine_values(DataType type, Reduction reduction, std::byte* target,
                           std::span<const std::byte* const> parts, int divisor, std::int64_t count,
                           cudaStream_t stream) {
  switch (type) {
    case DataType::kF32:
      return combine_typed<float>(reduction, target, parts, divisor, count, stream);
    case DataType::kBf16:
      return combine_typed<Bf16>(reduction, target, parts, divisor, count, stream);
    case DataType::kF64:
      return combine_typed<double>(reduction, target, parts, divisor, count, stream);
    case DataType::kI32:
      return combine_typed<std::int32_t>(reduction, target, parts, divisor, count, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace parallelarium
