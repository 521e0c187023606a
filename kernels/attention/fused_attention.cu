// SPDX-License-Identifier: Apache-2.0
// Fused attention in fp32 arithmetic, for every GPU, storage and head size; and the choice between
// it and tensor cores (fused_attention_tiles.cu).
#include <cmath>
#include <limits>

#include "kernels/attention/fused_attention.h"
#include "kernels/attention/fused_attention_tiles.h"
#include "kernels/attention/fused_rows.cuh"
#include "kernels/gpu.h"

namespace parallelarium {
namespace {

using namespace fused;

template <class T>
__global__ void __launch_bounds__(kThreads)
    forward_kernel(T* context, float* lse, const T* qkv, Strides s, float scale) {
  const int pitch = pitch_of<T>(s.D);
  T* const q = reinterpret_cast<T*>(dynamic_shared());
  T* const tile = q + kRows * pitch;  // keys, then values
  float* const p = reinterpret_cast<float*>(tile + kRows * pitch);
  const std::int64_t b = blockIdx.y / s.heads;
  const std::int64_t h = blockIdx.y % s.heads;
  const std::int64_t first = std::int64_t{gridDim.x - 1 - blockIdx.x} * kRows;
  const T* const sequence = qkv + b * s.length * s.qkv;
  const T* const k_from = sequence + (s.heads + h / (s.heads / s.kv_heads)) * s.D;
  const T* const v_from = k_from + s.kv_heads * s.D;
  const int x = static_cast<int>(threadIdx.x) % 16;
  const int y = static_cast<int>(threadIdx.x) / 16;
  float out[2][kColumns] = {};
  float largest[2] = {-INFINITY, -INFINITY};
  float sum[2] = {};
  load_rows(q, sequence + h * s.D, s.qkv, first, s);
  for (std::int64_t key = 0; key <= first; key += kRows) {
    __syncthreads();
    load_rows(tile, k_from, s.qkv, key, s);
    __syncthreads();
    float scores[2][2] = {};
    multiply_rows(scores, q, tile, s.D);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float seen = largest[r];
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const bool hidden = key + x + 16 * c > first + 2 * y + r;
        scores[r][c] = hidden ? -INFINITY : scores[r][c] * scale;
        seen = Largest{}(seen, scores[r][c]);
      }
      seen = over_row(seen, Largest{});
      const float kept = __expf(largest[r] - seen);
      largest[r] = seen;
      float added = 0;
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const float e = __expf(scores[r][c] - seen);
        p[(2 * y + r) * kScorePitch + x + 16 * c] = e;
        added += e;
      }
      sum[r] = sum[r] * kept + over_row(added, Sum{});
#pragma unroll
      for (float& value : out[r]) value *= kept;
    }
    __syncthreads();
    load_rows(tile, v_from, s.qkv, key, s);
    __syncthreads();
    gather_rows(out, p, kScorePitch, 1, tile, s.D);
  }
#pragma unroll
  for (int r = 0; r < 2; ++r)
    if (x == 0 && first + 2 * y + r < s.length)
      lse[std::int64_t{blockIdx.y} * s.length + first + 2 * y + r] = largest[r] + logf(sum[r]);
  const float factors[2] = {1.0F / sum[0], 1.0F / sum[1]};
  store_rows(context + b * s.length * s.context + h * s.D, s.context, first, out, factors, s);
}

// delta[b,h,t] = sum over d of dcontext * context; eight lanes for each.
constexpr unsigned kDeltaLanes = 8;

