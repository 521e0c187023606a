// SPDX-License-Identifier: Apache-2.0
// What ranks that see each other's memory do to it in a collective: add up and swap.
#include "kernels/gpu.h"
#include "kernels/vector.cuh"

namespace parallelarium {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::size_t kMostBlocks = 4096;

template <class T>
struct Parts {
  const T* at[kMostReduced];
  int count;
};

template <class T>
__global__ void reduce_kernel(T* target, Parts<T> parts, bool largest, bool adds,
                              std::size_t count) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    T value = parts.at[0][i];
    for (int part = 1; part < parts.count; ++part) {
      const T other = parts.at[part][i];
      if (!largest)
        value += other;
      else if (value < other)
        value = other;
    }
    target[i] = adds ? target[i] + value : value;
  }
}

template <class Word>
__global__ void swap_kernel(Word* a, Word* b, std::size_t count) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    const Word kept = a[i];
    a[i] = b[i];
    b[i] = kept;
  }
}

template <class Word>
cudaError_t swap_words(void* a, void* b, std::size_t bytes, cudaStream_t stream) {
  const std::size_t count = bytes / sizeof(Word);
  return launch(swap_kernel<Word>, dim3(blocks_for(count, kThreads, kMostBlocks)), dim3(kThreads),
                0, stream, static_cast<Word*>(a), static_cast<Word*>(b), count);
}

}  // namespace

template <class T>
cudaError_t reduce(T* target, const T* const* parts, int parts_count, bool largest, bool adds,
                   std::size_t count, cudaStream_t stream) {
  if (parts_count < 1 || parts_count > kMostReduced) return cudaErrorInvalidValue;
  if (count == 0) return cudaSuccess;
  Parts<T> all{};
  all.count = parts_count;
  for (int part = 0; part < parts_count; ++part) all.at[part] = parts[part];
  return launch(reduce_kernel<T>, dim3(blocks_for(count, kThreads, kMostBlocks)), dim3(kThreads), 0,
                stream, target, all, largest, adds, count);
}
template cudaError_t reduce(float*, const float* const*, int, bool, bool, std::size_t,
                            cudaStream_t);
template cudaError_t reduce(double*, const double* const*, int, bool, bool, std::size_t,
                            cudaStream_t);

cudaError_t swap_bytes(void* a, void* b, std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  const std::uintptr_t mixed =
      reinterpret_cast<std::uintptr_t>(a) | reinterpret_cast<std::uintptr_t>(b) | bytes;
  return mixed % sizeof(std::uint32_t) == 0 ? swap_words<std::uint32_t>(a, b, bytes, stream)
                                            : swap_words<unsigned char>(a, b, bytes, stream);
}

}  // namespace parallelarium
