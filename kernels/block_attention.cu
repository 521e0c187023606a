// SPDX-License-Identifier: Apache-2.0
// Attention to keys that come block by block, for every GPU, storage and head size; and the choice
// between this and tensor cores (block_attention_tiles.cu). Here: one warp for each query row, or
// for each key row of the backward's second half. A warp takes 32 partners at a time: every lane
// makes one score, then all lanes share the columns of the row that is added up. Sums go in the
// order of positions.
#include "kernels/block_attention_tiles.h"
#include "kernels/fused_attention_tiles.h"
#include "kernels/gpu.h"
#include "kernels/vector.cuh"

namespace parallelarium {
namespace {

constexpr unsigned kLanesOfWarp = 32;
constexpr int kMostHead = 256;
constexpr int kColumns = kMostHead / static_cast<int>(kLanesOfWarp);  // of a lane

// What one lane knows of its row's partner, for all lanes to read.
struct Exchange {
  float first[kLanesOfWarp], second[kLanesOfWarp];
};

__device__ inline std::int64_t position(const TokenRuns& runs, std::int64_t length,
                                        std::int64_t t) {
  const std::int64_t each = length / runs.runs;
  return runs.begin[t / each] + t % each;
}
template <class T>
__device__ inline float dot(const T* a, const T* b, std::int64_t D) {
  float sum = 0;
  for (std::int64_t d = 0; d < D; ++d) sum += widened(a[d]) * widened(b[d]);
  return sum;
}

// What dropout makes of a probability.
__device__ inline float factor_of(const AttentionDropout& dropout, std::int64_t number) {
  return dropout.dropout.drops() ? dropout.dropout.factor(number) : 1.0F;
}

// sum += scale_j row_j over `count` partners, column by column; rows `stride` apart.
template <class T>
__device__ inline void add_rows(float (&sum)[kColumns], const float* scales, const T* rows,
                                std::int64_t stride, std::int64_t count, std::int64_t D) {
  for (std::int64_t j = 0; j < count; ++j) {
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const std::int64_t d =
          static_cast<std::int64_t>(threadIdx.x) + i * std::int64_t{kLanesOfWarp};
      if (d < D) sum[i] += scales[j] * widened(rows[j * stride + d]);
    }
  }
}
template <class Visit>
__device__ inline void for_lane_columns(std::int64_t D, const Visit& visit) {
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    const std::int64_t d = static_cast<std::int64_t>(threadIdx.x) + i * std::int64_t{kLanesOfWarp};
    if (d < D) visit(i, d);
  }
}

template <class T>
__global__ void __launch_bounds__(kLanesOfWarp)
    block_forward_kernel(T* context, float* row_max, float* row_sum, const T* qkv,
                         const T* keys_values, AttentionBlock block) {
  __shared__ Exchange shared;
  const AttentionShape shape = block.shape;
  const std::int64_t L = shape.T, H = shape.H, K = shape.K, D = shape.D;
  const std::int64_t row = blockIdx.x;  // (b, h, t)
  const std::int64_t t = row % L, h = row / L % H, b = row / L / H;
  const float scale = 1.0F / sqrtf(static_cast<float>(D));
  const T* query = qkv + (b * L + t) * (H + 2 * K) * D + h * D;
  T* out = context + (b * L + t) * H * D + h * D;
  float sum[kColumns] = {};
  float largest = -3.0e38F;
  float total = 0;
  if (!block.first) {
    largest = row_max[row];
    total = row_sum[row];
    for_lane_columns(D, [&](int i, std::int64_t d) { sum[i] = widened(out[d]); });
  }
  const std::int64_t own = position(block.queries, L, t);
  const std::int64_t run_length = L / block.keys.runs;
  for (int run = 0; run < block.keys.runs; ++run) {
    const std::int64_t before = own + 1 - block.keys.begin[run];
    const std::int64_t seen = before < run_length ? before : run_length;
    const T* keys = keys_values + (b * L + run * run_length) * block.stride + h / (H / K) * D;
    for (std::int64_t first = 0; first < seen; first += kLanesOfWarp) {
      const std::int64_t left = seen - first;
      const std::int64_t count = left < kLanesOfWarp ? left : kLanesOfWarp;
      const bool there = threadIdx.x < count;
      const std::int64_t j = first + threadIdx.x;
      const float score = there ? dot(query, keys + j * block.stride, D) * scale : -3.0e38F;
      const float now = over_warp(Largest{}(score, largest), Largest{});
      const float kept = total > 0 ? __expf(largest - now) : 0.0F;
      const float part = there ? __expf(score - now) : 0.0F;
      total = total * kept + over_warp(part, Sum{});
      largest = now;
      const std::int64_t number = block.dropout.row(b, h, own) + block.keys.begin[run] + j;
      __syncthreads();
      shared.first[threadIdx.x] = part * factor_of(block.dropout, number);
      __syncthreads();
      for (float& value : sum) value *= kept;
      add_rows(sum, shared.first, keys + K * D + first * block.stride, block.stride, count, D);
    }
  }
  for_lane_columns(D, [&](int i, std::int64_t d) { out[d] = rounded<T>(sum[i]); });
  if (threadIdx.x == 0) {
    row_max[row] = largest;
    row_sum[row] = total;
  }
}

