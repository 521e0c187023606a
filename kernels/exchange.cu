// SPDX-License-Identifier: Apache-2.0
// What ranks do to memory in a collective: add up, combine and swap.
#include <algorithm>

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

// bf16 is added up in fp32 and rounded once.
template <class T>
__global__ void reduce_kernel(T* target, Parts<T> parts, bool largest, bool adds,
                              std::size_t count) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    auto value = widened(parts.at[0][i]);
    for (int part = 1; part < parts.count; ++part) {
      const auto other = widened(parts.at[part][i]);
      if (!largest)
        value += other;
      else if (value < other)
        value = other;
    }
    target[i] = rounded<T>(adds ? widened(target[i]) + value : value);
  }
}

// As unsigned, which wraps around, where int32 would overflow.
struct Plus {
  template <class N>
  __device__ N operator()(N a, N b) const {
    return a + b;
  }
  __device__ std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
  }
};
struct Times {
  template <class N>
  __device__ N operator()(N a, N b) const {
    return a * b;
  }
  __device__ std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
  }
};
struct Larger {
  template <class N>
  __device__ N operator()(N a, N b) const {
    return a < b ? b : a;
  }
};
struct Smaller {
  template <class N>
  __device__ N operator()(N a, N b) const {
    return b < a ? b : a;
  }
};

template <class T>
struct Combined {
  T* target;
  const T* at[kMostCombined];
  int count;
};

// W elements from `i` on. Requires: every part's and the target's are a multiple of W elements.
template <int W, class T, class Op>
__device__ inline void combine_at(const Combined<T>& all, std::int32_t divisor, Op op,
                                  std::size_t i) {
  const auto pack_of = [&](int part) {
    return *reinterpret_cast<const Pack<T, W>*>(all.at[part] + i);
  };
  const Pack<T, W> first = pack_of(0);
  Wide<T> value[W];
#pragma unroll
  for (int w = 0; w < W; ++w) value[w] = widened(first.at[w]);
  for (int part = 1; part < all.count; ++part) {
    const Pack<T, W> next = pack_of(part);
#pragma unroll
    for (int w = 0; w < W; ++w) value[w] = op(value[w], widened(next.at[w]));
  }
  Pack<T, W> result;
#pragma unroll
  for (int w = 0; w < W; ++w) {
    if (divisor != 1) value[w] = value[w] / static_cast<Wide<T>>(divisor);
    result.at[w] = rounded<T>(value[w]);
  }
  *reinterpret_cast<Pack<T, W>*>(all.target + i) = result;
}

// W at a time, then what is left one by one.
template <int W, class T, class Op>
__global__ void combine_kernel(Combined<T> all, std::int32_t divisor, Op op, std::size_t count) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t packs = count / W;
  for (std::size_t i = first; i < packs; i += stride) combine_at<W>(all, divisor, op, i * W);
  if constexpr (W > 1) {
    for (std::size_t i = packs * W + first; i < count; i += stride)
      combine_at<1>(all, divisor, op, i);
  }
}

template <class T, class Op>
cudaError_t combine_with(const Combined<T>& all, int divisor, Op op, std::size_t count,
                         cudaStream_t stream) {
  const bool wide = is_wide(all.target) && std::all_of(all.at, all.at + all.count, is_wide);
  const std::size_t packs = wide ? divide_up(count, kWidth<T>) : count;
  const auto kernel = wide ? combine_kernel<kWidth<T>, T, Op> : combine_kernel<1, T, Op>;
  return launch(kernel, dim3(blocks_for(packs, kThreads, kMostBlocks)), dim3(kThreads), 0, stream,
                all, divisor, op, count);
}

template <class Word>
__global__ void copy_kernel(Word* to, const Word* from, std::size_t count) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    to[i] = from[i];
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
template cudaError_t reduce(Bf16*, const Bf16* const*, int, bool, bool, std::size_t, cudaStream_t);
template cudaError_t reduce(double*, const double* const*, int, bool, bool, std::size_t,
                            cudaStream_t);

template <class T>
cudaError_t combine(T* target, const T* const* parts, int parts_count, Combine how, int divisor,
                    std::size_t count, cudaStream_t stream) {
  if (parts_count < 1 || parts_count > kMostCombined || divisor < 1) return cudaErrorInvalidValue;
  if (count == 0) return cudaSuccess;
  Combined<T> all{};
  all.target = target;
  all.count = parts_count;
  for (int part = 0; part < parts_count; ++part) all.at[part] = parts[part];
  switch (how) {
    case Combine::kCopy:
      if (target == parts[0]) return cudaSuccess;
      return launch(copy_kernel<T>, dim3(blocks_for(count, kThreads, kMostBlocks)), dim3(kThreads),
                    0, stream, target, parts[0], count);
    case Combine::kSum:
      return combine_with(all, 1, Plus{}, count, stream);
    case Combine::kAverage:
      return combine_with(all, divisor, Plus{}, count, stream);
    case Combine::kLargest:
      return combine_with(all, 1, Larger{}, count, stream);
    case Combine::kSmallest:
      return combine_with(all, 1, Smaller{}, count, stream);
    case Combine::kProduct:
      return combine_with(all, 1, Times{}, count, stream);
  }
  return cudaErrorInvalidValue;
}
template cudaError_t combine(float*, const float* const*, int, Combine, int, std::size_t,
                             cudaStream_t);
template cudaError_t combine(double*, const double* const*, int, Combine, int, std::size_t,
                             cudaStream_t);
template cudaError_t combine(Bf16*, const Bf16* const*, int, Combine, int, std::size_t,
                             cudaStream_t);
template cudaError_t combine(std::int32_t*, const std::int32_t* const*, int, Combine, int,
                             std::size_t, cudaStream_t);

cudaError_t swap_bytes(void* a, void* b, std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  const std::uintptr_t mixed =
      reinterpret_cast<std::uintptr_t>(a) | reinterpret_cast<std::uintptr_t>(b) | bytes;
  return mixed % sizeof(std::uint32_t) == 0 ? swap_words<std::uint32_t>(a, b, bytes, stream)
                                            : swap_words<unsigned char>(a, b, bytes, stream);
}

}  // namespace parallelarium
