// SPDX-License-Identifier: Apache-2.0
// What forward and backward of fused attention on bf16 tensor cores share. A block of four warps
// keeps 64 rows (queries, or keys) in shared memory, 16 for each warp, and streams the others past
// them in tiles, the next tile on its way while one is worked on. Scores stay in registers: the
// layout in which mma leaves a product is the one in which the next mma takes its left operand (Dao
// 2023, section 3.3). Heads are padded with zeros to kD columns.
#pragma once

#include <cmath>

#include "kernels/attention/attention.h"
#include "kernels/base/vector.cuh"

namespace parallelarium::tiles {

inline constexpr int kWarps = 4;
inline constexpr int kThreads = 32 * kWarps;
inline constexpr int kRows = 16 * kWarps;  // rows that a block keeps
inline constexpr float kLog2E = 1.44269504F;

// A row in shared memory: 16 bytes of padding put the eight rows of a tile on different banks.
template <int kD>
constexpr int kPitch = kD + 8;

struct Strides {
  int length, heads, kv_heads, D;
  std::int64_t qkv;      // between tokens of qkv
  std::int64_t context;  // between tokens of the context
};

#ifdef PARALLELARIUM_TENSOR_CORES

// Asks for tiles of rows, one after the other; zeros beyond the last row and in the padding. A
// thread copies the same 16 bytes of every kTurn-th row.
template <int kD>
struct TileReader {
  static constexpr int kPieces = kD / 8;  // of a row
  static constexpr int kTurn = kThreads / kPieces;
  const Bf16* from;   // the thread's piece of its next row
  std::int64_t step;  // between its rows
  int left;           // rows from that one to the end; none where the piece is padding
  int to;             // in a tile

  __device__ TileReader(const Bf16* rows, std::int64_t stride, int count, int D) {
    const int row = static_cast<int>(threadIdx.x) / kPieces;
    const int column = static_cast<int>(threadIdx.x) % kPieces * 8;
    from = rows + row * stride + column;
    step = kTurn * stride;
    left = column < D ? count - row : 0;
    to = row * kPitch<kD> + column;
  }
  // Or rows that lie `beside` elements behind those; both begin at multiples of 16 bytes.
  template <int rows>
  __device__ void read(Bf16* tile, std::int64_t beside = 0) const {
    const Bf16* piece = from + beside;
#pragma unroll
    for (int at = 0; at < rows; at += kTurn, piece += step)
      copy_async(tile + to + at * kPitch<kD>, piece, at < left);
  }
  template <int rows>
  __device__ void go_on() {
    from += rows / kTurn * step;
    left -= rows;
  }
};

// Columns [k, k + 16) of 16 rows in shared memory, as mma takes its left operand.
template <int kD>
__device__ inline void load_left(std::uint32_t (&tiles)[4], const Bf16* rows, int k) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  load_tiles(tiles, rows + lane % 16 * kPitch<kD> + k + lane / 16 * 8);
}

// sum [16, n] += left [16, 16] right [n, kD]^T, of whose columns [k, k + 16) alone.
template <int kD, int n>
__device__ inline void multiply_part(float (&sum)[n / 8][4], const std::uint32_t (&left)[4],
                                     const Bf16* right, int k) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int column = 0; column < n; column += 16) {
    std::uint32_t b[4];
    load_tiles(b, right + (column + lane / 16 * 8 + lane % 8) * kPitch<kD> + k + lane / 8 % 2 * 8);
    multiply_tiles(sum[column / 8], left, b[0], b[1]);
    multiply_tiles(sum[column / 8 + 1], left, b[2], b[3]);
  }
}

