// SPDX-License-Identifier: Apache-2.0
// What the CUDA kernels share: numbers widened to fp32 as they are read and rounded as they are
// written, 16 bytes at a time where addresses allow; sums over warps and blocks.
#pragma once

#include <bit>
#include <type_traits>

#include "kernels/base/bf16.h"
#include "kernels/base/launch.h"
#include "kernels/base/simt.cuh"

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
// The same number as round_to_bf16 gives, a NaN being some NaN.
template <class T>
__device__ inline T rounded(Wide<T> value) {
  if constexpr (std::is_same_v<T, Bf16>)
    return {static_cast<std::uint16_t>(pack_bf16(value, 0.0F))};
  else
    return value;
}

// W neighbours: as they are stored, and as they are computed with.
template <class T, int W>
struct alignas(sizeof(T) * W < 16 ? sizeof(T) * W : 16) Pack {
  T at[W];
};
template <class Number, int W>
struct Numbers {
  Number at[W];
};
template <int W>
using Floats = Numbers<float, W>;

// What a pack is moved as: left to itself, nvcc takes some packs apart and moves their elements.
template <class Pack>
struct Words {
  static constexpr std::size_t kBytes = alignof(Pack);
  using Word = std::conditional_t<
      kBytes == 16, uint4,
      std::conditional_t<
          kBytes == 8, uint2,
          std::conditional_t<kBytes == 4, std::uint32_t,
                             std::conditional_t<kBytes == 2, std::uint16_t, std::uint8_t>>>>;
  static constexpr int kCount = sizeof(Pack) / sizeof(Word);
  Word at[kCount];
};

// W neighbours at once. The address must be a multiple of min(16, their bytes).
template <int W, class T>
__device__ inline Pack<T, W> load_pack(const T* from) {
  using Moved = Words<Pack<T, W>>;
  Moved words;
#pragma unroll
  for (int i = 0; i < Moved::kCount; ++i)
    words.at[i] = reinterpret_cast<const typename Moved::Word*>(from)[i];
  return std::bit_cast<Pack<T, W>>(words);
}
template <int W, class T>
__device__ inline void store_pack(T* to, const Pack<T, W>& pack) {
  using Moved = Words<Pack<T, W>>;
  const auto words = std::bit_cast<Moved>(pack);
#pragma unroll
  for (int i = 0; i < Moved::kCount; ++i)
    store_word(reinterpret_cast<typename Moved::Word*>(to) + i, words.at[i]);
}

template <class T, int W>
__device__ inline Numbers<Wide<T>, W> widened(const Pack<T, W>& pack) {
  Numbers<Wide<T>, W> values;
#pragma unroll
  for (int i = 0; i < W; ++i) values.at[i] = widened(pack.at[i]);
  return values;
}
template <class T, int W>
__device__ inline Pack<T, W> rounded(const Numbers<Wide<T>, W>& values) {
  if constexpr (std::is_same_v<T, Bf16> && W % 2 == 0) {
    Numbers<std::uint32_t, W / 2> pairs;
#pragma unroll
    for (int i = 0; i < W / 2; ++i) pairs.at[i] = pack_bf16(values.at[2 * i], values.at[2 * i + 1]);
    return std::bit_cast<Pack<T, W>>(pairs);
  } else {
    Pack<T, W> pack;
#pragma unroll
    for (int i = 0; i < W; ++i) pack.at[i] = rounded<T>(values.at[i]);
    return pack;
  }
}

// Both at once.
template <int W, class T>
__device__ inline Numbers<Wide<T>, W> load(const T* from) {
  return widened(load_pack<W>(from));
}
template <int W, class T>
__device__ inline void store(T* to, const Numbers<Wide<T>, W>& values) {
  store_pack(to, rounded<T, W>(values));
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
// bytes, then W at a time, then the rest. body(column, width, turns, step) works on `turns` (a
// constant: kTurns or 1) packs, `step` columns apart, and may so ask for all before it uses one.
template <int kTurns, class T, class Body>
__device__ inline void for_column_turns_of(const T* row, std::int64_t columns, const Body& body) {
  constexpr int W = kWidth<T>;
  using Single = std::integral_constant<int, 1>;
  using Whole = std::integral_constant<int, W>;
  const auto past =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(row) % 16 / sizeof(T));
  const std::int64_t gap = past == 0 ? 0 : W - past;
  const std::int64_t head = gap < columns ? gap : columns;
  const std::int64_t wide_end = head + (columns - head) / W * W;
  const std::int64_t step = std::int64_t{blockDim.x} * W;
  for (std::int64_t c = threadIdx.x; c < head; c += blockDim.x) body(c, Single{}, Single{}, 0);
  std::int64_t c = head + std::int64_t{threadIdx.x} * W;
  if constexpr (kTurns > 1) {
    for (; c + (kTurns - 1) * step < wide_end; c += kTurns * step)
      body(c, Whole{}, std::integral_constant<int, kTurns>{}, step);
  }
  for (; c < wide_end; c += step) body(c, Whole{}, Single{}, step);
  for (c = wide_end + threadIdx.x; c < columns; c += blockDim.x) body(c, Single{}, Single{}, 0);
}
template <class T, class Body>
__device__ inline void for_columns_of(const T* row, std::int64_t columns, const Body& body) {
  for_column_turns_of<1>(row, columns,
                         [&](std::int64_t c, auto width, auto, std::int64_t) { body(c, width); });
}

// Calls body(at, width) for `count` elements shared among the threads of the grid: W at a time
// where `wide`, then what is left one by one.
template <int W, class Body>
__device__ inline void for_elements(std::size_t count, bool wide, const Body& body) {
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t packed = wide ? count / W * W : 0;
  for (std::size_t at = first * W; at < packed; at += stride * W)
    body(at, std::integral_constant<int, W>{});
  for (std::size_t at = packed + first; at < count; at += stride)
    body(at, std::integral_constant<int, 1>{});
}

struct Sum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Largest {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

// Combines the values of a warp's lanes, in a fixed order; every lane gets the result.
template <class Combine, class T>
__device__ inline T over_warp(T value, const Combine& combine) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2)
    value = combine(value, __shfl_xor_sync(0xFFFFFFFFU, value, lanes));
  return value;
}

// Combines the values of a block's threads, in a fixed order; every thread gets the result. What
// any of them touched before is ordered with what any touches behind it, as by __syncthreads.
// shared: one T for each warp, unused since the last barrier. All threads of whole warps must call
// it.
template <class Combine, class T>
__device__ inline T over_block(T value, T* shared, const Combine& combine) {
  value = over_warp(value, combine);
  const unsigned warps = blockDim.x / 32;
  if (warps == 1) {
    __syncwarp();  // a shuffle orders no memory
    return value;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  T result = shared[0];
  for (unsigned warp = 1; warp < warps; ++warp) result = combine(result, shared[warp]);
  return result;
}

}  // namespace parallelarium
