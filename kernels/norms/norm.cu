// SPDX-License-Identifier: Apache-2.0
// A warp for each token where its registers hold the row, else a block. A block reads a row two or
// three times; only the first time comes from device memory, the others from the cache that the
// block has to itself.
#include "kernels/base/vector.cuh"
#include "kernels/gpu.h"
#include "kernels/norms/norm.h"

namespace parallelarium {
namespace {

constexpr unsigned kMostThreads = 256;

// The largest row of a warp, in packs of 16 bytes: the lane's are 32 packs apart.
constexpr std::int64_t kWarpColumns = 1024;
constexpr unsigned kWarps = 8;  // of a block
template <class T>
constexpr int kLanePacks = kWarpColumns / (32 * kWidth<T>);
// As words: of 16-bit numbers nvcc would take each pack apart before it asks for the next.
template <class T>
struct LaneRow {
  using Packed = Pack<T, kWidth<T>>;
  Words<Packed> at[kLanePacks<T>];
  __device__ Floats<kWidth<T>> values(int pack) const {
    return widened(std::bit_cast<Packed>(at[pack]));
  }
};

// Calls body(pack, column) for the lane's packs of a row.
template <class T, class Body>
__device__ inline void for_lane_packs(std::int64_t C, const Body& body) {
#pragma unroll
  for (int pack = 0; pack < kLanePacks<T>; ++pack) {
    const int c = (pack * 32 + static_cast<int>(threadIdx.x) % 32) * kWidth<T>;
    if (c < C) body(pack, c);
  }
}
// All packs at once: those beyond the row are its last one, and nobody looks at them.
template <class T>
__device__ inline LaneRow<T> load_row(const T* row, std::int64_t C) {
  using Word = typename Words<typename LaneRow<T>::Packed>::Word;
  const int last = static_cast<int>(C) - kWidth<T>;
  LaneRow<T> packs;
#pragma unroll
  for (int pack = 0; pack < kLanePacks<T>; ++pack) {
    const int c = (pack * 32 + static_cast<int>(threadIdx.x) % 32) * kWidth<T>;
    packs.at[pack].at[0] = *reinterpret_cast<const Word*>(row + (c < last ? c : last));
  }
  return packs;
}
__device__ inline std::int64_t token_of_warp() {
  return std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
}

template <bool kLayer, class T>
__global__ void __launch_bounds__(32 * kWarps)
    norm_forward_by_warps_kernel(T* y, float* stats, const T* x, const T* gain, const T* bias,
                                 std::int64_t N, std::int64_t C) {
  constexpr int W = kWidth<T>;
  const std::int64_t n = token_of_warp();
  if (n >= N) return;
  const auto channels = static_cast<float>(C);
  const LaneRow<T> row = load_row(x + n * C, C);
  float mean = 0;
  if constexpr (kLayer) {
    float sum = 0;
    for_lane_packs<T>(C, [&](int pack, int) {
      const auto values = row.values(pack);
      for (const float value : values.at) sum += value;
    });
    mean = over_warp(sum, Sum{}) / channels;
  }
  float squares = 0;
  for_lane_packs<T>(C, [&](int pack, int) {
    const auto values = row.values(pack);
    for (const float value : values.at) squares += (value - mean) * (value - mean);
  });
  const float rstd = 1.0F / sqrtf(over_warp(squares, Sum{}) / channels + kNormEpsilon);
  for_lane_packs<T>(C, [&](int pack, int c) {
    auto values = row.values(pack);
    const auto gains = load<W>(gain + c);
    Floats<W> biases{};
    if (bias != nullptr) biases = load<W>(bias + c);
#pragma unroll
    for (int i = 0; i < W; ++i)
      values.at[i] = (values.at[i] - mean) * rstd * gains.at[i] + biases.at[i];
    store(y + n * C + c, values);
  });
  if (threadIdx.x % 32 == 0) {
    stats[n] = mean;
    stats[N + n] = rstd;
  }
}

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

template <bool kLayer, class T>
__global__ void __launch_bounds__(32 * kWarps)
    norm_input_grad_by_warps_kernel(T* dx, const T* dy, const T* x, const T* gain,
                                    const float* stats, bool accumulate, std::int64_t N,
                                    std::int64_t C) {
  constexpr int W = kWidth<T>;
  const std::int64_t n = token_of_warp();
  if (n >= N) return;
  const auto channels = static_cast<float>(C);
  const LaneRow<T> row = load_row(x + n * C, C);
  const LaneRow<T> grad = load_row(dy + n * C, C);
  LaneRow<T> before;
  if (accumulate) {
    before = load_row(dx + n * C, C);
    __syncwarp();  // lanes beyond the row have read what another is to write
  }
  const float mean = stats[n];
  const float rstd = stats[N + n];
  float sum = 0;
  float dot = 0;
  for_lane_packs<T>(C, [&](int pack, int c) {
    const auto values = row.values(pack);
    const auto grads = grad.values(pack);
    const auto gains = load<W>(gain + c);
#pragma unroll
    for (int i = 0; i < W; ++i) {
      const float d = grads.at[i] * gains.at[i];
      sum += d;
      dot += d * (values.at[i] - mean);
    }
  });
  const float mean_d = kLayer ? over_warp(sum, Sum{}) / channels : 0.0F;
  const float factor = over_warp(dot, Sum{}) * rstd * rstd / channels;
  for_lane_packs<T>(C, [&](int pack, int c) {
    const auto values = row.values(pack);
    const auto grads = grad.values(pack);
    const auto gains = load<W>(gain + c);
    Floats<W> out{};
    if (accumulate) out = before.values(pack);
#pragma unroll
    for (int i = 0; i < W; ++i)
      out.at[i] += rstd * (grads.at[i] * gains.at[i] - mean_d - (values.at[i] - mean) * factor);
    store(dx + n * C + c, out);
  });
}

template <class T, class... Arrays>
bool all_wide(std::int64_t C, const Arrays*... arrays) {
  return (... && rows_are_wide(arrays, static_cast<std::size_t>(C), sizeof(T)));
}

dim3 a_warp_each(std::int64_t N) {
  return dim3(static_cast<unsigned>(divide_up(static_cast<std::size_t>(N), kWarps)));
}

template <bool kLayer, class T>
cudaError_t forward(T* y, float* stats, const T* x, const T* gain, const T* bias, std::int64_t N,
                    std::int64_t C, cudaStream_t stream) {
  if (N == 0) return cudaSuccess;
  const bool wide = all_wide<T>(C, y, x, gain, bias);
  if (wide && C <= kWarpColumns)
    return launch(norm_forward_by_warps_kernel<kLayer, T>, a_warp_each(N), dim3(32 * kWarps), 0,
                  stream, y, stats, x, gain, bias, N, C);
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
  if (wide && C <= kWarpColumns)
    return launch(norm_input_grad_by_warps_kernel<kLayer, T>, a_warp_each(N), dim3(32 * kWarps), 0,
                  stream, dx, dy, x, gain, stats, accumulate, N, C);
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

#define PARALLELARIUM_FOR(T)                                                                       \
  template cudaError_t layer_norm_forward(T*, float*, const T*, const T*, const T*, std::int64_t,  \
                                          std::int64_t, cudaStream_t);                             \
  template cudaError_t rms_norm_forward(T*, float*, const T*, const T*, std::int64_t,              \
                                        std::int64_t, cudaStream_t);                               \
  template cudaError_t layer_norm_input_grad(T*, const T*, const T*, const T*, const float*, bool, \
                                             std::int64_t, std::int64_t, cudaStream_t);            \
  template cudaError_t rms_norm_input_grad(T*, const T*, const T*, const T*, const float*, bool,   \
                                           std::int64_t, std::int64_t, cudaStream_t);
PARALLELARIUM_FOR(float)
PARALLELARIUM_FOR(Bf16)
#undef PARALLELARIUM_FOR

}  // namespace parallelarium
