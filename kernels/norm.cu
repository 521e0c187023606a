// SPDX-License-Identifier: Apache-2.0
// One block for each token. A row is read two or three times; only the first time comes from device
// memory, the others from the cache that the block has to itself.
#include "kernels/gpu.h"
#include "kernels/norm.h"
#include "kernels/vector.cuh"

namespace parallelarium {
namespace {

constexpr unsigned kMostThreads = 256;

template <bool kLayer, class T>
__global__ void __launch_bounds__(kMostThreads)
    norm_forward_kernel(T* y, float* stats, const T* x, const T* gain, const T* bias,
                        std::int64_t N, std::int64_t C, bool wide) {
  __shared__ float shared[kMostThreads / 32];
  const std::int64_t n = blockIdx.x;
  const T* row = x + n * C;
  const auto channels = static_cast<float>(C);
  float mean = 0;
  if constexpr (kLayer) {
    float sum = 0;
    for_columns<kWidth<T>>(C, wide, [&](std::int64_t c, auto width) {
      const auto values = load<decltype(width)::value>(row + c);
      for (const float value : values.at) sum += value;
    });
    mean = over_block(sum, shared, Sum{}) / channels;
  }
  float squares = 0;
  for_columns<kWidth<T>>(C, wide, [&](std::int64_t c, auto width) {
    const auto values = load<decltype(width)::value>(row + c);
    for (const float value : values.at) squares += (value - mean) * (value - mean);
  });
  const float rstd = 1.0F / sqrtf(over_block(squares, shared, Sum{}) / channels + kNormEpsilon);
  for_columns<kWidth<T>>(C, wide, [&](std::int64_t c, auto width) {
    constexpr int W = decltype(width)::value;
    auto values = load<W>(row + c);
    const auto gains = load<W>(gain + c);
    Floats<W> biases{};
    if (bias != nullptr) biases = load<W>(bias + c);
#pragma unroll
    for (int i = 0; i < W; ++i)
      values.at[i] = (values.at[i] - mean) * rstd * gains.at[i] + biases.at[i];
    store(y + n * C + c, values);
  });
  if (threadIdx.x == 0) {
    stats[n] = mean;
    stats[N + n] = rstd;
  }
}

// With h = (x - mean) rstd and d = dy gain: dx = rstd (d - mean(d) - h mean(d h)); RMSNorm has no
// mean(d), its derivative coming from the subtraction of the mean.
template <bool kLayer, class T>
__global__ void __launch_bounds__(kMostThreads)
    norm_input_grad_kernel(T* dx, const T* dy, const T* x, const T* gain, const float* stats,
                           bool accumulate, std::int64_t N, std::int64_t C, bool wide) {
  __shared__ float shared[kMostThreads / 32];
  const std::int64_t n = blockIdx.x;
  const T* row = x + n * C;
  const T* grad = dy + n * C;
  const auto channels = static_cast<float>(C);
  const float mean = stats[n];
  const float rstd = stats[N + n];
  float sum = 0;
  float dot = 0;
  for_columns<kWidth<T>>(C, wide, [&](std::int64_t c, auto width) {
    constexpr int W = decltype(width)::value;
    const auto values = load<W>(row + c);
    const auto grads = load<W>(grad + c);
    const auto gains = load<W>(gain + c);
#pragma unroll
    for (int i = 0; i < W; ++i) {
      const float d = grads.at[i] * gains.at[i];
      sum += d;
      dot += d * (values.at[i] - mean);
    }
  });
  const float mean_d = kLayer ? over_block(sum, shared, Sum{}) / channels : 0.0F;
  const float factor = over_block(dot, shared, Sum{}) * rstd * rstd / channels;
  for_columns<kWidth<T>>(C, wide, [&](std::int64_t c, auto width) {
    constexpr int W = decltype(width)::value;
    const auto values = load<W>(row + c);
    const auto grads = load<W>(grad + c);
    const auto gains = load<W>(gain + c);
    Floats<W> out{};
    if (accumulate) out = load<W>(dx + n * C + c);
#pragma unroll
    for (int i = 0; i < W; ++i)
      out.at[i] += rstd * (grads.at[i] * gains.at[i] - mean_d - (values.at[i] - mean) * factor);
    store(dx + n * C + c, out);
  });
}

// Column sums in two passes. First, blockIdx.y takes a part of the rows and blockIdx.x a strip of
// 32 W columns: every lane W columns, every warp each kWarps-th row; the warps' sums are added in
// order into parts [2, parts, C] (weighted by the normalised input, and plain).
constexpr unsigned kWarps = 8;

template <int W, class T>
__global__ void __launch_bounds__(32 * kWarps)
    column_parts_kernel(float* parts, const T* dy, const T* x, const float* stats, std::int64_t N,
                        std::int64_t C, std::int64_t part_rows) {
  __shared__ float shared[2][kWarps][32 * W];
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  const std::int64_t strip = std::int64_t{blockIdx.x} * 32 * W;
  const std::int64_t c = strip + lane * W;
  const std::int64_t begin = blockIdx.y * part_rows;
  const std::int64_t end = begin + part_rows < N ? begin + part_rows : N;
  Floats<W> weighted{};
  Floats<W> plain{};
  if (c < C)
#pragma unroll 4
    for (std::int64_t n = begin + warp; n < end; n += kWarps) {
      const auto grads = load<W>(dy + n * C + c);
      if (x != nullptr) {
        const auto values = load<W>(x + n * C + c);
        const float mean = stats[n];
        const float rstd = stats[N + n];
#pragma unroll
        for (int i = 0; i < W; ++i) weighted.at[i] += grads.at[i] * ((values.at[i] - mean) * rstd);
      }
#pragma unroll
      for (int i = 0; i < W; ++i) plain.at[i] += grads.at[i];
    }
#pragma unroll
  for (int i = 0; i < W; ++i) {
    shared[0][warp][i * 32 + lane] = weighted.at[i];
    shared[1][warp][i * 32 + lane] = plain.at[i];
  }
  __syncthreads();
  for (unsigned at = threadIdx.x; at < 2 * 32 * W; at += 32 * kWarps) {
    const unsigned which = at / (32 * W);
    const unsigned column = at % (32 * W);
    float sum = 0;
    for (unsigned from = 0; from < kWarps; ++from)
      sum += shared[which][from][column % W * 32 + column / W];
    if (strip + column < C) parts[(which * gridDim.y + blockIdx.y) * C + strip + column] = sum;
  }
}

// Then one thread for each column adds the parts in order.
template <class G>
__global__ void add_parts_kernel(G* weighted, G* plain, const float* parts, std::int64_t count,
                                 std::int64_t C) {
  const std::int64_t c = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (c >= C) return;
  G* const sums[2] = {weighted, plain};
#pragma unroll
  for (int which = 0; which < 2; ++which) {
    if (sums[which] == nullptr) continue;
    float sum = 0;
#pragma unroll 8
    for (std::int64_t part = 0; part < count; ++part) sum += parts[(which * count + part) * C + c];
    sums[which][c] = rounded<G>(widened(sums[which][c]) + sum);
  }
}

template <class G, class T>
cudaError_t sum_columns(G* weighted, G* plain, const T* dy, const T* x, const float* stats,
                        void* workspace, std::int64_t N, std::int64_t C, cudaStream_t stream) {
  if (N == 0 || C == 0) return cudaSuccess;
  const auto rows = static_cast<std::size_t>(N);
  const auto columns = static_cast<std::size_t>(C);
  const bool wide = rows_are_wide(dy, columns, sizeof(T)) &&
                    (x == nullptr || rows_are_wide(x, columns, sizeof(T)));
  const int width = wide ? kWidth<T> : 1;
  const auto part_count = static_cast<unsigned>(column_parts(rows));
  const dim3 grid(static_cast<unsigned>(divide_up(columns, 32 * static_cast<std::size_t>(width))),
                  part_count);
  auto* const parts = static_cast<float*>(workspace);
  const cudaError_t status = launch(
      wide ? column_parts_kernel<kWidth<T>, T> : column_parts_kernel<1, T>, grid, dim3(32 * kWarps),
      0, stream, parts, dy, x, stats, N, C, static_cast<std::int64_t>(rows_of_part(rows)));
  if (status != cudaSuccess) return status;
  constexpr unsigned kThreads = 64;
  return launch(add_parts_kernel<G>, dim3(static_cast<unsigned>(divide_up(columns, kThreads))),
                dim3(kThreads), 0, stream, weighted, plain, static_cast<const float*>(parts),
                static_cast<std::int64_t>(part_count), C);
}

template <class T, class... Arrays>
bool all_wide(std::int64_t C, const Arrays*... arrays) {
  return (... && rows_are_wide(arrays, static_cast<std::size_t>(C), sizeof(T)));
}

template <bool kLayer, class T>
cudaError_t forward(T* y, float* stats, const T* x, const T* gain, const T* bias, std::int64_t N,
                    std::int64_t C, cudaStream_t stream) {
  if (N == 0) return cudaSuccess;
  const bool wide = all_wide<T>(C, y, x, gain, bias);
  return launch(
      norm_forward_kernel<kLayer, T>, dim3(static_cast<unsigned>(N)),
      dim3(threads_for_row(static_cast<std::size_t>(C), wide ? kWidth<T> : 1, kMostThreads)), 0,
      stream, y, stats, x, gain, bias, N, C, wide);
}
template <bool kLayer, class T>
cudaError_t input_grad(T* dx, const T* dy, const T* x, const T* gain, const float* stats,
                       bool accumulate, std::int64_t N, std::int64_t C, cudaStream_t stream) {
  if (N == 0) return cudaSuccess;
  const bool wide = all_wide<T>(C, dx, dy, x, gain);
  return launch(
      norm_input_grad_kernel<kLayer, T>, dim3(static_cast<unsigned>(N)),
      dim3(threads_for_row(static_cast<std::size_t>(C), wide ? kWidth<T> : 1, kMostThreads)), 0,
      stream, dx, dy, x, gain, stats, accumulate, N, C, wide);
}

}  // namespace

template <class T>
cudaError_t layer_norm_forward(T* y, float* stats, const T* x, const T* gain, const T* bias,
                               std::int64_t N, std::int64_t C, cudaStream_t stream) {
  return forward<true>(y, stats, x, gain, bias, N, C, stream);
}
template <class T>
cudaError_t rms_norm_forward(T* y, float* stats, const T* x, const T* gain, std::int64_t N,
                             std::int64_t C, cudaStream_t stream) {
  return forward<false>(y, stats, x, gain, static_cast<const T*>(nullptr), N, C, stream);
}
template <class T>
cudaError_t layer_norm_input_grad(T* dx, const T* dy, const T* x, const T* gain, const float* stats,
                                  bool accumulate, std::int64_t N, std::int64_t C,
                                  cudaStream_t stream) {
  return input_grad<true>(dx, dy, x, gain, stats, accumulate, N, C, stream);
}
template <class T>
cudaError_t rms_norm_input_grad(T* dx, const T* dy, const T* x, const T* gain, const float* stats,
                                bool accumulate, std::int64_t N, std::int64_t C,
                                cudaStream_t stream) {
  return input_grad<false>(dx, dy, x, gain, stats, accumulate, N, C, stream);
}
template <class G, class T>
cudaError_t norm_weight_grad(G* dgain, G* dbias, const T* dy, const T* x, const float* stats,
                             void* workspace, std::int64_t N, std::int64_t C, cudaStream_t stream) {
  return sum_columns(dgain, dbias, dy, x, stats, workspace, N, C, stream);
}
template <class G, class T>
cudaError_t column_sums(G* sums, const T* rows, void* workspace, std::int64_t N, std::int64_t C,
                        cudaStream_t stream) {
  return sum_columns(static_cast<G*>(nullptr), sums, rows, static_cast<const T*>(nullptr),
                     static_cast<const float*>(nullptr), workspace, N, C, stream);
}

#define PARALLELARIUM_FOR(T)                                                                       \
  template cudaError_t layer_norm_forward(T*, float*, const T*, const T*, const T*, std::int64_t,  \
                                          std::int64_t, cudaStream_t);                             \
  template cudaError_t rms_norm_forward(T*, float*, const T*, const T*, std::int64_t,              \
                                        std::int64_t, cudaStream_t);                               \
  template cudaError_t layer_norm_input_grad(T*, const T*, const T*, const T*, const float*, bool, \
                                             std::int64_t, std::int64_t, cudaStream_t);            \
  template cudaError_t rms_norm_input_grad(T*, const T*, const T*, const T*, const float*, bool,   \
                                           std::int64_t, std::int64_t, cudaStream_t);
#define PARALLELARIUM_SUMS_FOR(G, T)                                                     \
  template cudaError_t norm_weight_grad(G*, G*, const T*, const T*, const float*, void*, \
                                        std::int64_t, std::int64_t, cudaStream_t);       \
  template cudaError_t column_sums(G*, const T*, void*, std::int64_t, std::int64_t, cudaStream_t);
PARALLELARIUM_FOR(float)
PARALLELARIUM_FOR(Bf16)
PARALLELARIUM_SUMS_FOR(float, float)
PARALLELARIUM_SUMS_FOR(float, Bf16)
PARALLELARIUM_SUMS_FOR(Bf16, Bf16)
#undef PARALLELARIUM_FOR
#undef PARALLELARIUM_SUMS_FOR

}  // namespace parallelarium
