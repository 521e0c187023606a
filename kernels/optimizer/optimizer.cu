// SPDX-License-Identifier: Apache-2.0
// AdamW, and the sum of squares by which it clips. Memory-bound.
#include <cmath>

#include "kernels/base/vector.cuh"
#include "kernels/gpu.h"

namespace parallelarium {
namespace {

// The order of the sum is by thread, then by warp, then by block, on a grid that depends on the
// count alone.
template <class T>
__global__ void __launch_bounds__(kSumThreads)
    sum_of_squares_kernel(double* sums, const T* values, std::size_t count, bool wide) {
  __shared__ double shared[kSumThreads / 32];
  constexpr int W = kWidth<T>;
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  double sum = 0;
  std::size_t done = 0;
  if (wide) {
#pragma unroll 4
    for (std::size_t at = first * W; at + W <= count; at += stride * W) {
      const auto pack = load<W>(values + at);
      for (const float value : pack.at) sum += double{value} * double{value};
    }
    done = count / W * W;
  }
  for (std::size_t at = done + first; at < count; at += stride) {
    const double value = widened(values[at]);
    sum += value * value;
  }
  sum = over_block(sum, shared, Sum{});
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// The run of element `at`, no earlier than `from`.
__device__ inline int run_at(const Runs& runs, std::int64_t at, int from) {
  int low = from, high = runs.count - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (runs.end[middle] <= at)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// The same of marked elements alone.
template <class T>
__global__ void __launch_bounds__(kSumThreads)
    sum_of_marked_squares_kernel(double* sums, const T* values, const __grid_constant__ Runs runs,
                                 bool wide) {
  __shared__ double shared[kSumThreads / 32];
  double sum = 0;
  int run = 0;
  for_elements<kWidth<T>>(static_cast<std::size_t>(runs.end[runs.count - 1]), wide,
                          [&](std::size_t first, auto width) {
                            constexpr int W = decltype(width)::value;
                            const auto at = static_cast<std::int64_t>(first);
                            run = run_at(runs, at, run);
                            if (!runs.marked[run] && runs.end[run] >= at + W) return;
                            const auto pack = load<W>(values + at);
#pragma unroll
                            for (int i = 0; i < W; ++i) {
                              if (at + i >= runs.end[run]) ++run;
                              const double value = pack.at[i];
                              if (runs.marked[run]) sum += value * value;
                            }
                          });
  sum = over_block(sum, shared, Sum{});
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(kSumThreads)
    add_sums_kernel(double* sum, const double* sums, unsigned count) {
  __shared__ double shared[kSumThreads / 32];
  double total = 0;
  for (unsigned at = threadIdx.x; at < count; at += blockDim.x) total += sums[at];
  total = over_block(total, shared, Sum{});
  if (threadIdx.x == 0) sum[0] += total;
}

// What an element needs of AdamW and the step number, computed once on the host.
struct Update {
  float beta1, beta2, kept, step_size, root_correction, epsilon, clip;
};

// Marked runs are kept by update.kept, the others whole.
template <class P, class G, class M>
__global__ void adamw_kernel(P* parameters, float* master, const G* gradients, M* first_moment,
                             M* second_moment, const double* sum_of_squares, Update update,
                             const __grid_constant__ Runs runs, bool wide) {
  float scale = 1.0F;
  if (update.clip > 0) {
    const double norm = sqrt(sum_of_squares[0]);
    if (norm > double{update.clip}) scale = static_cast<float>(double{update.clip} / norm);
  }
  int run = 0;
  for_elements<4>(
      static_cast<std::size_t>(runs.end[runs.count - 1]), wide, [&](std::size_t first, auto width) {
        constexpr int W = decltype(width)::value;
        const auto at = static_cast<std::int64_t>(first);
        Floats<W> p;
        if constexpr (std::is_same_v<P, float>)
          p = load<W>(parameters + at);
        else
          p = load<W>(master + at);
        const auto g = load<W>(gradients + at);
        auto m = load<W>(first_moment + at);
        auto v = load<W>(second_moment + at);
        run = run_at(runs, at, run);
#pragma unroll
        for (int i = 0; i < W; ++i) {
          if (at + i >= runs.end[run]) ++run;
          const float kept = runs.marked[run] ? update.kept : 1.0F;
          const float gradient = g.at[i] * scale;
          // By fmaf, since the compiler may join products and sums in another way for each width.
          m.at[i] = fmaf(update.beta1, m.at[i], (1.0F - update.beta1) * gradient);
          v.at[i] = fmaf(update.beta2, v.at[i], (1.0F - update.beta2) * gradient * gradient);
          const float by = update.step_size * m.at[i] /
                           (sqrtf(v.at[i]) / update.root_correction + update.epsilon);
          p.at[i] = fmaf(p.at[i], kept, -by);
        }
        store(first_moment + at, m);
        store(second_moment + at, v);
        if constexpr (!std::is_same_v<P, float>) store(master + at, p);
        store(parameters + at, p);
      });
}

}  // namespace

template <class T>
cudaError_t sum_of_squares(double* sum, const T* values, void* workspace, const Runs& counted,
                           cudaStream_t stream) {
  const auto count = static_cast<std::size_t>(counted.length());
  if (count == 0) return cudaSuccess;
  auto* const sums = static_cast<double*>(workspace);
  const unsigned blocks = blocks_for(count, kSumThreads * kWidth<T>, kSumBlocks);
  const bool all = counted.count == 1 && counted.marked[0];
  const cudaError_t status =
      all ? launch(sum_of_squares_kernel<T>, dim3(blocks), dim3(kSumThreads), 0, stream, sums,
                   values, count, is_wide(values))
          : launch(sum_of_marked_squares_kernel<T>, dim3(blocks), dim3(kSumThreads), 0, stream,
                   sums, values, counted, is_wide(values));
  if (status != cudaSuccess) return status;
  return launch(add_sums_kernel, dim3(1), dim3(kSumThreads), 0, stream, sum,
                static_cast<const double*>(sums), blocks);
}

template <class P, class G, class M>
cudaError_t adamw(P* parameters, float* master, const G* gradients, M* first_moment,
                  M* second_moment, const double* sum_of_squares, float clip, const AdamW& settings,
                  const Runs& decayed, cudaStream_t stream) {
  const auto count = static_cast<std::size_t>(decayed.length());
  if (count == 0) return cudaSuccess;
  const auto steps = static_cast<double>(settings.step);
  const double correction1 = 1.0 - std::pow(double{settings.beta1}, steps);
  const double correction2 = 1.0 - std::pow(double{settings.beta2}, steps);
  const Update update{settings.beta1,
                      settings.beta2,
                      1.0F - settings.learning_rate * settings.weight_decay,
                      static_cast<float>(settings.learning_rate / correction1),
                      static_cast<float>(std::sqrt(correction2)),
                      settings.epsilon,
                      clip};
  const bool wide = is_wide(parameters) && is_wide(master) && is_wide(gradients) &&
                    is_wide(first_moment) && is_wide(second_moment);
  constexpr unsigned kThreads = 256;
  return launch(adamw_kernel<P, G, M>, dim3(blocks_for(count, kThreads * 4, 4096)), dim3(kThreads),
                0, stream, parameters, master, gradients, first_moment, second_moment,
                sum_of_squares, update, decayed, wide);
}

template cudaError_t sum_of_squares(double*, const float*, void*, const Runs&, cudaStream_t);
template cudaError_t sum_of_squares(double*, const Bf16*, void*, const Runs&, cudaStream_t);
#define PARALLELARIUM_FOR(P, G, M)                                                             \
  template cudaError_t adamw(P*, float*, const G*, M*, M*, const double*, float, const AdamW&, \
                             const Runs&, cudaStream_t);
PARALLELARIUM_FOR(float, float, float)
PARALLELARIUM_FOR(Bf16, float, float)
PARALLELARIUM_FOR(Bf16, Bf16, float)
PARALLELARIUM_FOR(Bf16, float, Bf16)
PARALLELARIUM_FOR(Bf16, Bf16, Bf16)
#undef PARALLELARIUM_FOR

}  // namespace parallelarium
