// SPDX-License-Identifier: Apache-2.0
// The backward of fused attention on bf16 tensor cores (attention_tiles.cuh). It computes the
// scores twice, once by keys and once by queries, so that no sum needs atomics.
#include "kernels/attention/attention_tiles.cuh"
#include "kernels/attention/fused_attention_tiles.h"

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
  const int b = static_cast<int>(blockIdx.y) / s.kv_heads;
  const int shared_head = static_cast<int>(blockIdx.y) % s.kv_heads;
  const int sharers = s.heads / s.kv_heads;
  const int first = static_cast<int>(blockIdx.x) * kRows;
  const Bf16* const rows = qkv + (std::int64_t{b} * s.length + first) * s.qkv;
  const int k_at = (s.heads + shared_head) * s.D;
  const int v_at = k_at + s.kv_heads * s.D;
  const TileReader<kD> kept(rows + k_at, s.qkv, s.length - first, s.D);
  kept.template read<kRows>(keys);
  kept.template read<kRows>(values, s.kv_heads * s.D);

  // What is fetched next: a tile of queries, which goes on with those of the next head.
  int head = shared_head * sharers;
  int query = first;
  const auto q_reader_of = [&](int h) {
    return TileReader<kD>(rows + h * s.D, s.qkv, s.length - first, s.D);
  };
  const auto dout_reader_of = [&](int h) {
    return TileReader<kD>(dcontext + (std::int64_t{b} * s.length + first) * s.context + h * s.D,
                          s.context, s.length - first, s.D);
  };
  TileReader<kD> q_reader = q_reader_of(head);
  TileReader<kD> dout_reader = dout_reader_of(head);
  const auto fetch = [&](int buffer) {
    if (query >= s.length) {
      query = first;
      ++head;
      q_reader = q_reader_of(head);
      dout_reader = dout_reader_of(head);
    }
    q_reader.template read<kBackwardTile>(q + buffer * kTile);
    q_reader.template go_on<kBackwardTile>();
    dout_reader.template read<kBackwardTile>(dout + buffer * kTile);
    dout_reader.template go_on<kBackwardTile>();
    if (threadIdx.x < kBackwardTile) {
      const int of = query + static_cast<int>(threadIdx.x);
      const std::int64_t at = (std::int64_t{b} * s.heads + head) * s.length + of;
      // Past the end queries and dcontext are zeros, and add nothing by whatever probability.
      copy_async(row_lse + buffer * kBackwardTile + threadIdx.x, lse + at, of < s.length);
      copy_async(row_delta + buffer * kBackwardTile + threadIdx.x, delta + at, of < s.length);
    }
    query += kBackwardTile;
  };
  fetch(0);

  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  // How far the lane's first key is behind its first query in a tile that begins at `first`.
  const int apart = warp * 16 + lane / 4 - lane % 4 * 2;
  const float scale2 = scale * kLog2E;
  float dk[kD / 8][4] = {};
  float dv[kD / 8][4] = {};
  const int tiles = (s.length - first + kBackwardTile - 1) / kBackwardTile;
  int begin = 0;  // of the tile of queries, from `first`
  for (int step = 0; step < sharers * tiles; ++step) {
    wait_for_copies();
    __syncthreads();
    const int buffer = step % 2;
    if (step + 1 < sharers * tiles) fetch(1 - buffer);
    const Bf16* const q_tile = q + buffer * kTile;
    const Bf16* const dout_tile = dout + buffer * kTile;
    // Transposed: rows are keys, columns queries.
    float p[kBackwardTile / 8][4] = {};
    float ds[kBackwardTile / 8][4] = {};
    multiply_by_rows<kD, kBackwardTile>(p, keys + warp * 16 * kPitch<kD>, q_tile);
    multiply_by_rows<kD, kBackwardTile>(ds, values + warp * 16 * kPitch<kD>, dout_tile);
    if (begin < apart + 8)
      hide<kBackwardTile>(p, [&](int row, int column) { return begin + column < apart + row; });
    begin = first + begin + kBackwardTile < s.length ? begin + kBackwardTile : 0;
#pragma unroll
    for (int at = 0; at < kBackwardTile / 8; ++at)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int in_tile = buffer * kBackwardTile + at * 8 + lane % 4 * 2 + i % 2;
        p[at][i] = fast_exp2(p[at][i] * scale2 - row_lse[in_tile] * kLog2E);
        ds[at][i] = p[at][i] * (ds[at][i] - row_delta[in_tile]);
      }
    multiply_by_columns<kD, kBackwardTile>(dv, p, dout_tile);
    multiply_by_columns<kD, kBackwardTile>(dk, ds, q_tile);
  }
  Bf16* const to = dqkv + (rows - qkv);
  store_rows<kD>(to + k_at, s.qkv, warp * 16, s.length - first, s.D, dk, scale, scale);
  store_rows<kD>(to + v_at, s.qkv, warp * 16, s.length - first, s.D, dv, 1.0F, 1.0F);
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
  const int b = static_cast<int>(blockIdx.y) / s.heads;
  const int h = static_cast<int>(blockIdx.y) % s.heads;
  const int first = static_cast<int>(gridDim.x - 1 - blockIdx.x) * kRows;
  const Bf16* const sequence = qkv + std::int64_t{b} * s.length * s.qkv;
  const int k_at = (s.heads + h / (s.heads / s.kv_heads)) * s.D;
  TileReader<kD> reader(sequence + k_at, s.qkv, s.length, s.D);
  const auto fetch = [&](int key) {
    const int at = key / kBackwardTile % 2 * kTile;
    reader.template read<kBackwardTile>(keys + at);
    reader.template read<kBackwardTile>(values + at, s.kv_heads * s.D);
    reader.template go_on<kBackwardTile>();
  };
  TileReader<kD>(sequence + first * s.qkv + h * s.D, s.qkv, s.length - first, s.D)
      .template read<kRows>(q);
  TileReader<kD>(dcontext + (std::int64_t{b} * s.length + first) * s.context + h * s.D, s.context,
                 s.length - first, s.D)
      .template read<kRows>(dout);
  fetch(0);

  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row = first + warp * 16 + lane / 4;  // and row + 8
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
  const int end = first + kRows < s.length ? first + kRows : s.length;
  for (int key = 0; key < end; key += kBackwardTile) {
    wait_for_copies();
    __syncthreads();
    if (key + kBackwardTile < end) fetch(key + kBackwardTile);
    const int at = key / kBackwardTile % 2 * kTile;
    float p[kBackwardTile / 8][4] = {};
    float ds[kBackwardTile / 8][4] = {};
    multiply_by_rows<kD, kBackwardTile>(p, q + warp * 16 * kPitch<kD>, keys + at);
    multiply_by_rows<kD, kBackwardTile>(ds, dout + warp * 16 * kPitch<kD>, values + at);
    hide_later_keys<kBackwardTile>(p, row, key);
#pragma unroll
    for (int of = 0; of < kBackwardTile / 8; ++of)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        ds[of][i] = fast_exp2(p[of][i] * scale2 - row_lse[i / 2]) * (ds[of][i] - row_delta[i / 2]);
    multiply_by_columns<kD, kBackwardTile>(dq, ds, keys + at);
  }
  store_rows<kD>(dqkv + std::int64_t{b} * s.length * s.qkv + h * s.D, s.qkv, first + warp * 16,
                 s.length, s.D, dq, scale, scale);
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
