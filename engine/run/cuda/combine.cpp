// SPDX-License-Identifier: Apache-2.0
#include "engine/run/cuda/combine.h"

#include <array>

#include "kernels/gpu.h"

namespace parallelarium {

namespace {

// The addresses of the parts as those of T.
template <class T, int Most>
struct Typed {
  explicit Typed(std::span<const std::byte* const> parts) : count(parts.size()) {
    for (std::size_t i = 0; fits() && i < count; ++i) at[i] = reinterpret_cast<const T*>(parts[i]);
  }
  bool fits() const { return count <= at.size(); }
  std::array<const T*, Most> at{};
  std::size_t count;
};

template <class T>
cudaError_t reduce_typed(std::byte* target, std::span<const std::byte* const> parts, bool largest,
                         bool adds, std::int64_t count, cudaStream_t stream) {
  const Typed<T, kMostReduced> typed(parts);
  if (!typed.fits()) return cudaErrorInvalidValue;
  return reduce(reinterpret_cast<T*>(target), typed.at.data(), static_cast<int>(typed.count),
                largest, adds, static_cast<std::size_t>(count), stream);
}

template <class T>
cudaError_t combine_typed(Reduction reduction, std::byte* target,
                          std::span<const std::byte* const> parts, int divisor, std::int64_t count,
                          cudaStream_t stream) {
  static_assert(static_cast<int>(Combine::kAverage) == static_cast<int>(Reduction::kAvg));
  const Typed<T, kMostCombined> typed(parts);
  if (!typed.fits()) return cudaErrorInvalidValue;
  return combine(reinterpret_cast<T*>(target), typed.at.data(), static_cast<int>(typed.count),
                 static_cast<Combine>(reduction), divisor, static_cast<std::size_t>(count), stream);
}

}  // namespace

cudaError_t reduce_values(DataType type, std::byte* target, std::span<const std::byte* const> parts,
                          bool largest, bool adds, std::int64_t count, cudaStream_t stream) {
  switch (type) {
    case DataType::kF32:
      return reduce_typed<float>(target, parts, largest, adds, count, stream);
    case DataType::kBf16:
      return reduce_typed<Bf16>(target, parts, largest, adds, count, stream);
    case DataType::kF64:
      return reduce_typed<double>(target, parts, largest, adds, count, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

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