// sum [16, n] += left [16, kD] right [n, kD]^T, both by rows in shared memory.
template <int kD, int n>
__device__ inline void multiply_by_rows(float (&sum)[n / 8][4], const Bf16* left,
                                        const Bf16* right) {
#pragma unroll
  for (int k = 0; k < kD; k += 16) {
    std::uint32_t a[4];
    load_left<kD>(a, left, k);
    multiply_part<kD, n>(sum, a, right, k);
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

// Hides the scores of which hidden(row, column) says so, both counted from the lane's first.
template <int n, class Hidden>
__device__ inline void hide(float (&scores)[n / 8][4], const Hidden& hidden) {
#pragma unroll
  for (int at = 0; at < n / 8; ++at)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (hidden(i / 2 * 8, at * 8 + i % 2)) scores[at][i] = -INFINITY;
}
// Hides keys, the columns, behind their queries. row: the lane's first; key: the tile's first.
template <int n>
__device__ inline void hide_later_keys(float (&scores)[n / 8][4], int row, int key) {
  if (key + n <= row) return;
  const int first = static_cast<int>(threadIdx.x) % 4 * 2;
  hide<n>(scores, [&](int down, int right) { return first + right > row - key + down; });
}

// Writes the warp's 16 rows times a factor for each half of them.
template <int kD>
__device__ inline void store_rows(Bf16* to, std::int64_t stride, int first, int length, int D,
                                  const float (&values)[kD / 8][4], float upper, float lower) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row = first + lane / 4;
  Bf16* const to_upper = to + row * stride + lane % 4 * 2;
  Bf16* const to_lower = to_upper + 8 * stride;
#pragma unroll
  for (int tile = 0; tile < kD / 8; ++tile) {
    if (tile * 8 >= D) continue;
    if (row < length)
      *reinterpret_cast<std::uint32_t*>(to_upper + tile * 8) =
          pack_bf16(values[tile][0] * upper, values[tile][1] * upper);
    if (row + 8 < length)
      *reinterpret_cast<std::uint32_t*>(to_lower + tile * 8) =
          pack_bf16(values[tile][2] * lower, values[tile][3] * lower);
  }
}

// Over the four lanes that share a row of a product.
template <class Combine>
__device__ inline float over_row(float value, const Combine& combine) {
  value = combine(value, __shfl_xor_sync(0xFFFFFFFFU, value, 1));
  return combine(value, __shfl_xor_sync(0xFFFFFFFFU, value, 2));
}

// One step of the online softmax, for the warp's rows: scores p become exponentials relative to the
// largest so far, to which sum (the lane's part of it) and out are brought.
template <int kD, int n>
__device__ inline void join_scores(float (&out)[kD / 8][4], float (&p)[n / 8][4],
                                   float (&largest)[2], float (&sum)[2], float scale2) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float seen = largest[half];
#pragma unroll
    for (const auto& four : p) seen = fmaxf(seen, fmaxf(four[2 * half], four[2 * half + 1]));
    seen = over_row(seen, Largest{});
    const float kept = fast_exp2((largest[half] - seen) * scale2);
    largest[half] = seen;
    sum[half] *= kept;
#pragma unroll
    for (auto& four : p)
#pragma unroll
      for (int i = 2 * half; i < 2 * half + 2; ++i) {
        four[i] = fast_exp2(four[i] * scale2 - seen * scale2);
        sum[half] += four[i];
      }
#pragma unroll
    for (auto& four : out) {
      four[2 * half] *= kept;
      four[2 * half + 1] *= kept;
    }
  }
}

#endif

inline Strides strides_of(const AttentionShape& shape) {
  const auto [B, T, H, K, D] = shape;
  const auto narrow = [](std::int64_t number) { return static_cast<int>(number); };
  return {narrow(T), narrow(H), narrow(K), narrow(D), (H + 2 * K) * D, H * D};
}
inline float scale_of(const AttentionShape& shape) {
  return 1.0F / std::sqrt(static_cast<float>(shape.D));
}
inline dim3 grid_for(std::int64_t length, std::int64_t heads) {
  return dim3(static_cast<unsigned>(divide_up(static_cast<std::size_t>(length), kRows)),
              static_cast<unsigned>(heads));
}

}  // namespace parallelarium::tiles
