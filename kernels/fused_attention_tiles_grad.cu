// SPDX-License-Identifier: Apache-2.0
// The backward of fused attention on bf16 tensor cores (attention_tiles.cuh). It computes the
// scores twice, once by keys and once by queries, so that no sum needs atomics.
#include "kernels/attention_tiles.cuh"
#include "kernels/fused_attention_tiles.h"

namespace parallelarium {
namespace {

using namespace tiles;

constexpr int kBackwardTile = 32;  // rows of a tile

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

cudaError_t fused_attention_backward_tiles(Bf16* dqkv, const float* delta, const Bf16* dcontext,
                                           const Bf16* qkv, const float* lse,
                                           const AttentionShape& shape, cudaStream_t stream) {
  return shape.D <= 64 ? backward<64>(dqkv, delta, dcontext, qkv, lse, shape, stream)
                       : backward<128>(dqkv, delta, dcontext, qkv, lse, shape, stream);
}

}  // namespace parallelarium
