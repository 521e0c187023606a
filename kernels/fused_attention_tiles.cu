// SPDX-License-Identifier: Apache-2.0
// Fused attention on bf16 tensor cores. A block of four warps keeps 64 rows (queries, or keys) in
// shared memory, 16 for each warp, and streams the others past them in tiles, the next tile on its
// way while one is worked on. Scores stay in registers: the layout in which mma leaves a product is
// the one in which the next mma takes its left operand (Dao 2023, section 3.3). Heads are padded
// with zeros to kD columns. The backward computes the scores twice, once by keys and once by
// queries, so that no sum needs atomics.
#include <cmath>

#include "kernels/fused_attention_tiles.h"
#include "kernels/vector.cuh"

namespace parallelarium {
namespace {

constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kRows = 16 * kWarps;                      // rows that a block keeps
constexpr int kForwardTile = 64;                        // keys of a tile in the forward
constexpr int kBackwardTile = 32;                       // rows of a tile in the backward
[[maybe_unused]] constexpr float kLog2E = 1.44269504F;  // unused where there are no tensor cores

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

template <int kD>
__global__ void __launch_bounds__(kThreads)
    forward_kernel(Bf16* context, float* lse, const Bf16* qkv, Strides s, float scale) {
#ifdef PARALLELARIUM_TENSOR_CORES
  constexpr int kTile = kForwardTile * kPitch<kD>;
  Bf16* const q = reinterpret_cast<Bf16*>(dynamic_shared());
  Bf16* const keys = q + kRows * kPitch<kD>;  // two tiles of keys, then two of values
  Bf16* const values = keys + 2 * kTile;
  const std::int64_t b = blockIdx.y / s.heads;
  const std::int64_t h = blockIdx.y % s.heads;
  const std::int64_t first = std::int64_t{gridDim.x - 1 - blockIdx.x} * kRows;  // long rows first
  const Bf16* const sequence = qkv + b * s.length * s.qkv;
  const Bf16* const k_from = sequence + (s.heads + h / (s.heads / s.kv_heads)) * s.D;
  const Bf16* const v_from = k_from + s.kv_heads * s.D;
  const auto fetch = [&](std::int64_t tile) {
    load_rows<kD, kForwardTile>(keys + tile % 2 * kTile, k_from, s.qkv, tile * kForwardTile,
                                s.length, s.D);
    load_rows<kD, kForwardTile>(values + tile % 2 * kTile, v_from, s.qkv, tile * kForwardTile,
                                s.length, s.D);
  };
  load_rows<kD, kRows>(q, sequence + h * s.D, s.qkv, first, s.length, s.D);
  fetch(0);

  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t row = first + warp * 16 + lane / 4;  // and row + 8
  const float scale2 = scale * kLog2E;
  float out[kD / 8][4] = {};
  float largest[2] = {-INFINITY, -INFINITY};
  float sum[2] = {};  // this lane's part
  const std::int64_t tiles = (first + kRows + kForwardTile - 1) / kForwardTile;
  for (std::int64_t tile = 0; tile < tiles && tile * kForwardTile < s.length; ++tile) {
    wait_for_copies();
    __syncthreads();  // the tile is there, and nobody reads the other buffer any more
    if (tile + 1 < tiles) fetch(tile + 1);
    float p[kForwardTile / 8][4] = {};
    multiply_by_rows<kD, kForwardTile>(p, q + warp * 16 * kPitch<kD>, keys + tile % 2 * kTile);
    const std::int64_t key = tile * kForwardTile + lane % 4 * 2;
    if (tile * kForwardTile + kForwardTile > first + warp * 16) {
#pragma unroll
      for (int at = 0; at < kForwardTile / 8; ++at)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          if (key + at * 8 + i % 2 > row + i / 2 * 8) p[at][i] = -INFINITY;
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float seen = largest[half];
#pragma unroll
      for (const auto& four : p)
        seen = Largest{}(seen, Largest{}(four[2 * half], four[2 * half + 1]));
      seen = over_row(seen, Largest{});
      const float kept = exp2f((largest[half] - seen) * scale2);
      largest[half] = seen;
      sum[half] *= kept;
#pragma unroll
      for (auto& four : p)
#pragma unroll
        for (int i = 2 * half; i < 2 * half + 2; ++i) {
          four[i] = exp2f(four[i] * scale2 - seen * scale2);
          sum[half] += four[i];
        }
#pragma unroll
      for (auto& four : out) {
        four[2 * half] *= kept;
        four[2 * half + 1] *= kept;
      }
    }
    multiply_by_columns<kD, kForwardTile>(out, p, values + tile % 2 * kTile);
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    sum[half] = over_row(sum[half], Sum{});
    if (lane % 4 == 0 && row + 8 * half < s.length)
      lse[std::int64_t{blockIdx.y} * s.length + row + 8 * half] =
          largest[half] * scale + logf(sum[half]);
  }
  store_rows<kD>(context + b * s.length * s.context + h * s.D, s.context, first + warp * 16,
                 s.length, s.D, out, 1.0F / sum[0], 1.0F / sum[1]);
#endif
}

// Gradients of 64 keys and their values: gathers from every query at or after them, of every head
// that shares them.
template <int kD>
__global__ void __launch_bounds__(kThreads)
    key_grad_kernel(Bf16* dqkv, const float* delta, const Bf16* dcontext, const Bf16* qkv,
                    const float* lse, Strides s, float scale) {
#ifdef PARALLELARIUM_TENSOR_CORES
  constexpr int kTile = kBackwardTile * kPitch<kD>;
  Bf16* const keys = reinterpret_cast<Bf16*>(dynamic_shared());
  Bf16* const values = keys + kRows * kPitch<kD>;
  Bf16* const q = values + kRows * kPitch<kD>;  // two tiles of queries, then two of dcontext
  Bf16* const dout = q + 2 * kTile;
  float* const row_lse = reinterpret_cast<float*>(dout + 2 * kTile);  // [2, kBackwardTile]
  float* const row_delta = row_lse + 2 * kBackwardTile;
  const std::int64_t b = blockIdx.y / s.kv_heads;
  const std::int64_t shared_head = blockIdx.y % s.kv_heads;
  const std::int64_t sharers = s.heads / s.kv_heads;
  const std::int64_t first = std::int64_t{blockIdx.x} * kRows;
  const Bf16* const sequence = qkv + b * s.length * s.qkv;
  const std::int64_t k_at = (s.heads + shared_head) * s.D;
  const std::int64_t v_at = k_at + s.kv_heads * s.D;
  const std::int64_t tiles = (s.length - first + kBackwardTile - 1) / kBackwardTile;
  const auto begin_of = [&](std::int64_t step) { return first + step % tiles * kBackwardTile; };
  const auto fetch = [&](std::int64_t step) {
    const std::int64_t h = shared_head * sharers + step / tiles;
    load_rows<kD, kBackwardTile>(q + step % 2 * kTile, sequence + h * s.D, s.qkv, begin_of(step),
                                 s.length, s.D);
    load_rows<kD, kBackwardTile>(dout + step % 2 * kTile,
                                 dcontext + b * s.length * s.context + h * s.D, s.context,
                                 begin_of(step), s.length, s.D);
    if (threadIdx.x < kBackwardTile) {
      const std::int64_t query = begin_of(step) + threadIdx.x;
      const std::int64_t at = (b * s.heads + h) * s.length + query;
      // Past the end an infinite lse makes the probability zero.
      row_lse[step % 2 * kBackwardTile + threadIdx.x] =
          query < s.length ? lse[at] * kLog2E : INFINITY;
      row_delta[step % 2 * kBackwardTile + threadIdx.x] = query < s.length ? delta[at] : 0.0F;
    }
  };
  load_rows<kD, kRows>(keys, sequence + k_at, s.qkv, first, s.length, s.D);
  load_rows<kD, kRows>(values, sequence + v_at, s.qkv, first, s.length, s.D);
  fetch(0);

  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t key = first + warp * 16 + lane / 4;  // and key + 8
  const float scale2 = scale * kLog2E;
  float dk[kD / 8][4] = {};
  float dv[kD / 8][4] = {};
  for (std::int64_t step = 0; step < sharers * tiles; ++step) {
    wait_for_copies();
    __syncthreads();
    if (step + 1 < sharers * tiles) fetch(step + 1);
    const Bf16* const q_tile = q + step % 2 * kTile;
    const Bf16* const dout_tile = dout + step % 2 * kTile;
    // Transposed: rows are keys, columns queries.
    float p[kBackwardTile / 8][4] = {};
    float ds[kBackwardTile / 8][4] = {};
    multiply_by_rows<kD, kBackwardTile>(p, keys + warp * 16 * kPitch<kD>, q_tile);
    multiply_by_rows<kD, kBackwardTile>(ds, values + warp * 16 * kPitch<kD>, dout_tile);
#pragma unroll
    for (int at = 0; at < kBackwardTile / 8; ++at)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int column = at * 8 + lane % 4 * 2 + i % 2;
        const bool seen = key + i / 2 * 8 <= begin_of(step) + column;
        const int in_tile = static_cast<int>(step % 2) * kBackwardTile + column;
        p[at][i] = seen ? exp2f(p[at][i] * scale2 - row_lse[in_tile]) : 0.0F;
        ds[at][i] = p[at][i] * (ds[at][i] - row_delta[in_tile]);
      }
    multiply_by_columns<kD, kBackwardTile>(dv, p, dout_tile);
    multiply_by_columns<kD, kBackwardTile>(dk, ds, q_tile);
  }
  Bf16* const to = dqkv + b * s.length * s.qkv;
  store_rows<kD>(to + k_at, s.qkv, first + warp * 16, s.length, s.D, dk, scale, scale);
  store_rows<kD>(to + v_at, s.qkv, first + warp * 16, s.length, s.D, dv, 1.0F, 1.0F);
#endif
}

// Gradients of 64 queries: gathers from every key at or before them.
template <int kD>
__global__ void __launch_bounds__(kThreads)
    query_grad_kernel(Bf16* dqkv, const float* delta, const Bf16* dcontext, const Bf16* qkv,
                      const float* lse, Strides s, float scale) {
#ifdef PARALLELARIUM_TENSOR_CORES
  constexpr int kTile = kBackwardTile * kPitch<kD>;
  Bf16* const q = reinterpret_cast<Bf16*>(dynamic_shared());
  Bf16* const dout = q + kRows * kPitch<kD>;
  Bf16* const keys = dout + kRows * kPitch<kD>;
  Bf16* const values = keys + 2 * kTile;
  const std::int64_t b = blockIdx.y / s.heads;
  const std::int64_t h = blockIdx.y % s.heads;
  const std::int64_t first = std::int64_t{gridDim.x - 1 - blockIdx.x} * kRows;
  const Bf16* const sequence = qkv + b * s.length * s.qkv;
  const Bf16* const k_from = sequence + (s.heads + h / (s.heads / s.kv_heads)) * s.D;
  const Bf16* const v_from = k_from + s.kv_heads * s.D;
  const auto fetch = [&](std::int64_t tile) {
    load_rows<kD, kBackwardTile>(keys + tile % 2 * kTile, k_from, s.qkv, tile * kBackwardTile,
                                 s.length, s.D);
    load_rows<kD, kBackwardTile>(values + tile % 2 * kTile, v_from, s.qkv, tile * kBackwardTile,
                                 s.length, s.D);
  };
  load_rows<kD, kRows>(q, sequence + h * s.D, s.qkv, first, s.length, s.D);
  load_rows<kD, kRows>(dout, dcontext + b * s.length * s.context + h * s.D, s.context, first,
                       s.length, s.D);
  fetch(0);

  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t row = first + warp * 16 + lane / 4;  // and row + 8
  const float scale2 = scale * kLog2E;
  float row_lse[2];
  float row_delta[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const bool there = row + 8 * half < s.length;
    const std::int64_t at = std::int64_t{blockIdx.y} * s.length + row + 8 * half;
    row_lse[half] = there ? lse[at] * kLog2E : INFINITY;
    row_delta[half] = there ? delta[at] : 0.0F;
  }
  float dq[kD / 8][4] = {};
  const std::int64_t end = first + kRows < s.length ? first + kRows : s.length;
  const std::int64_t tiles = (end + kBackwardTile - 1) / kBackwardTile;
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    wait_for_copies();
    __syncthreads();
    if (tile + 1 < tiles) fetch(tile + 1);
    float p[kBackwardTile / 8][4] = {};
    float ds[kBackwardTile / 8][4] = {};
    multiply_by_rows<kD, kBackwardTile>(p, q + warp * 16 * kPitch<kD>, keys + tile % 2 * kTile);
    multiply_by_rows<kD, kBackwardTile>(ds, dout + warp * 16 * kPitch<kD>,
                                        values + tile % 2 * kTile);
#pragma unroll
    for (int at = 0; at < kBackwardTile / 8; ++at)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::int64_t key = tile * kBackwardTile + at * 8 + lane % 4 * 2 + i % 2;
        const bool seen = key <= row + i / 2 * 8;
        const float probability = seen ? exp2f(p[at][i] * scale2 - row_lse[i / 2]) : 0.0F;
        ds[at][i] = probability * (ds[at][i] - row_delta[i / 2]);
      }
    multiply_by_columns<kD, kBackwardTile>(dq, ds, keys + tile % 2 * kTile);
  }
  store_rows<kD>(dqkv + b * s.length * s.qkv + h * s.D, s.qkv, first + warp * 16, s.length, s.D, dq,
                 scale, scale);
