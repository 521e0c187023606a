// SPDX-License-Identifier: Apache-2.0
// What the CUDA kernels share: numbers widened to fp32 as they are read and rounded as they are
// written, 16 bytes at a time where addresses allow; sums over warps and blocks.
#pragma once

#include <type_traits>

#include "kernels/bf16.h"
#include "kernels/launch.h"
#include "kernels/simt.cuh"

namespace parallelarium {

// Elements of T in 16 bytes.
template <class T>
inline constexpr int kWidth = 16 / static_cast<int>(sizeof(T));

// The number in which a stored T is computed with.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, Bf16>, float, T>;

template <class T>
__device__ inline Wide<T> widened(T value) {
  if constexpr (std::is_same_v<T, Bf16>)
    return widen(value);
  else
    return value;
}
template <class T>
__device__ inline T rounded(Wide<T> value) {
  if constexpr (std::is_same_v<T, Bf16>)
    return round_to_bf16(value);
  else
    return value;
}

template <class T, int W>
struct alignas(sizeof(T) * W < 16 ? sizeof(T) * W : 16) Pack {
  T at[W];
};
template <int W>
struct Floats {
  float at[W];
};

// W neighbours at once. Requires: from is a multiple of min(16, their bytes).
template <int W, class T>
__device__ inline Floats<W> load(const T* from) {
  const Pack<T, W> pack = *reinterpret_cast<const Pack<T, W>*>(from);
  Floats<W> values;
#pragma unroll
  for (int i = 0; i < W; ++i) values.at[i] = widened(pack.at[i]);
  return values;
}
template <int W, class T>
__device__ inline void store(T* to, const Floats<W>& values) {
  Pack<T, W> pack;
#pragma unroll
  for (int i = 0; i < W; ++i) pack.at[i] = rounded<T>(values.at[i]);
  *reinterpret_cast<Pack<T, W>*>(to) = pack;
}

// Calls body(column, width) for the columns of a row, shared among the threads of a block; width is
// a std::integral_constant: W where `wide`, else 1.
template <int W, class Body>
__device__ inline void for_columns(std::int64_t columns, bool wide, const Body& body) {
  if (wide) {
    for (std::int64_t c = std::int64_t{threadIdx.x} * W; c < columns;
         c += std::int64_t{blockDim.x} * W)
      body(c, std::integral_constant<int, W>{});
  } else {
    for (std::int64_t c = threadIdx.x; c < columns; c += blockDim.x)
      body(c, std::integral_constant<int, 1>{});
  }
}

// The same for one row that may begin anywhere: single columns up to the first multiple of 16
// bytes, then W at a time, then the rest.
template <class T, class Body>
__device__ inline void for_columns_of(const T* row, std::int64_t columns, const Body& body) {
  constexpr int W = kWidth<T>;
  const auto past =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(row) % 16 / sizeof(T));
  const std::int64_t gap = past == 0 ? 0 : W - past;
  const std::int64_t head = gap < columns ? gap : columns;
  const std::int64_t wide_end = head + (columns - head) / W * W;
  for (std::int64_t c = threadIdx.x; c < head; c += blockDim.x)
    body(c, std::integral_constant<int, 1>{});
  for (std::int64_t c = head + std::int64_t{threadIdx.x} * W; c < wide_end;
       c += std::int64_t{blockDim.x} * W)
    body(c, std::integral_constant<int, W>{});
  for (std::int64_t c = wide_end + threadIdx.x; c < columns; c += blockDim.x)
    body(c, std::integral_constant<int, 1>{});
}

struct Sum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Largest {
  __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};

// Combines the values of a warp's lanes, in a fixed order; every lane gets the result.
template <class Combine, class T>
__device__ inline T over_warp(T value, const Combine& combine) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2)
    value = combine(value, __shfl_xor_sync(0xFFFFFFFFU, value, lanes));
  return value;
}

// Combines the values of a block's threads, in a fixed order; every thread gets the result.
// shared: one T for each warp, unused since the last barrier. Requires: whole warps, all threads.
template <class Combine, class T>
__device__ inline T over_block(T value, T* shared, const Combine& combine) {
  value = over_warp(value, combine);
  const unsigned warps = blockDim.x / 32;
  if (warps == 1) return value;
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  T result = shared[0];
  for (unsigned warp = 1; warp < warps; ++warp) result = combine(result, shared[warp]);
  return result;
}

}  // namespace parallelarium
