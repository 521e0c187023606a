// SPDX-License-Identifier: Apache-2.0
// The "reduce" of reduce-scatter: adds a received chunk into the local one.
// Memory-bound, so the only aim is to keep loads wide and coalesced.
#include <algorithm>

#include "kernels/accumulate_cuda.h"

namespace parallelarium {
namespace {

constexpr int kThreads = 256;
constexpr std::size_t kMaxBlocks = 1024;  // the grid-stride loop covers the rest

__global__ void accumulate_kernel(float* __restrict__ sum, const float* __restrict__ part,
                                  std::size_t count) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    sum[i] += part[i];
}

}  // namespace

cudaError_t accumulate(float* sum, const float* part, std::size_t count, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;  // a launch of zero blocks is an error
  const auto blocks =
      static_cast<unsigned>(std::min((count + kThreads - 1) / kThreads, kMaxBlocks));
  accumulate_kernel<<<blocks, kThreads, 0, stream>>>(sum, part, count);
  return cudaGetLastError();
}

}  // namespace parallelarium
