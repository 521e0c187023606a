// SPDX-License-Identifier: Apache-2.0
// Every element of a mask is a function of its number, so threads share nothing. Memory-bound: 16
// bytes per access, and one draw for the four elements that share it.
#include "kernels/base/vector.cuh"
#include "kernels/gpu.h"

namespace parallelarium {
namespace {

constexpr unsigned kDropThreads = 256;
constexpr std::size_t kMostDropBlocks = 4096;  // the loop over the grid covers the rest

// The masks of W elements from number `first` on. Both must be multiples of 4, or W must be 1.
template <int W>
__device__ inline Pack<std::uint8_t, W> draw(const Dropout& dropout, std::int64_t first) {
  Pack<std::uint8_t, W> mask;
  if constexpr (W == 1) {
    mask.at[0] = dropout.keeps(first) ? 1 : 0;
  } else {
#pragma unroll
    for (int i = 0; i < W; i += 4) {
      const std::uint64_t bits =
          random_bits(dropout.key, static_cast<std::uint64_t>(first + i) >> 2);
#pragma unroll
      for (int j = 0; j < 4; ++j)
        mask.at[i + j] = (bits >> (16 * j) & 0xffff) >= dropout.threshold ? 1 : 0;
    }
  }
  return mask;
}

template <int W>
__device__ inline void scale_kept(Floats<W>& values, const Pack<std::uint8_t, W>& mask,
                                  float scale) {
#pragma unroll
  for (int i = 0; i < W; ++i) values.at[i] = mask.at[i] != 0 ? values.at[i] * scale : 0.0F;
}

template <class T>
__global__ void dropout_residual_kernel(T* out, std::uint8_t* mask, const T* stream,
                                        const T* branch, Dropout dropout, std::int64_t first,
                                        std::size_t count, bool wide) {
  for_elements<kWidth<T>>(count, wide, [&](std::size_t at, auto width) {
    constexpr int W = decltype(width)::value;
    const auto kept = draw<W>(dropout, first + static_cast<std::int64_t>(at));
    auto sum = load<W>(stream + at);
    auto added = load<W>(branch + at);
    scale_kept(added, kept, dropout.scale);
#pragma unroll
    for (int i = 0; i < W; ++i) sum.at[i] += added.at[i];
    store(out + at, sum);
    store_pack(mask + at, kept);
  });
}

template <class T>
__global__ void dropout_grad_kernel(T* dbranch, const T* dx, const std::uint8_t* mask, float scale,
                                    std::size_t count, bool wide) {
  for_elements<kWidth<T>>(count, wide, [&](std::size_t at, auto width) {
    constexpr int W = decltype(width)::value;
    auto grads = load<W>(dx + at);
    scale_kept(grads, load_pack<W>(mask + at), scale);
    store(dbranch + at, grads);
  });
}

// A block for each row, blockIdx.x = (b, h, query).
template <class T>
__global__ void dropout_probabilities_kernel(T* dropped, std::uint8_t* mask, const T* probabilities,
                                             AttentionDropout dropout, unsigned heads,
                                             unsigned length, bool wide) {
  const unsigned query = blockIdx.x % length;
  const unsigned head = blockIdx.x / length;
  const std::int64_t first = dropout.row(head / heads, head % heads, query);
  const std::int64_t row = std::int64_t{blockIdx.x} * length;
  for_columns<kWidth<T>>(length, wide, [&](std::int64_t j, auto width) {
    constexpr int W = decltype(width)::value;
    Pack<std::uint8_t, W> kept{};
    Floats<W> values{};
    if (j <= query) {
      kept = draw<W>(dropout.dropout, first + j);
      values = load<W>(probabilities + row + j);
#pragma unroll
      for (int i = 0; i < W; ++i)
        if (j + i > query) kept.at[i] = 0;
      scale_kept(values, kept, dropout.dropout.scale);
    }
    store(dropped + row + j, values);
    store_pack(mask + row + j, kept);
  });
}

template <class T>
bool masks_are_wide(const std::uint8_t* mask) {
  return reinterpret_cast<std::uintptr_t>(mask) % kWidth<T> == 0;
}
template <class T>
dim3 grid_of(std::size_t count) {
  return dim3(blocks_for(count, kDropThreads * kWidth<T>, kMostDropBlocks));
}

}  // namespace

template <class T>
cudaError_t dropout_residual(T* out, std::uint8_t* mask, const T* stream_in, const T* branch,
                             const Dropout& dropout, std::int64_t first, std::size_t count,
                             cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const bool wide = is_wide(out) && is_wide(stream_in) && is_wide(branch) &&
                    masks_are_wide<T>(mask) && first % 4 == 0;
  return launch(dropout_residual_kernel<T>, grid_of<T>(count), dim3(kDropThreads), 0, stream, out,
                mask, stream_in, branch, dropout, first, count, wide);
}
template <class T>
cudaError_t dropout_grad(T* dbranch, const T* dx, const std::uint8_t* mask, float scale,
                         std::size_t count, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const bool wide = is_wide(dbranch) && is_wide(dx) && masks_are_wide<T>(mask);
  return launch(dropout_grad_kernel<T>, grid_of<T>(count), dim3(kDropThreads), 0, stream, dbranch,
                dx, mask, scale, count, wide);
}
template <class T>
cudaError_t dropout_probabilities(T* dropped, std::uint8_t* mask, const T* probabilities,
                                  const AttentionDropout& dropout, const AttentionShape& shape,
                                  cudaStream_t stream) {
  const std::int64_t rows = shape.B * shape.H * shape.T;
  if (rows == 0) return cudaSuccess;
  const auto length = static_cast<std::size_t>(shape.T);
  const bool wide = rows_are_wide(dropped, length, sizeof(T)) &&
                    rows_are_wide(probabilities, length, sizeof(T)) && masks_are_wide<T>(mask) &&
                    dropout.sequence % 4 == 0;
  return launch(dropout_probabilities_kernel<T>, dim3(static_cast<unsigned>(rows)),
                dim3(threads_for_row(length, wide ? kWidth<T> : 1, kDropThreads)), 0, stream,
                dropped, mask, probabilities, dropout, static_cast<unsigned>(shape.H),
                static_cast<unsigned>(shape.T), wide);
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
