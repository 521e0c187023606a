// SPDX-License-Identifier: Apache-2.0
// Rows between tokens and experts. A block works on one token, so what goes to several experts is
// read once, and what comes from several is added in the order of the choices. Memory-bound: 16
// bytes per access where rows begin at multiples of 16.
#include "kernels/base/vector.cuh"
#include "kernels/gpu.h"

namespace parallelarium {
namespace {

constexpr unsigned kMostThreads = 256;

template <class T>
__global__ void dispatch_rows_kernel(T* rows, const T* y, const std::int32_t* row_of,
                                     std::int64_t k, std::int64_t C, bool wide) {
  const std::int64_t n = blockIdx.x;
  for_columns<kWidth<T>>(C, wide, [&](std::int64_t c, auto width) {
    constexpr int W = decltype(width)::value;
    const auto pack = load_pack<W>(y + n * C + c);
    for (std::int64_t i = n * k; i < (n + 1) * k; ++i)
      if (row_of[i] >= 0) store_pack(rows + row_of[i] * C + c, pack);
  });
}

template <class T>
__global__ void dispatch_rows_grad_kernel(T* dy, const T* drows, const std::int32_t* row_of,
                                          bool adds, std::int64_t k, std::int64_t C, bool wide) {
  const std::int64_t n = blockIdx.x;
  for_columns<kWidth<T>>(C, wide, [&](std::int64_t c, auto width) {
    constexpr int W = decltype(width)::value;
    Floats<W> sum{};
    if (adds) sum = load<W>(dy + n * C + c);
    for (std::int64_t i = n * k; i < (n + 1) * k; ++i) {
      if (row_of[i] < 0) continue;
      const auto part = load<W>(drows + row_of[i] * C + c);
#pragma unroll
      for (int w = 0; w < W; ++w) sum.at[w] += part.at[w];
    }
    store(dy + n * C + c, sum);
  });
}

template <class T>
__global__ void combine_rows_kernel(T* out, const T* rows, const float* gates, const T* shared,
                                    const std::int32_t* row_of, std::int64_t k, std::int64_t C,
                                    bool wide) {
  const std::int64_t n = blockIdx.x;
  for_columns<kWidth<T>>(C, wide, [&](std::int64_t c, auto width) {
    constexpr int W = decltype(width)::value;
    Floats<W> sum{};
    if (shared != nullptr) sum = load<W>(shared + n * C + c);
    for (std::int64_t i = n * k; i < (n + 1) * k; ++i) {
      if (row_of[i] < 0) continue;
      const float gate = gates[i];
      const auto part = load<W>(rows + row_of[i] * C + c);
#pragma unroll
      for (int w = 0; w < W; ++w) sum.at[w] += gate * part.at[w];
    }
    store(out + n * C + c, sum);
  });
}

template <class T>
__global__ void combine_rows_grad_kernel(T* drows, float* dgates, const T* dout, const T* rows,
                                         const float* gates, const std::int32_t* row_of,
                                         std::int64_t k, std::int64_t C, bool wide) {
  __shared__ float of_warps[kMostThreads / 32];
  const std::int64_t n = blockIdx.x;
  for (std::int64_t i = n * k; i < (n + 1) * k; ++i) {
    float dot = 0;
    if (row_of[i] >= 0) {
      const float gate = gates[i];
      for_columns<kWidth<T>>(C, wide, [&](std::int64_t c, auto width) {
        constexpr int W = decltype(width)::value;
        auto grad = load<W>(dout + n * C + c);
        const auto value = load<W>(rows + row_of[i] * C + c);
#pragma unroll
        for (int w = 0; w < W; ++w) {
          dot += grad.at[w] * value.at[w];
          grad.at[w] *= gate;
        }
        store(drows + row_of[i] * C + c, grad);
      });
      dot = over_block(dot, of_warps, Sum{});
    }
    if (threadIdx.x == 0) dgates[i] = dot;
  }
}

// Puts a kernel that works on a token with each block on the stream; it learns last whether all of
// `arrays` have wide rows.
template <class T, class... Parameters, class... Arguments>
cudaError_t launch_tokens(void (*kernel)(Parameters...), std::initializer_list<const T*> arrays,
                          std::int64_t N, std::int64_t C, cudaStream_t stream,
                          Arguments... arguments) {
  if (N == 0 || C == 0) return cudaSuccess;
  const auto columns = static_cast<std::size_t>(C);
  const bool wide = std::all_of(arrays.begin(), arrays.end(), [&](const T* array) {
    return rows_are_wide(array, columns, sizeof(T));
  });
  return launch(kernel, dim3(static_cast<unsigned>(N)),
                dim3(threads_for_row(columns, wide ? kWidth<T> : 1, kMostThreads)), 0, stream,
                arguments..., C, wide);
}

}  // namespace

template <class T>
cudaError_t dispatch_rows(T* rows, const T* y, const std::int32_t* routes, std::int64_t N,
                          std::int64_t k, std::int64_t C, cudaStream_t stream) {
  return launch_tokens<T>(dispatch_rows_kernel<T>, {rows, y}, N, C, stream, rows, y,
                          routes + rows_at(N, k), k);
}
template <class T>
cudaError_t dispatch_rows_grad(T* dy, const T* drows, const std::int32_t* routes, bool adds,
                               std::int64_t N, std::int64_t k, std::int64_t C,
                               cudaStream_t stream) {
  return launch_tokens<T>(dispatch_rows_grad_kernel<T>, {dy, drows}, N, C, stream, dy, drows,
                          routes + rows_at(N, k), adds, k);
}
template <class T>
cudaError_t combine_rows(T* out, const T* rows, const float* gates, const T* shared,
                         const std::int32_t* routes, std::int64_t N, std::int64_t k, std::int64_t C,
                         cudaStream_t stream) {
  return launch_tokens<T>(combine_rows_kernel<T>, {out, rows, shared}, N, C, stream, out, rows,
                          gates, shared, routes + rows_at(N, k), k);
}
template <class T>
cudaError_t combine_rows_grad(T* drows, float* dgates, const T* dout, const T* rows,
                              const float* gates, const std::int32_t* routes, std::int64_t N,
                              std::int64_t k, std::int64_t C, cudaStream_t stream) {
  return launch_tokens<T>(combine_rows_grad_kernel<T>, {drows, dout, rows}, N, C, stream, drows,
                          dgates, dout, rows, gates, routes + rows_at(N, k), k);
}

#define PARALLELARIUM_FOR(T)                                                                     \
  template cudaError_t dispatch_rows(T*, const T*, const std::int32_t*, std::int64_t,            \
                                     std::int64_t, std::int64_t, cudaStream_t);                  \
  template cudaError_t dispatch_rows_grad(T*, const T*, const std::int32_t*, bool, std::int64_t, \
                                          std::int64_t, std::int64_t, cudaStream_t);             \
  template cudaError_t combine_rows(T*, const T*, const float*, const T*, const std::int32_t*,   \
                                    std::int64_t, std::int64_t, std::int64_t, cudaStream_t);     \
  template cudaError_t combine_rows_grad(T*, float*, const T*, const T*, const float*,           \
                                         const std::int32_t*, std::int64_t, std::int64_t,        \
                                         std::int64_t, cudaStream_t);
PARALLELARIUM_FOR(float)
PARALLELARIUM_FOR(Bf16)
#undef PARALLELARIUM_FOR

}  // namespace parallelarium
