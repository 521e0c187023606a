// SPDX-License-Identifier: Apache-2.0
// What forward and backward of fused attention in fp32 arithmetic share. A block keeps 32 rows in
// shared memory and lets tiles of 32 others pass. Thread (x, y) of 16 x 16 works on rows 2y and
// 2y + 1, and on columns x, x + 16, ...
#pragma once

#include "kernels/base/vector.cuh"

namespace parallelarium::fused {

inline constexpr int kThreads = 256;
inline constexpr int kRows = 32;
inline constexpr int kScorePitch = kRows + 1;
inline constexpr int kMostD = 256;
inline constexpr int kColumns = kMostD / 16;  // of a head, for each thread

struct Strides {
  std::int64_t length, heads, kv_heads, D;
  std::int64_t qkv;      // between tokens of qkv
  std::int64_t context;  // between tokens of the context
};

// An odd number of 4-byte words, so that a column of rows falls on different banks.
template <class T>
__host__ __device__ constexpr int pitch_of(std::int64_t D) {
  return static_cast<int>((D + 1) / 2 * 2) + 4 / static_cast<int>(sizeof(T));
}

template <class T>
__device__ inline void load_rows(T* to, const T* from, std::int64_t stride, std::int64_t first,
                                 const Strides& s) {
  const int D = static_cast<int>(s.D);
  for (int at = static_cast<int>(threadIdx.x); at < kRows * D; at += kThreads) {
    const int row = at / D;
    const int column = at % D;
    to[row * pitch_of<T>(D) + column] =
        first + row < s.length ? from[(first + row) * stride + column] : T{};
  }
}

// out[r][c] = row (2y + r) of left times row (x + 16 c) of right.
template <class T>
__device__ inline void multiply_rows(float (&out)[2][2], const T* left, const T* right,
                                     std::int64_t D) {
  const int x = static_cast<int>(threadIdx.x) % 16;
  const int y = static_cast<int>(threadIdx.x) / 16;
  const int pitch = pitch_of<T>(D);
  for (int d = 0; d < static_cast<int>(D); ++d)
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int c = 0; c < 2; ++c)
        out[r][c] +=
            widened(left[(2 * y + r) * pitch + d]) * widened(right[(x + 16 * c) * pitch + d]);
}

// out[r][u] += sum over k of weights (2y + r, k) * rows[k][x + 16 u]; weight (row, k) stands at
// row * row_step + k * k_step.
template <class T>
__device__ inline void gather_rows(float (&out)[2][kColumns], const float* weights, int row_step,
                                   int k_step, const T* rows, std::int64_t D) {
  const int x = static_cast<int>(threadIdx.x) % 16;
  const int y = static_cast<int>(threadIdx.x) / 16;
  const int pitch = pitch_of<T>(D);
  for (int k = 0; k < kRows; ++k) {
    const float upper = weights[2 * y * row_step + k * k_step];
    const float lower = weights[(2 * y + 1) * row_step + k * k_step];
#pragma unroll
    for (int u = 0; u < kColumns; ++u)
      if (x + 16 * u < D) {
        const float value = widened(rows[k * pitch + x + 16 * u]);
        out[0][u] += upper * value;
        out[1][u] += lower * value;
      }
  }
}

template <class T>
__device__ inline void store_rows(T* to, std::int64_t stride, std::int64_t first,
                                  const float (&values)[2][kColumns], const float (&factors)[2],
                                  const Strides& s) {
  const int x = static_cast<int>(threadIdx.x) % 16;
  const int y = static_cast<int>(threadIdx.x) / 16;
#pragma unroll
  for (int r = 0; r < 2; ++r)
#pragma unroll
    for (int u = 0; u < kColumns; ++u)
      if (x + 16 * u < s.D && first + 2 * y + r < s.length)
        to[(first + 2 * y + r) * stride + x + 16 * u] = rounded<T>(values[r][u] * factors[r]);
}

// Over the 16 threads that share rows.
template <class Combine>
__device__ inline float over_row(float value, const Combine& combine) {
#pragma unroll
  for (int lanes = 8; lanes > 0; lanes /= 2)
    value = combine(value, __shfl_xor_sync(0xFFFFFFFFU, value, lanes));
  return value;
}

}  // namespace parallelarium::fused