template <int W, class T>
__global__ void delta_kernel(float* delta, const T* dcontext, const T* context, unsigned rows,
                             unsigned length, unsigned heads, unsigned D) {
  const unsigned row = (blockIdx.x * kThreads + threadIdx.x) / kDeltaLanes;
  const std::int64_t at = std::int64_t{row} * D;
  float sum = 0;
  for (unsigned d = threadIdx.x % kDeltaLanes * W; row < rows && d < D; d += kDeltaLanes * W) {
    const auto slopes = load<W>(dcontext + at + d);
    const auto values = load<W>(context + at + d);
#pragma unroll
    for (int i = 0; i < W; ++i) sum += slopes.at[i] * values.at[i];
  }
#pragma unroll
  for (int lanes = kDeltaLanes / 2; lanes > 0; lanes /= 2)
    sum += __shfl_xor_sync(0xFFFFFFFFU, sum, lanes);
  if (row >= rows || threadIdx.x % kDeltaLanes != 0) return;
  const unsigned token = row / heads;
  delta[(std::int64_t{token / length} * heads + row % heads) * length + token % length] = sum;
}

// Scores of query rows 2y, 2y + 1 with keys x, x + 16 become P and dS in shared memory.
template <class T>
__device__ inline void probabilities_and_slopes(float* p, float* ds, const T* q, const T* dout,
                                                const T* keys, const T* values, const float* lse,
                                                const float* delta, std::int64_t query,
                                                std::int64_t key, const Strides& s, float scale) {
  const int x = static_cast<int>(threadIdx.x) % 16;
  const int y = static_cast<int>(threadIdx.x) / 16;
  float scores[2][2] = {};
  float dp[2][2] = {};
  multiply_rows(scores, q, keys, s.D);
  multiply_rows(dp, dout, values, s.D);
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const std::int64_t row = query + 2 * y + r;
    const bool there = row < s.length;
    const float row_lse = there ? lse[row] : 0.0F;
    const float row_delta = there ? delta[row] : 0.0F;
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const bool seen = there && key + x + 16 * c <= row;
      const float probability = seen ? __expf(scores[r][c] * scale - row_lse) : 0.0F;
      const int at = (2 * y + r) * kScorePitch + x + 16 * c;
      p[at] = probability;
      ds[at] = probability * (dp[r][c] - row_delta) * scale;
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    key_grad_kernel(T* dqkv, const float* delta, const T* dcontext, const T* qkv, const float* lse,
                    Strides s, float scale) {
  const int pitch = pitch_of<T>(s.D);
  T* const keys = reinterpret_cast<T*>(dynamic_shared());
  T* const values = keys + kRows * pitch;
  T* const q = values + kRows * pitch;
  T* const dout = q + kRows * pitch;
  float* const p = reinterpret_cast<float*>(dout + kRows * pitch);
  float* const ds = p + kRows * kScorePitch;
  const std::int64_t b = blockIdx.y / s.kv_heads;
  const std::int64_t shared_head = blockIdx.y % s.kv_heads;
  const std::int64_t sharers = s.heads / s.kv_heads;
  const std::int64_t first = std::int64_t{blockIdx.x} * kRows;
  const T* const sequence = qkv + b * s.length * s.qkv;
  const std::int64_t k_at = (s.heads + shared_head) * s.D;
  const std::int64_t v_at = k_at + s.kv_heads * s.D;
  float dk[2][kColumns] = {};
  float dv[2][kColumns] = {};
  load_rows(keys, sequence + k_at, s.qkv, first, s);
  load_rows(values, sequence + v_at, s.qkv, first, s);
  for (std::int64_t h = shared_head * sharers; h < (shared_head + 1) * sharers; ++h)
    for (std::int64_t query = first; query < s.length; query += kRows) {
      const std::int64_t stats = (b * s.heads + h) * s.length;
      __syncthreads();
      load_rows(q, sequence + h * s.D, s.qkv, query, s);
      load_rows(dout, dcontext + b * s.length * s.context + h * s.D, s.context, query, s);
      __syncthreads();
      probabilities_and_slopes(p, ds, q, dout, keys, values, lse + stats, delta + stats, query,
                               first, s, scale);
      __syncthreads();
      gather_rows(dv, p, 1, kScorePitch, dout, s.D);
      gather_rows(dk, ds, 1, kScorePitch, q, s.D);
    }
  const float ones[2] = {1.0F, 1.0F};
  T* const to = dqkv + b * s.length * s.qkv;
  store_rows(to + k_at, s.qkv, first, dk, ones, s);
  store_rows(to + v_at, s.qkv, first, dv, ones, s);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    query_grad_kernel(T* dqkv, const float* delta, const T* dcontext, const T* qkv,
                      const float* lse, Strides s, float scale) {
  const int pitch = pitch_of<T>(s.D);
  T* const q = reinterpret_cast<T*>(dynamic_shared());
  T* const dout = q + kRows * pitch;
  T* const keys = dout + kRows * pitch;
  T* const values = keys + kRows * pitch;
  float* const p = reinterpret_cast<float*>(values + kRows * pitch);
  float* const ds = p + kRows * kScorePitch;
  const std::int64_t b = blockIdx.y / s.heads;
  const std::int64_t h = blockIdx.y % s.heads;
  const std::int64_t first = std::int64_t{gridDim.x - 1 - blockIdx.x} * kRows;
  const T* const sequence = qkv + b * s.length * s.qkv;
  const T* const k_from = sequence + (s.heads + h / (s.heads / s.kv_heads)) * s.D;
  const std::int64_t stats = std::int64_t{blockIdx.y} * s.length;
  float dq[2][kColumns] = {};
  load_rows(q, sequence + h * s.D, s.qkv, first, s);
  load_rows(dout, dcontext + b * s.length * s.context + h * s.D, s.context, first, s);
  for (std::int64_t key = 0; key <= first; key += kRows) {
    __syncthreads();
    load_rows(keys, k_from, s.qkv, key, s);
    load_rows(values, k_from + s.kv_heads * s.D, s.qkv, key, s);
    __syncthreads();
    probabilities_and_slopes(p, ds, q, dout, keys, values, lse + stats, delta + stats, first, key,
                             s, scale);
    __syncthreads();
    gather_rows(dq, ds, kScorePitch, 1, keys, s.D);
  }
  const float ones[2] = {1.0F, 1.0F};
  store_rows(dqkv + b * s.length * s.qkv + h * s.D, s.qkv, first, dq, ones, s);
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
// Of `tiles` tiles of rows and `score_tiles` of scores.
template <class T>
std::size_t shared_bytes(std::int64_t D, std::size_t tiles, std::size_t score_tiles) {
  return tiles * kRows * static_cast<std::size_t>(pitch_of<T>(D)) * sizeof(T) +
         score_tiles * kRows * kScorePitch * sizeof(float);
}

// Whether tensor cores can do it: see gpu.h.
template <class... Arrays>
bool for_tensor_cores(const AttentionShape& shape, const Arrays*... arrays) {
  return shape.D % 8 == 0 && shape.D <= 128 && (... && is_wide(arrays)) &&
         has_fused_attention_tiles();
}

template <class T>
cudaError_t forward(T* context, float* lse, const T* qkv, const AttentionShape& shape,
                    cudaStream_t stream) {
  if constexpr (std::is_same_v<T, Bf16>)
    if (for_tensor_cores(shape, context, qkv))
      return fused_attention_forward_tiles(context, lse, qkv, shape, stream);
  const std::size_t bytes = shared_bytes<T>(shape.D, 2, 1);
  const cudaError_t status = allow_shared(forward_kernel<T>, bytes);
  if (status != cudaSuccess) return status;
  return launch(forward_kernel<T>, grid_for(shape.T, shape.B * shape.H), dim3(kThreads), bytes,
                stream, context, lse, qkv, strides_of(shape), scale_of(shape));
}
template <class T>
cudaError_t backward(T* dqkv, const float* delta, const T* dcontext, const T* qkv, const float* lse,
                     const AttentionShape& shape, cudaStream_t stream) {
  if constexpr (std::is_same_v<T, Bf16>)
    if (for_tensor_cores(shape, dqkv, dcontext, qkv))
      return fused_attention_backward_tiles(dqkv, delta, dcontext, qkv, lse, shape, stream);
  const std::size_t bytes = shared_bytes<T>(shape.D, 4, 2);
  cudaError_t status = allow_shared(key_grad_kernel<T>, bytes);
  if (status == cudaSuccess) status = allow_shared(query_grad_kernel<T>, bytes);
  if (status == cudaSuccess)
    status = launch(key_grad_kernel<T>, grid_for(shape.T, shape.B * shape.K), dim3(kThreads), bytes,
                    stream, dqkv, delta, dcontext, qkv, lse, strides_of(shape), scale_of(shape));
  if (status != cudaSuccess) return status;
  return launch(query_grad_kernel<T>, grid_for(shape.T, shape.B * shape.H), dim3(kThreads), bytes,
                stream, dqkv, delta, dcontext, qkv, lse, strides_of(shape), scale_of(shape));
}

// Heads are the second direction of a grid; only very many short sequences are cut at all.
template <class Visit>
cudaError_t for_grids(AttentionShape shape, const Visit& visit) {
  if (shape.H > kMostGridRows) return cudaErrorInvalidValue;
  cudaError_t status = cudaSuccess;
  for_parts(shape.B, kMostGridRows / shape.H, [&](std::int64_t b, std::int64_t count) {
    shape.B = count;
    if (status == cudaSuccess) status = visit(b, shape);
  });
  return status;
}

}  // namespace

template <class T>
std::size_t fused_attention_shared(std::int64_t D) {
  return D > kMostD ? std::numeric_limits<std::size_t>::max() : shared_bytes<T>(D, 4, 2);
}

template <class T>
cudaError_t fused_attention_forward(T* context, float* lse, const T* qkv,
                                    const AttentionShape& shape, cudaStream_t stream) {
  if (shape.B * shape.H * shape.T == 0) return cudaSuccess;
  if (shape.D > kMostD) return cudaErrorInvalidValue;
  const Strides s = strides_of(shape);
  return for_grids(shape, [&](std::int64_t b, const AttentionShape& part) {
    return forward(context + b * s.length * s.context, lse + b * s.heads * s.length,
                   qkv + b * s.length * s.qkv, part, stream);
  });
}

template <class T>
cudaError_t fused_attention_backward(T* dqkv, float* scratch, const T* dcontext, const T* qkv,
                                     const T* context, const float* lse,
                                     const AttentionShape& shape, cudaStream_t stream) {
  const std::int64_t rows = shape.B * shape.T * shape.H;
  if (rows == 0) return cudaSuccess;
  if (shape.D > kMostD) return cudaErrorInvalidValue;
  const bool wide = is_wide(dcontext) && is_wide(context) && shape.D % kWidth<T> == 0;
  const std::size_t lanes = static_cast<std::size_t>(rows) * kDeltaLanes;
  const cudaError_t status = launch(wide ? delta_kernel<kWidth<T>, T> : delta_kernel<1, T>,
                                    dim3(static_cast<unsigned>(divide_up(lanes, kThreads))),
                                    dim3(kThreads), 0, stream, scratch, dcontext, context,
                                    static_cast<unsigned>(rows), static_cast<unsigned>(shape.T),
                                    static_cast<unsigned>(shape.H), static_cast<unsigned>(shape.D));
  if (status != cudaSuccess) return status;
  const Strides s = strides_of(shape);
  return for_grids(shape, [&](std::int64_t b, const AttentionShape& part) {
    return backward(dqkv + b * s.length * s.qkv, scratch + b * s.heads * s.length,
                    dcontext + b * s.length * s.context, qkv + b * s.length * s.qkv,
                    lse + b * s.heads * s.length, part, stream);
  });
}

#define PARALLELARIUM_FOR(T)                                                                \
  template std::size_t fused_attention_shared<T>(std::int64_t);                             \
  template cudaError_t fused_attention_forward(T*, float*, const T*, const AttentionShape&, \
                                               cudaStream_t);                               \
  template cudaError_t fused_attention_backward(T*, float*, const T*, const T*, const T*,   \
                                                const float*, const AttentionShape&,        \
                                                cudaStream_t);
PARALLELARIUM_FOR(float)
PARALLELARIUM_FOR(Bf16)
#undef PARALLELARIUM_FOR

}  // namespace parallelarium
