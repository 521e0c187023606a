// SPDX-License-Identifier: Apache-2.0
// What ranks do to memory in a collective: add up, combine and swap.
// Memory-bound: 16 bytes per access where addresses allow.
#include <algorithm>

#include "kernels/base/vector.cuh"
#include "kernels/gpu.h"

namespace parallelarium {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::size_t kMostBlocks = 4096;

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

// bf16 is combined in fp32 and rounded once.
template <class T, class Op>
__global__ void combine_kernel(Combined<T> all, std::int32_t divisor, Op op, std::size_t count,
                               bool wide) {
  for_elements<kWidth<T>>(count, wide, [&](std::size_t at, auto width) {
    constexpr int W = decltype(width)::value;
    auto value = load<W>(all.at[0] + at);
    for (int part = 1; part < all.count; ++part) {
      const auto next = load<W>(all.at[part] + at);
#pragma unroll
      for (int i = 0; i < W; ++i) value.at[i] = op(value.at[i], next.at[i]);
    }
    if (divisor != 1) {
#pragma unroll
      for (int i = 0; i < W; ++i) value.at[i] = value.at[i] / static_cast<Wide<T>>(divisor);
    }
    store(all.target + at, value);
  });
}

template <class T, class Op>
cudaError_t combine_with(const Combined<T>& all, int divisor, Op op, std::size_t count,
                         cudaStream_t stream) {
  const bool wide = is_wide(all.target) && std::all_of(all.at, all.at + all.count, is_wide);
  const std::size_t per_block = kThreads * static_cast<std::size_t>(wide ? kWidth<T> : 1);
  return launch(combine_kernel<T, Op>, dim3(blocks_for(count, per_block, kMostBlocks)),
                dim3(kThreads), 0, stream, all, divisor, op, count, wide);
}

template <int kBytes>
__global__ void swap_kernel(unsigned char* a, unsigned char* b, std::size_t bytes) {
  for_elements<kBytes>(bytes, true, [&](std::size_t at, auto width) {
    constexpr int W = decltype(width)::value;
    const auto kept = load_pack<W>(a + at);
    store_pack(a + at, load_pack<W>(b + at));
    store_pack(b + at, kept);
  });
}

template <int kBytes>
cudaError_t swap_by(void* a, void* b, std::size_t bytes, cudaStream_t stream) {
  return launch(swap_kernel<kBytes>, dim3(blocks_for(bytes, kThreads * kBytes, kMostBlocks)),
                dim3(kThreads), 0, stream, static_cast<unsigned char*>(a),
                static_cast<unsigned char*>(b), bytes);
}

}  // namespace

template <class T>
cudaError_t combine(T* target, const T* const* parts, int parts_count, Combine how, int divisor,
                    std::size_t count, cudaStream_t stream) {
  if (parts_count < 1 || parts_count > kMostCombined || divisor < 1) return cudaErrorInvalidValue;
  if (count == 0) return cudaSuccess;
  Combined<T> all{};
  all.target = target;
  all.count = parts_count;
  std::copy_n(parts, parts_count, all.at);
  switch (how) {
    case Combine::kCopy:
      if (target == parts[0]) return cudaSuccess;
      return cudaMemcpyAsync(target, parts[0], count * sizeof(T), cudaMemcpyDefault, stream);
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
      reinterpret_cast<std::uintptr_t>(a) | reinterpret_cast<std::uintptr_t>(b);
  if (mixed % 16 == 0) return swap_by<16>(a, b, bytes, stream);
  return mixed % 4 == 0 ? swap_by<4>(a, b, bytes, stream) : swap_by<1>(a, b, bytes, stream);
}

}  // namespace parallelarium