#endif
}

Strides strides_of(const AttentionShape& shape) {
  const auto [B, T, H, K, D] = shape;
  return {T, H, K, D, (H + 2 * K) * D, H * D};
}
float scale_of(const AttentionShape& shape) {
  return 1.0F / std::sqrt(static_cast<float>(shape.D));
}
dim3 grid_for(std::int64_t length, std::int64_t heads) {
  return dim3(static_cast<unsigned>(divide_up(static_cast<std::size_t>(length), kRows)),
              static_cast<unsigned>(heads));
}

template <int kD>
cudaError_t forward(Bf16* context, float* lse, const Bf16* qkv, const AttentionShape& shape,
                    cudaStream_t stream) {
  constexpr std::size_t kBytes = (kRows + 4 * kForwardTile) * kPitch<kD> * sizeof(Bf16);
  const cudaError_t status = allow_shared(forward_kernel<kD>, kBytes);
  if (status != cudaSuccess) return status;
  return launch(forward_kernel<kD>, grid_for(shape.T, shape.B * shape.H), dim3(kThreads), kBytes,
                stream, context, lse, qkv, strides_of(shape), scale_of(shape));
}

template <int kD>
cudaError_t backward(Bf16* dqkv, const float* delta, const Bf16* dcontext, const Bf16* qkv,
                     const float* lse, const AttentionShape& shape, cudaStream_t stream) {
  constexpr std::size_t kBytes = (2 * kRows + 4 * kBackwardTile) * kPitch<kD> * sizeof(Bf16) +
                                 4 * kBackwardTile * sizeof(float);
  cudaError_t status = allow_shared(key_grad_kernel<kD>, kBytes);
  if (status == cudaSuccess) status = allow_shared(query_grad_kernel<kD>, kBytes);
  if (status == cudaSuccess)
    status =
        launch(key_grad_kernel<kD>, grid_for(shape.T, shape.B * shape.K), dim3(kThreads), kBytes,
               stream, dqkv, delta, dcontext, qkv, lse, strides_of(shape), scale_of(shape));
  if (status != cudaSuccess) return status;
  return launch(query_grad_kernel<kD>, grid_for(shape.T, shape.B * shape.H), dim3(kThreads), kBytes,
                stream, dqkv, delta, dcontext, qkv, lse, strides_of(shape), scale_of(shape));
}

}  // namespace

cudaError_t fused_attention_forward_tiles(Bf16* context, float* lse, const Bf16* qkv,
                                          const AttentionShape& shape, cudaStream_t stream) {
  return shape.D <= 64 ? forward<64>(context, lse, qkv, shape, stream)
                       : forward<128>(context, lse, qkv, shape, stream);
}
cudaError_t fused_attention_backward_tiles(Bf16* dqkv, const float* delta, const Bf16* dcontext,
                                           const Bf16* qkv, const float* lse,
                                           const AttentionShape& shape, cudaStream_t stream) {
  return shape.D <= 64 ? backward<64>(dqkv, delta, dcontext, qkv, lse, shape, stream)
                       : backward<128>(dqkv, delta, dcontext, qkv, lse, shape, stream);
}

}  // namespace parallelarium
