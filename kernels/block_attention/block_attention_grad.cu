// SPDX-License-Identifier: Apache-2.0
// The backward of attention to keys that come block by block, in fp32 arithmetic: see
// block_attention.cu. It computes the scores twice, once by queries and once by keys, so that no
// sum needs atomics.
#include "kernels/block_attention/block_rows.cuh"
#include "kernels/gpu.h"

namespace parallelarium {
namespace {

using namespace rows;
using tiles::Block;
using tiles::Rows;
using tiles::Work;

// The arrays of the backward, and where one tile of queries and one of keys stand in them.
template <class T>
struct Arrays {
  const T *dcontext, *qkv, *keys_values, *context;
  const float* lse;
};
template <class T>
struct Pairs {
  Matrix<T> queries, dcontext, context, keys, values;
  const float* lse;  // of the first query
  __device__ Pairs(const Arrays<T>& all, const Block& block, int b, int h, const Rows& query_rows,
                   const Rows& key_rows) {
    const auto& s = block.s;
    const std::int64_t begin = std::int64_t{b} * s.length;
    const std::int64_t query = begin + query_rows.token, out_at = query * s.context + h * s.D;
    const T* const key = all.keys_values + (begin + key_rows.token) * block.keys_values +
                         h / (s.heads / s.kv_heads) * s.D;
    queries = {all.qkv + query * s.qkv + h * s.D, s.qkv, query_rows.left};
    dcontext = {all.dcontext + out_at, s.context, query_rows.left};
    context = {all.context + out_at, s.context, query_rows.left};
    keys = {key, block.keys_values, key_rows.left};
    values = {key + s.kv_heads * s.D, block.keys_values, key_rows.left};
    lse = all.lse + (std::int64_t{b} * s.heads + h) * s.length + query_rows.token;
  }
};

// dcontext . context of the thread's two queries.
template <class T>
__device__ inline void find_deltas(float (&deltas)[2], const Pairs<T>& of, int D) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = 2 * y() + r;
    float sum = 0;
    for (int d = x(); row < of.context.left && d < D; d += 16)
      sum += widened(of.dcontext.from[row * of.dcontext.stride + d]) *
             widened(of.context.from[row * of.context.stride + d]);
    deltas[r] = over_row(sum, Sum{});
  }
}

// Scores of queries 2y, 2y + 1 with keys x, x + 16 become probabilities after dropout, and
// dS = P (factor dP - delta) scale, in shared memory.
template <class T>
__device__ inline void find_slopes(Shared& shared, const Pairs<T>& of, const float (&deltas)[2],
                                   const Block& block, int b, int h, const Rows& queries,
                                   const Rows& keys) {
  float scores[2][2] = {};
  float dp[2][2] = {};
  multiply_rows(scores, shared, of.queries, of.keys, block.s.D);
  multiply_rows(dp, shared, of.dcontext, of.values, block.s.D);
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = 2 * y() + r;
    const bool there = row < queries.left;
    const float lse = there ? of.lse[row] : 0.0F;
    const std::int64_t number = block.dropout.row(b, h, queries.position + row) + keys.position;
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const int key = x() + 16 * c;
      const bool seen = there && !hidden(queries, row, keys, key);
      const float probability = seen ? __expf(scores[r][c] * block.scale - lse) : 0.0F;
      const float factor = factor_of(block.dropout, number + key);
      const int at = row * kScorePitch + key;
      shared.p[at] = probability * factor;
      shared.ds[at] = probability * (factor * dp[r][c] - deltas[r]) * block.scale;
    }
  }
}

template <class T, int kChunks>
__global__ void __launch_bounds__(kThreads, kChunks == 1 ? 2 : 1)
    block_query_grad_kernel(T* dqkv, Arrays<T> arrays, Block block) {
  __shared__ Shared shared;
  const auto& s = block.s;
  const auto all = block.queries.all<kRows>();
  const Work work(s.heads, all.count());
  const Rows own = block.queries.rows<kRows>(all, all.count() - 1 - work.tile);
  const auto seen = block.keys.before<kRows>(own.position + min(kRows, own.left));
  if (seen.count() == 0) return;
  float dq[2][kColumns<kChunks>] = {};
  float deltas[2] = {};
  for (int tile = 0; tile < seen.count(); ++tile) {
    const Rows keys = block.keys.rows<kRows>(seen, tile);
    const Pairs<T> pairs(arrays, block, work.b, work.h, own, keys);
    if (tile == 0) find_deltas(deltas, pairs, s.D);
    find_slopes(shared, pairs, deltas, block, work.b, work.h, own, keys);
    gather_rows<kChunks>(dq, shared, shared.ds, kScorePitch, 1, pairs.keys, s.D);
  }
  T* const to = dqkv + (std::int64_t{work.b} * s.length + own.token) * s.qkv + work.h * s.D;
  if (!block.first) return add_rows<kChunks>(to, s.qkv, own.left, s.D, dq);
  for_own_elements<kChunks>(s.qkv, own.left, s.D,
                            [&](int r, int u, std::int64_t at) { to[at] = rounded<T>(dq[r][u]); });
}