template <class T>
__global__ void __launch_bounds__(kLanesOfWarp)
    block_finish_kernel(T* context, float* row_max, const float* row_sum, AttentionShape shape) {
  const std::int64_t L = shape.T, H = shape.H, D = shape.D;
  const std::int64_t row = blockIdx.x;
  const std::int64_t t = row % L, h = row / L % H, b = row / L / H;
  const float total = row_sum[row];
  T* out = context + (b * L + t) * H * D + h * D;
  for (std::int64_t d = threadIdx.x; d < D; d += kLanesOfWarp)
    out[d] = rounded<T>(widened(out[d]) * (1.0F / total));
  if (threadIdx.x == 0) row_max[row] += logf(total);
}

// The probability of a key for a query, and the gradient of their score:
// dS = P (dcontext . (factor value - context)) scale; after dropout the probability is factor P.
struct Pair {
  float probability, gradient;
};
template <class T>
__device__ inline Pair pair_of(const T* query, const T* key, const T* value, const T* dcontext,
                               const T* context, float lse, float scale, float factor,
                               std::int64_t D) {
  const float probability = __expf(dot(query, key, D) * scale - lse);
  float slope = 0;
  for (std::int64_t d = 0; d < D; ++d)
    slope += widened(dcontext[d]) * (factor * widened(value[d]) - widened(context[d]));
  return {factor * probability, probability * slope * scale};
}

template <class T>
__global__ void __launch_bounds__(kLanesOfWarp)
    block_query_grad_kernel(T* dqkv, const T* dcontext, const T* qkv, const T* keys_values,
                            const T* context, const float* lse, AttentionBlock block) {
  __shared__ Exchange shared;
  const AttentionShape shape = block.shape;
  const std::int64_t L = shape.T, H = shape.H, K = shape.K, D = shape.D;
  const std::int64_t row = blockIdx.x;
  const std::int64_t t = row % L, h = row / L % H, b = row / L / H;
  const float scale = 1.0F / sqrtf(static_cast<float>(D));
  const std::int64_t query_at = (b * L + t) * (H + 2 * K) * D + h * D;
  const std::int64_t out_at = (b * L + t) * H * D + h * D;
  float sum[kColumns] = {};
  if (!block.first)
    for_lane_columns(D, [&](int i, std::int64_t d) { sum[i] = widened(dqkv[query_at + d]); });
  const std::int64_t own = position(block.queries, L, t);
  const std::int64_t run_length = L / block.keys.runs;
  for (int run = 0; run < block.keys.runs; ++run) {
    const std::int64_t before = own + 1 - block.keys.begin[run];
    const std::int64_t seen = before < run_length ? before : run_length;
    const T* keys = keys_values + (b * L + run * run_length) * block.stride + h / (H / K) * D;
    for (std::int64_t first = 0; first < seen; first += kLanesOfWarp) {
      const std::int64_t left = seen - first;
      const std::int64_t count = left < kLanesOfWarp ? left : kLanesOfWarp;
      Pair pair{};
      if (threadIdx.x < count) {
        const T* key = keys + (first + threadIdx.x) * block.stride;
        const std::int64_t number =
            block.dropout.row(b, h, own) + block.keys.begin[run] + first + threadIdx.x;
        pair = pair_of(qkv + query_at, key, key + K * D, dcontext + out_at, context + out_at,
                       lse[row], scale, factor_of(block.dropout, number), D);
      }
      __syncthreads();
      shared.first[threadIdx.x] = pair.gradient;
      __syncthreads();
      add_rows(sum, shared.first, keys + first * block.stride, block.stride, count, D);
    }
  }
  for_lane_columns(D, [&](int i, std::int64_t d) { dqkv[query_at + d] = rounded<T>(sum[i]); });
}

