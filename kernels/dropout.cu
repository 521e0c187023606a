// SPDX-License-Identifier: Apache-2.0
// Every element of a mask is a function of its number, so threads share nothing.
#include "kernels/gpu.h"
#include "kernels/vector.cuh"

namespace parallelarium {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::size_t kMostBlocks = 4096;  // the loop over the grid covers the rest

template <class Body>
__device__ inline void for_elements(std::size_t count, const Body& body) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    body(i);
}
dim3 grid_of(std::size_t count) { return dim3(blocks_for(count, kThreads, kMostBlocks)); }

template <class T>
__global__ void dropout_residual_kernel(T* out, std::uint8_t* mask, const T* stream,
                                        const T* branch, Dropout dropout, std::int64_t first,
                                        std::size_t count) {
  for_elements(count, [&](std::size_t i) {
    const bool kept = dropout.keeps(first + static_cast<std::int64_t>(i));
    mask[i] = kept ? 1 : 0;
    const float added = kept ? widened(branch[i]) * dropout.scale : 0.0F;
    out[i] = rounded<T>(widened(stream[i]) + added);
  });
}

template <class T>
__global__ void dropout_grad_kernel(T* dbranch, const T* dx, const std::uint8_t* mask, float scale,
                                    std::size_t count) {
  for_elements(count, [&](std::size_t i) {
    dbranch[i] = rounded<T>(mask[i] != 0 ? widened(dx[i]) * scale : 0.0F);
  });
}

template <class T>
__global__ void dropout_probabilities_kernel(T* dropped, std::uint8_t* mask, const T* probabilities,
                                             AttentionDropout dropout, std::int64_t heads,
                                             std::int64_t length, std::size_t count) {
  for_elements(count, [&](std::size_t i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t j = at % length, query = at / length % length;
    const std::int64_t head = at / length / length;
    const std::int64_t first = dropout.row(head / heads, head % heads, query);
    const bool kept = j <= query && dropout.dropout.keeps(first + j);
    mask[i] = kept ? 1 : 0;
    dropped[i] = rounded<T>(kept ? widened(probabilities[i]) * dropout.dropout.scale : 0.0F);
  });
}

}  // namespace

template <class T>
cudaError_t dropout_residual(T* out, std::uint8_t* mask, const T* stream_in, const T* branch,
                             const Dropout& dropout, std::int64_t first, std::size_t count,
                             cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  return launch(dropout_residual_kernel<T>, grid_of(count), dim3(kThreads), 0, stream, out, mask,
                stream_in, branch, dropout, first, count);
}
template <class T>
cudaError_t dropout_grad(T* dbranch, const T* dx, const std::uint8_t* mask, float scale,
                         std::size_t count, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  return launch(dropout_grad_kernel<T>, grid_of(count), dim3(kThreads), 0, stream, dbranch, dx,
                mask, scale, count);
}
template <class T>
cudaError_t dropout_probabilities(T* dropped, std::uint8_t* mask, const T* probabilities,
                                  const AttentionDropout& dropout, const AttentionShape& shape,
                                  cudaStream_t stream) {
  const auto count = static_cast<std::size_t>(shape.B * shape.H * shape.T * shape.T);
  if (count == 0) return cudaSuccess;
  return launch(dropout_probabilities_kernel<T>, grid_of(count), dim3(kThreads), 0, stream, dropped,
                mask, probabilities, dropout, shape.H, shape.T, count);
}

#define PARALLELARIUM_FOR(T)                                                                       \
  template cudaError_t dropout_residual(T*, std::uint8_t*, const T*, const T*, const Dropout&,     \
                                        std::int64_t, std::size_t, cudaStream_t);                  \
  template cudaError_t dropout_grad(T*, const T*, const std::uint8_t*, float, std::size_t,         \
                                    cudaStream_t);                                                 \
  template cudaError_t dropout_probabilities(T*, std::uint8_t*, const T*, const AttentionDropout&, \
                                             const AttentionShape&, cudaStream_t);
PARALLELARIUM_FOR(float)
PARALLELARIUM_FOR(Bf16)
#undef PARALLELARIUM_FOR

}  // namespace parallelarium
