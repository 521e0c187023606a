// SPDX-License-Identifier: Apache-2.0
// One block for each token; a row of logits may begin at any element.
// Memory-bound: a thread asks for four packs before it uses the first.
#include "kernels/base/pitch.h"
#include "kernels/base/vector.cuh"
#include "kernels/gpu.h"

namespace parallelarium {
namespace {

constexpr unsigned kMostThreads = 512;
constexpr int kTurns = 4;

// `turns` packs of a row, `step` columns apart.
template <int W, int turns, class T>
__device__ inline Numbers<Floats<W>, turns> load_turns(const T* from, std::int64_t step) {
  Numbers<Floats<W>, turns> packs;
#pragma unroll
  for (int turn = 0; turn < turns; ++turn) packs.at[turn] = load<W>(from + turn * step);
  return packs;
}

template <class T>
__global__ void __launch_bounds__(kMostThreads)
    loss_max_kernel(float* row_max, const T* logits, std::int64_t V, std::int64_t pitch) {
  __shared__ float shared[kMostThreads / 32];
  const T* row = logits + std::int64_t{blockIdx.x} * pitch;
  float largest = widened(row[0]);
  for_column_turns_of<kTurns>(row, V, [&](std::int64_t v, auto width, auto turns, auto step) {
    const auto packs = load_turns<decltype(width)::value, decltype(turns)::value>(row + v, step);
    for (const auto& values : packs.at)
      for (const float value : values.at) largest = Largest{}(largest, value);
  });
  largest = over_block(largest, shared, Largest{});
  if (threadIdx.x == 0) row_max[blockIdx.x] = largest;
}

template <class T>
__global__ void __launch_bounds__(kMostThreads)
    loss_sum_kernel(float* sum_exp, float* target_logit, const T* logits, const float* row_max,
                    const std::int32_t* targets, std::int64_t V, std::int64_t first,
                    std::int64_t pitch) {
  __shared__ float shared[kMostThreads / 32];
  const T* row = logits + std::int64_t{blockIdx.x} * pitch;
  const float largest = row_max[blockIdx.x];
  float sum = 0;
  for_column_turns_of<kTurns>(row, V, [&](std::int64_t v, auto width, auto turns, auto step) {
    const auto packs = load_turns<decltype(width)::value, decltype(turns)::value>(row + v, step);
    for (const auto& values : packs.at)
      for (const float value : values.at) sum += fast_exp(value - largest);
  });
  sum = over_block(sum, shared, Sum{});
  if (threadIdx.x == 0) {
    const std::int64_t target = targets[blockIdx.x] - first;
    sum_exp[blockIdx.x] = sum;
    target_logit[blockIdx.x] = target >= 0 && target < V ? widened(row[target]) : 0.0F;
  }
}

// Both with one reading: a thread's sum counts from its largest logit so far (Milakov and
// Gimelshein 2018, "Online normalizer calculation for softmax"), then all count from the row's.
template <class T>
__global__ void __launch_bounds__(kMostThreads)
    loss_max_sum_kernel(float* row_max, float* sum_exp, float* target_logit, const T* logits,
                        const std::int32_t* targets, std::int64_t V, std::int64_t pitch) {
  __shared__ float shared_max[kMostThreads / 32];
  __shared__ float shared_sum[kMostThreads / 32];
  const T* row = logits + std::int64_t{blockIdx.x} * pitch;
  float own = fmaxf(widened(row[0]), -3.0e38F);  // finite, where a row begins with -inf
  float sum = 0;
  for_column_turns_of<kTurns>(row, V, [&](std::int64_t v, auto width, auto turns, auto step) {
    const auto packs = load_turns<decltype(width)::value, decltype(turns)::value>(row + v, step);
    float largest = own;
    for (const auto& values : packs.at)
      for (const float value : values.at) largest = Largest{}(largest, value);
    sum *= fast_exp(own - largest);
    own = largest;
    for (const auto& values : packs.at)
      for (const float value : values.at) sum += fast_exp(value - own);
  });
  const float largest = over_block(own, shared_max, Largest{});
  sum = over_block(sum * fast_exp(own - largest), shared_sum, Sum{});
  if (threadIdx.x == 0) {
    const std::int64_t target = targets[blockIdx.x];
    row_max[blockIdx.x] = largest;
    sum_exp[blockIdx.x] = sum;
    target_logit[blockIdx.x] = target >= 0 && target < V ? widened(row[target]) : 0.0F;
  }
}

// One block for all tokens, so that their order is fixed; a step has few.
__global__ void __launch_bounds__(kMostThreads)
    loss_kernel(double* loss, const float* row_max, const float* sum_exp, const float* target_logit,
                std::int64_t N) {
  __shared__ double shared[kMostThreads / 32];
  double sum = 0;
  for (std::int64_t n = threadIdx.x; n < N; n += blockDim.x)
    sum += log(double{sum_exp[n]}) + double{row_max[n]} - double{target_logit[n]};
  sum = over_block(sum, shared, Sum{});
  if (threadIdx.x == 0) loss[0] += sum;
}

template <class T>
__global__ void __launch_bounds__(kMostThreads)
    loss_grad_kernel(T* logits, const float* row_max, const float* sum_exp,
                     const std::int32_t* targets, float scale, std::int64_t V, std::int64_t first,
                     std::int64_t pitch) {
  T* row = logits + std::int64_t{blockIdx.x} * pitch;
  const float largest = row_max[blockIdx.x];
  const float factor = scale / sum_exp[blockIdx.x];
  const std::int64_t target = targets == nullptr ? -1 : targets[blockIdx.x] - first;
  for_column_turns_of<kTurns>(row, V, [&](std::int64_t v, auto width, auto turns, auto step) {
    constexpr int W = decltype(width)::value;
    auto packs = load_turns<W, decltype(turns)::value>(row + v, step);
#pragma unroll
    for (int turn = 0; turn < decltype(turns)::value; ++turn) {
      auto& values = packs.at[turn];
      const std::int64_t to = v + turn * step;
#pragma unroll
      for (float& value : values.at) value = fast_exp(value - largest) * factor;
      if (target >= to && target < to + W) {
        const int at = static_cast<int>(target - to);
#pragma unroll
        for (int i = 0; i < W; ++i) values.at[i] -= i == at ? scale : 0.0F;
      }
      store(row + to, values);
    }
  });
}

template <class T>
dim3 block_for(std::int64_t V) {
  return dim3(threads_for_row(static_cast<std::size_t>(V), kWidth<T>, kMostThreads));
}
dim3 a_block_each(std::int64_t N) { return dim3(static_cast<unsigned>(N)); }

}  // namespace

template <class T>
cudaError_t loss_max(float* row_max, const T* logits, std::int64_t N, std::int64_t V,
                     cudaStream_t stream, std::int64_t pitch) {
  if (N == 0) return cudaSuccess;
  return launch(loss_max_kernel<T>, a_block_each(N), block_for<T>(V), 0, stream, row_max, logits, V,
                pitch_of(V, pitch));
}
template <class T>
cudaError_t loss_sum(float* sum_exp, float* target_logit, const T* logits, const float* row_max,
                     const std::int32_t* targets, std::int64_t N, std::int64_t V,
                     std::int64_t first, cudaStream_t stream, std::int64_t pitch) {
  if (N == 0) return cudaSuccess;
  return launch(loss_sum_kernel<T>, a_block_each(N), block_for<T>(V), 0, stream, sum_exp,
                target_logit, logits, row_max, targets, V, first, pitch_of(V, pitch));
}
template <class T>
cudaError_t loss_max_sum(float* row_max, float* sum_exp, float* target_logit, const T* logits,
                         const std::int32_t* targets, std::int64_t N, std::int64_t V,
                         cudaStream_t stream, std::int64_t pitch) {
  if (N == 0) return cudaSuccess;
  return launch(loss_max_sum_kernel<T>, a_block_each(N), block_for<T>(V), 0, stream, row_max,
                sum_exp, target_logit, logits, targets, V, pitch_of(V, pitch));
}
cudaError_t loss(double* sum, const float* row_max, const float* sum_exp, const float* target_logit,
                 std::int64_t N, cudaStream_t stream) {
  if (N == 0) return cudaSuccess;
  return launch(loss_kernel, dim3(1), dim3(kMostThreads), 0, stream, sum, row_max, sum_exp,
                target_logit, N);
}
template <class T>
cudaError_t loss_grad(T* logits, const float* row_max, const float* sum_exp,
                      const std::int32_t* targets, float scale, std::int64_t N, std::int64_t V,
                      std::int64_t first, cudaStream_t stream, std::int64_t pitch) {
  if (N == 0) return cudaSuccess;
  return launch(loss_grad_kernel<T>, a_block_each(N), block_for<T>(V), 0, stream, logits, row_max,
                sum_exp, targets, scale, V, first, pitch_of(V, pitch));
}

#define PARALLELARIUM_FOR(T)                                                                 \
  template cudaError_t loss_max(float*, const T*, std::int64_t, std::int64_t, cudaStream_t,  \
                                std::int64_t);                                               \
  template cudaError_t loss_sum(float*, float*, const T*, const float*, const std::int32_t*, \
                                std::int64_t, std::int64_t, std::int64_t, cudaStream_t,      \
                                std::int64_t);                                               \
  template cudaError_t loss_max_sum(float*, float*, float*, const T*, const std::int32_t*,   \
                                    std::int64_t, std::int64_t, cudaStream_t, std::int64_t); \
  template cudaError_t loss_grad(T*, const float*, const float*, const std::int32_t*, float, \
                                 std::int64_t, std::int64_t, std::int64_t, cudaStream_t,     \
                                 std::int64_t);
PARALLELARIUM_FOR(float)
PARALLELARIUM_FOR(Bf16)
#undef PARALLELARIUM_FOR

}  // namespace parallelarium