template <class T, int kChunks>
__global__ void __launch_bounds__(kThreads, kChunks == 1 ? 2 : 1)
    block_key_grad_kernel(T* dkeys_values, Arrays<T> arrays, Block block) {
  __shared__ Shared shared;
  const auto& s = block.s;
  const auto all = block.keys.all<kRows>();
  const Work work(s.kv_heads, all.count());
  const Rows own = block.keys.rows<kRows>(all, work.tile);
  const auto seers = block.queries.from<kRows>(own.position);  // of the first key
  const int sharers = s.heads / s.kv_heads;
  float dk[2][kColumns<kChunks>] = {};
  float dv[2][kColumns<kChunks>] = {};
  for (int h = work.h * sharers; h < (work.h + 1) * sharers; ++h)
    for (int tile = 0; tile < seers.count(); ++tile) {
      const Rows queries = block.queries.rows<kRows>(seers, tile);
      const Pairs<T> pairs(arrays, block, work.b, h, queries, own);
      float deltas[2];
      find_deltas(deltas, pairs, s.D);
      find_slopes(shared, pairs, deltas, block, work.b, h, queries, own);
      gather_rows<kChunks>(dv, shared, shared.p, 1, kScorePitch, pairs.dcontext, s.D);
      gather_rows<kChunks>(dk, shared, shared.ds, 1, kScorePitch, pairs.queries, s.D);
    }
  if (seers.count() == 0) return;
  T* const to = dkeys_values + (std::int64_t{work.b} * s.length + own.token) * block.keys_values +
                work.h * s.D;
  add_rows<kChunks>(to, block.keys_values, own.left, s.D, dk);
  add_rows<kChunks>(to + s.kv_heads * s.D, block.keys_values, own.left, s.D, dv);
}

}  // namespace

template <class T>
cudaError_t block_attention_backward(T* dqkv, T* dkeys_values, const T* dcontext, const T* qkv,
                                     const T* keys_values, const T* context, const float* lse,
                                     const AttentionBlock& block, cudaStream_t stream) {
  if (!can(block.shape)) return cudaErrorInvalidValue;
  if (block.shape.B * block.shape.T == 0) return cudaSuccess;
  if constexpr (std::is_same_v<T, Bf16>)
    if (for_tensor_cores(block, dqkv, dkeys_values, dcontext, qkv, keys_values, context))
      return block_attention_backward_tiles(dqkv, dkeys_values, dcontext, qkv, keys_values, context,
                                            lse, block, stream);
  const Block packed = tiles::block_of(block);
  const AttentionShape& shape = block.shape;
  const Arrays<T> arrays{dcontext, qkv, keys_values, context, lse};
  const cudaError_t status =
      launch(block.shape.D <= kChunk ? block_query_grad_kernel<T, 1>
                                     : block_query_grad_kernel<T, kMostChunks>,
             tiles::grid_of<kRows>(packed.queries, shape.B * shape.H), dim3(kThreads), 0, stream,
             dqkv, arrays, packed);
  if (status != cudaSuccess) return status;
  return launch(
      block.shape.D <= kChunk ? block_key_grad_kernel<T, 1> : block_key_grad_kernel<T, kMostChunks>,
      tiles::grid_of<kRows>(packed.keys, shape.B * shape.K), dim3(kThreads), 0, stream,
      dkeys_values, arrays, packed);
}

#define PARALLELARIUM_FOR(T)                                                                    \
  template cudaError_t block_attention_backward(T*, T*, const T*, const T*, const T*, const T*, \
                                                const float*, const AttentionBlock&,            \
                                                cudaStream_t);
PARALLELARIUM_FOR(float)
PARALLELARIUM_FOR(Bf16)
#undef PARALLELARIUM_FOR

}  // namespace parallelarium
