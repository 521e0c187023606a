// SPDX-License-Identifier: Apache-2.0
// What forward and backward of block attention in fp32 arithmetic share. A block works on 32 rows
// and lets tiles of 32 others pass. Of heads it holds 64 columns at a time in shared memory, so
// that any head fits any GPU. Thread (x, y) of 16 x 16 works on rows 2y and 2y + 1, and on columns
// x, x + 16, ...
#pragma once

#include <cmath>

#include "kernels/attention/fused_attention_tiles.h"
#include "kernels/base/vector.cuh"
#include "kernels/block_attention/block_attention_tiles.h"
#include "kernels/block_attention/block_runs.cuh"

namespace parallelarium::rows {

inline constexpr int kThreads = 256;
inline constexpr int kRows = 32;
inline constexpr int kMostHead = 256;
inline constexpr int kChunk = 64;          // columns of a head that are in shared memory at once
inline constexpr int kPitch = kChunk + 1;  // odd, so that a column of rows falls on different banks
inline constexpr int kScorePitch = kRows + 1;
inline constexpr int kMostChunks = kMostHead / kChunk;
// Columns of a head of kChunks chunks, for each thread.
template <int kChunks>
constexpr int kColumns = kChunks* kChunk / 16;

__device__ inline int x() { return static_cast<int>(threadIdx.x) % 16; }
__device__ inline int y() { return static_cast<int>(threadIdx.x) / 16; }

// Over the 16 threads that share rows.
template <class Combine>
__device__ inline float over_row(float value, const Combine& combine) {
#pragma unroll
  for (int lanes = 8; lanes > 0; lanes /= 2)
    value = combine(value, __shfl_xor_sync(0xFFFFFFFFU, value, lanes));
  return value;
}

// Rows in device memory: as many as `left`, `stride` apart.
template <class T>
struct Matrix {
  const T* from;
  std::int64_t stride;
  int left;
};

// Columns [first, first + kChunk) of the first kRows rows; zeros beyond them.
template <class T>
__device__ inline void stage(float* to, const Matrix<T>& rows, int first, int D) {
  const int column = static_cast<int>(threadIdx.x) % kChunk;
  constexpr int kTurn = kThreads / kChunk;
#pragma unroll
  for (int row = 0; row < kRows; row += kTurn) {
    const int own = row + static_cast<int>(threadIdx.x) / kChunk;
    const bool there = own < rows.left && first + column < D;
    to[own * kPitch + column] =
        there ? widened(rows.from[own * rows.stride + first + column]) : 0.0F;
  }
}

// What a block keeps in shared memory.
struct Shared {
  float left[kRows * kPitch], right[kRows * kPitch];
  float p[kRows * kScorePitch], ds[kRows * kScorePitch];
};

// out[r][c] += row (2y + r) of left times row (x + 16 c) of right.
template <class T>
__device__ inline void multiply_rows(float (&out)[2][2], Shared& shared, const Matrix<T>& left,
                                     const Matrix<T>& right, int D) {
  for (int first = 0; first < D; first += kChunk) {
    __syncthreads();  // nobody reads the last chunk any more
    stage(shared.left, left, first, D);
    stage(shared.right, right, first, D);
    __syncthreads();
    const int count = D - first < kChunk ? D - first : kChunk;
#pragma unroll 4
    for (int d = 0; d < count; ++d)
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int c = 0; c < 2; ++c)
          out[r][c] +=
              shared.left[(2 * y() + r) * kPitch + d] * shared.right[(x() + 16 * c) * kPitch + d];
  }
}

// out[r][u] += sum over k of weights (2y + r, k) * rows[k][x + 16 u]; weight (row, k) stands at
// row * row_step + k * k_step.
template <int kChunks, class T>
__device__ inline void gather_rows(float (&out)[2][kColumns<kChunks>], Shared& shared,
                                   const float* weights, int row_step, int k_step,
                                   const Matrix<T>& rows, int D) {
#pragma unroll
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    if (chunk * kChunk >= D) continue;
    __syncthreads();  // the weights are there, and nobody reads the last chunk any more
    stage(shared.right, rows, chunk * kChunk, D);
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < kRows; ++k) {
      const float upper = weights[2 * y() * row_step + k * k_step];
      const float lower = weights[(2 * y() + 1) * row_step + k * k_step];
#pragma unroll
      for (int u = 0; u < kChunk / 16; ++u) {
        const float value = shared.right[k * kPitch + x() + 16 * u];
        out[0][chunk * (kChunk / 16) + u] += upper * value;
        out[1][chunk * (kChunk / 16) + u] += lower * value;
      }
    }
  }
}

// Calls visit(r, u, element) for the thread's elements of the rows that there are.
template <int kChunks, class Visit>
__device__ inline void for_own_elements(std::int64_t stride, int left, int D, const Visit& visit) {
#pragma unroll
  for (int r = 0; r < 2; ++r)
#pragma unroll
    for (int u = 0; u < kColumns<kChunks>; ++u)
      if (2 * y() + r < left && x() + 16 * u < D)
        visit(r, u, (2 * y() + r) * stride + x() + 16 * u);
}
template <int kChunks, class T>
__device__ inline void add_rows(T* to, std::int64_t stride, int left, int D,
                                const float (&values)[2][kColumns<kChunks>]) {
  for_own_elements<kChunks>(stride, left, D, [&](int r, int u, std::int64_t at) {
    to[at] = rounded<T>(widened(to[at]) + values[r][u]);
  });
}

// Whether a query, by its row in a tile, does not see a key, by its row in another.
__device__ inline bool hidden(const tiles::Rows& queries, int query, const tiles::Rows& keys,
                              int key) {
  return keys.position + key > queries.position + query || key >= keys.left;
}
// What dropout makes of a probability.
__device__ inline float factor_of(const AttentionDropout& dropout, std::int64_t number) {
  return dropout.dropout.drops() ? dropout.dropout.factor(number) : 1.0F;
}

inline bool can(const AttentionShape& shape) { return shape.D <= kMostHead && shape.K > 0; }

// Whether tensor cores can do it: see gpu.h.
template <class... Operands>
bool for_tensor_cores(const AttentionBlock& block, const Operands*... operands) {
  return block.shape.D % 8 == 0 && block.shape.D <= 128 && block.stride % 8 == 0 &&
         (... && is_wide(operands)) && has_fused_attention_tiles();
}

}  // namespace parallelarium::rows
