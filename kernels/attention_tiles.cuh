// SPDX-License-Identifier: Apache-2.0
// What forward and backward of fused attention on bf16 tensor cores share. A block of four warps
// keeps 64 rows (queries, or keys) in shared memory, 16 for each warp, and streams the others past
// them in tiles, the next tile on its way while one is worked on. Scores stay in registers: the
// layout in which mma leaves a product is the one in which the next mma takes its left operand (Dao
// 2023, section 3.3). Heads are padded with zeros to kD columns.
#pragma once

#include <cmath>

#include "kernels/attention.h"
#include "kernels/vector.cuh"

namespace parallelarium::tiles {

inline constexpr int kWarps = 4;
inline constexpr int kThreads = 32 * kWarps;
inline constexpr int kRows = 16 * kWarps;  // rows that a block keeps
inline constexpr float kLog2E = 1.44269504F;

// A row in shared memory: 16 bytes of padding put the eight rows of a tile on different banks.
template <int kD>
constexpr int kPitch = kD + 8;

struct Strides {
  std::int64_t length, heads, kv_heads, D;
  std::int64_t qkv;      // between tokens of qkv
  std::int64_t context;  // between tokens of the context
};

#ifdef PARALLELARIUM_TENSOR_CORES

// Asks for rows [first, first + rows) of D columns; zeros beyond the end and in the padding.
template <int kD, int rows>
__device__ inline void load_rows(Bf16* to, const Bf16* from, std::int64_t stride,
                                 std::int64_t first, std::int64_t length, std::int64_t D) {
  constexpr int kPieces = kD / 8;
  for (int at = static_cast<int>(threadIdx.x); at < rows * kPieces; at += kThreads) {
    const int row = at / kPieces;
    const int column = at % kPieces * 8;
    const bool there = first + row < length && column < D;
    copy_async(to + row * kPitch<kD> + column,
               there ? from + (first + row) * stride + column : from, there);
  }
}

// sum [16, n] += left [16, kD] right [n, kD]^T, both by rows in shared memory.
template <int kD, int n>
__device__ inline void multiply_by_rows(float (&sum)[n / 8][4], const Bf16* left,
                                        const Bf16* right) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int k = 0; k < kD; k += 16) {
    std::uint32_t a[4];
    load_tiles(a, left + lane % 16 * kPitch<kD> + k + lane / 16 * 8);
#pragma unroll
    for (int column = 0; column < n; column += 16) {
      std::uint32_t b[4];
      load_tiles(b,
                 right + (column + lane / 16 * 8 + lane % 8) * kPitch<kD> + k + lane / 8 % 2 * 8);
      multiply_tiles(sum[column / 8], a, b[0], b[1]);
      multiply_tiles(sum[column / 8 + 1], a, b[2], b[3]);
    }
  }
}

// sum [16, kD] += left [16, n] right [n, kD]: left in registers as multiply_by_rows leaves it,
// right in shared memory.
template <int kD, int n>
__device__ inline void multiply_by_columns(float (&sum)[kD / 8][4], const float (&left)[n / 8][4],
                                           const Bf16* right) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int k = 0; k < n; k += 16) {
    const std::uint32_t a[4] = {pack_bf16(left[k / 8][0], left[k / 8][1]),
                                pack_bf16(left[k / 8][2], left[k / 8][3]),
                                pack_bf16(left[k / 8 + 1][0], left[k / 8 + 1][1]),
                                pack_bf16(left[k / 8 + 1][2], left[k / 8 + 1][3])};
#pragma unroll
    for (int column = 0; column < kD; column += 16) {
      std::uint32_t b[4];
      load_tiles_transposed(
          b, right + (k + lane / 8 % 2 * 8 + lane % 8) * kPitch<kD> + column + lane / 16 * 8);
      multiply_tiles(sum[column / 8], a, b[0], b[1]);
      multiply_tiles(sum[column / 8 + 1], a, b[2], b[3]);
    }
  }
}

// Writes the warp's 16 rows times a factor for each half of them.
template <int kD>
__device__ inline void store_rows(Bf16* to, std::int64_t stride, std::int64_t first,
                                  std::int64_t length, std::int64_t D,
                                  const float (&values)[kD / 8][4], float upper, float lower) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t row = first + lane / 4;
#pragma unroll
  for (int tile = 0; tile < kD / 8; ++tile) {
    const int column = tile * 8 + lane % 4 * 2;
    if (column >= D) continue;
    if (row < length)
      *reinterpret_cast<std::uint32_t*>(to + row * stride + column) =
          pack_bf16(values[tile][0] * upper, values[tile][1] * upper);
    if (row + 8 < length)
      *reinterpret_cast<std::uint32_t*>(to + (row + 8) * stride + column) =
          pack_bf16(values[tile][2] * lower, values[tile][3] * lower);
  }
}

// Over the four lanes that share a row of a product.
template <class Combine>
__device__ inline float over_row(float value, const Combine& combine) {
  value = combine(value, __shfl_xor_sync(0xFFFFFFFFU, value, 1));
  return combine(value, __shfl_xor_sync(0xFFFFFFFFU, value, 2));
}

#endif

inline Strides strides_of(const AttentionShape& shape) {
  const auto [B, T, H, K, D] = shape;
  return {T, H, K, D, (H + 2 * K) * D, H * D};
}
inline float scale_of(const AttentionShape& shape) {
  return 1.0F / std::sqrt(static_cast<float>(shape.D));
}
inline dim3 grid_for(std::int64_t length, std::int64_t heads) {
  return dim3(static_cast<unsigned>(divide_up(static_cast<std::size_t>(length), kRows)),
              static_cast<unsigned>(heads));
}

}  // namespace parallelarium::tiles