template <class T>
__global__ void __launch_bounds__(kLanesOfWarp)
    block_key_grad_kernel(T* dkeys_values, const T* dcontext, const T* qkv, const T* keys_values,
                          const T* context, const float* lse, AttentionBlock block) {
  __shared__ Exchange shared;
  const AttentionShape shape = block.shape;
  const std::int64_t L = shape.T, H = shape.H, K = shape.K, D = shape.D;
  const std::int64_t row = blockIdx.x;  // (b, k, j)
  const std::int64_t j = row % L, k = row / L % K, b = row / L / K;
  const float scale = 1.0F / sqrtf(static_cast<float>(D));
  const std::int64_t A = (H + 2 * K) * D;
  const std::int64_t key_at = (b * L + j) * block.stride + k * D;
  const T* key = keys_values + key_at;
  const std::int64_t own = position(block.keys, L, j);
  const std::int64_t run_length = L / block.queries.runs;
  float dkey[kColumns] = {};
  float dvalue[kColumns] = {};
  for (std::int64_t h = k * (H / K); h < (k + 1) * (H / K); ++h) {
    for (int run = 0; run < block.queries.runs; ++run) {
      const std::int64_t hidden = own - block.queries.begin[run];  // queries before this key
      const std::int64_t start = hidden > 0 ? hidden : 0;
      for (std::int64_t first = start; first < run_length; first += kLanesOfWarp) {
        const std::int64_t left = run_length - first;
        const std::int64_t count = left < kLanesOfWarp ? left : kLanesOfWarp;
        const std::int64_t base = b * L + run * run_length + first;  // token of the first query
        Pair pair{};
        if (threadIdx.x < count) {
          const std::int64_t n = base + threadIdx.x;
          const std::int64_t out_at = n * H * D + h * D;
          const std::int64_t query = block.queries.begin[run] + first + threadIdx.x;
          const std::int64_t number = block.dropout.row(b, h, query) + own;
          pair =
              pair_of(qkv + n * A + h * D, key, key + K * D, dcontext + out_at, context + out_at,
                      lse[(b * H + h) * L + n - b * L], scale, factor_of(block.dropout, number), D);
        }
        __syncthreads();
        shared.first[threadIdx.x] = pair.gradient;
        shared.second[threadIdx.x] = pair.probability;
        __syncthreads();
        add_rows(dkey, shared.first, qkv + base * A + h * D, A, count, D);
        add_rows(dvalue, shared.second, dcontext + base * H * D + h * D, H * D, count, D);
      }
    }
  }
  for_lane_columns(D, [&](int i, std::int64_t d) {
    T& to_key = dkeys_values[key_at + d];
    T& to_value = dkeys_values[key_at + K * D + d];
    to_key = rounded<T>(widened(to_key) + dkey[i]);
    to_value = rounded<T>(widened(to_value) + dvalue[i]);
  });
}

dim3 rows_of(const AttentionShape& shape, std::int64_t heads) {
  return dim3(static_cast<unsigned>(shape.B * heads * shape.T));
}
bool can(const AttentionShape& shape) { return shape.D <= kMostHead && shape.K > 0; }

// Whether tensor cores can do it: see gpu.h.
template <class... Arrays>
bool for_tensor_cores(const AttentionBlock& block, const Arrays*... arrays) {
  return block.shape.D % 8 == 0 && block.shape.D <= 128 && block.stride % 8 == 0 &&
         (... && is_wide(arrays)) && has_fused_attention_tiles();
}

}  // namespace

template <class T>
cudaError_t block_attention_forward(T* context, float* row_max, float* row_sum, const T* qkv,
                                    const T* keys_values, const AttentionBlock& block,
                                    cudaStream_t stream) {
  if (!can(block.shape)) return cudaErrorInvalidValue;
  if (block.shape.B * block.shape.T == 0) return cudaSuccess;
  if constexpr (std::is_same_v<T, Bf16>)
    if (for_tensor_cores(block, context, qkv, keys_values))
      return block_attention_forward_tiles(context, row_max, row_sum, qkv, keys_values, block,
                                           stream);
  return launch(block_forward_kernel<T>, rows_of(block.shape, block.shape.H), dim3(kLanesOfWarp), 0,
                stream, context, row_max, row_sum, qkv, keys_values, block);
}

template <class T>
cudaError_t block_attention_finish(T* context, float* row_max, const float* row_sum,
                                   const AttentionShape& shape, cudaStream_t stream) {
  if (shape.B * shape.T == 0) return cudaSuccess;
  return launch(block_finish_kernel<T>, rows_of(shape, shape.H), dim3(kLanesOfWarp), 0, stream,
                context, row_max, row_sum, shape);
}

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
  const cudaError_t status =
      launch(block_query_grad_kernel<T>, rows_of(block.shape, block.shape.H), dim3(kLanesOfWarp), 0,
             stream, dqkv, dcontext, qkv, keys_values, context, lse, block);
  if (status != cudaSuccess) return status;
  return launch(block_key_grad_kernel<T>, rows_of(block.shape, block.shape.K), dim3(kLanesOfWarp),
                0, stream, dkeys_values, dcontext, qkv, keys_values, context, lse, block);
}

#define PARALLELARIUM_FOR(T)                                                                    \
  template cudaError_t block_attention_forward(T*, float*, float*, const T*, const T*,          \
                                               const AttentionBlock&, cudaStream_t);            \
  template cudaError_t block_attention_finish(T*, float*, const float*, const AttentionShape&,  \
                                              cudaStream_t);                                    \
  template cudaError_t block_attention_backward(T*, T*, const T*, const T*, const T*, const T*, \
                                                const float*, const AttentionBlock&,            \
                                                cudaStream_t);
PARALLELARIUM_FOR(float)
PARALLELARIUM_FOR(Bf16)
#undef PARALLELARIUM_FOR

}  // namespace parallelarium
