// SPDX-License-Identifier: Apache-2.0
// The softmax of unfused attention and its gradient: one block for each row of scores, of which
// only the part left of the diagonal is read.
#include "kernels/base/vector.cuh"
#include "kernels/gpu.h"

namespace parallelarium {
namespace {

constexpr unsigned kMostThreads = 128;

template <class T>
__global__ void __launch_bounds__(kMostThreads)
    causal_softmax_kernel(T* scores, std::int64_t rows, std::int64_t length) {
  __shared__ float shared[kMostThreads / 32];
  for (std::int64_t n = blockIdx.x; n < rows; n += gridDim.x) {
    T* row = scores + n * length;
    const std::int64_t seen = n % length + 1;
    float largest = widened(row[0]);
    for_columns_of(row, seen, [&](std::int64_t j, auto width) {
      const auto values = load<decltype(width)::value>(row + j);
      for (const float value : values.at) largest = Largest{}(largest, value);
    });
    largest = over_block(largest, shared, Largest{});
    float sum = 0;
    for_columns_of(row, seen, [&](std::int64_t j, auto width) {
      const auto values = load<decltype(width)::value>(row + j);
      for (const float value : values.at) sum += __expf(value - largest);
    });
    const float inverse = 1.0F / over_block(sum, shared, Sum{});
    for_columns_of(row, length, [&](std::int64_t j, auto width) {
      constexpr int W = decltype(width)::value;
      Floats<W> values{};
      if (j < seen) values = load<W>(row + j);
#pragma unroll
      for (int i = 0; i < W; ++i)
        values.at[i] = j + i < seen ? __expf(values.at[i] - largest) * inverse : 0.0F;
      store(row + j, values);
    });
  }
}

template <class T>
__global__ void __launch_bounds__(kMostThreads)
    causal_softmax_grad_kernel(T* grad, const T* probabilities, std::int64_t step, float scale,
                               std::int64_t rows, std::int64_t length, bool wide) {
  __shared__ float shared[kMostThreads / 32];
  for (std::int64_t n = blockIdx.x; n < rows; n += gridDim.x) {
    T* g = grad + n * length;
    const T* p = probabilities + n / length * step + n % length * length;
    const std::int64_t seen = n % length + 1;
    float dot = 0;
    // Probabilities right of the diagonal are zero, so reading a few of them does no harm; but what
    // stands there in grad is nothing the caller promised.
    for_columns<kWidth<T>>(seen, wide, [&](std::int64_t j, auto width) {
      constexpr int W = decltype(width)::value;
      const auto d = load<W>(g + j);
      const auto values = load<W>(p + j);
#pragma unroll
      for (int i = 0; i < W; ++i) dot += j + i < seen ? d.at[i] * values.at[i] : 0.0F;
    });
    dot = over_block(dot, shared, Sum{});
    for_columns<kWidth<T>>(length, wide, [&](std::int64_t j, auto width) {
      constexpr int W = decltype(width)::value;
      Floats<W> out{};
      if (j < seen) {
        const auto d = load<W>(g + j);
        const auto values = load<W>(p + j);
#pragma unroll
        for (int i = 0; i < W; ++i)
          out.at[i] = j + i < seen ? values.at[i] * (d.at[i] - dot) * scale : 0.0F;
      }
      store(g + j, out);
    });
  }
}

dim3 a_block_each(std::int64_t rows) {
  return dim3(blocks_for(static_cast<std::size_t>(rows), 1, std::size_t{1} << 30));
}

}  // namespace

template <class T>
cudaError_t causal_softmax(T* scores, std::int64_t heads, std::int64_t length,
                           cudaStream_t stream) {
  if (heads * length == 0) return cudaSuccess;
  return launch(causal_softmax_kernel<T>, a_block_each(heads * length),
                dim3(threads_for_row(static_cast<std::size_t>(length), kWidth<T>, kMostThreads)), 0,
                stream, scores, heads * length, length);
}
template <class T>
cudaError_t causal_softmax_grad(T* grad, const T* probabilities, std::int64_t step, float scale,
                                std::int64_t heads, std::int64_t length, cudaStream_t stream) {
  if (heads * length == 0) return cudaSuccess;
  const auto columns = static_cast<std::size_t>(length);
  const bool wide =
      rows_are_wide(grad, columns, sizeof(T)) && rows_are_wide(probabilities, columns, sizeof(T));
  return launch(causal_softmax_grad_kernel<T>, a_block_each(heads * length),
                dim3(threads_for_row(columns, wide ? kWidth<T> : 1, kMostThreads)), 0, stream, grad,
                probabilities, step, scale, heads * length, length, wide);
}

#define PARALLELARIUM_FOR(T)                                                                \
  template cudaError_t causal_softmax(T*, std::int64_t, std::int64_t, cudaStream_t);        \
  template cudaError_t causal_softmax_grad(T*, const T*, std::int64_t, float, std::int64_t, \
                                           std::int64_t, cudaStream_t);
PARALLELARIUM_FOR(float)
PARALLELARIUM_FOR(Bf16)
#undef PARALLELARIUM_FOR

}  // namespace parallelarium
