// SPDX-License-Identifier: Apache-2.0
// bf16 to FP8 with the scale of the whole tensor, as it lies or turned. Memory-bound: the tensor is
// read once for its largest number and once for its copy.
#include <type_traits>

#include "kernels/base/fp8.h"
#include "kernels/base/vector.cuh"
#include "kernels/gpu.h"
#include "kernels/products/fp8_linear.h"

namespace parallelarium {
namespace {

constexpr unsigned kCastThreads = 256;
constexpr std::size_t kMostCastBlocks = 2048;  // the loop over the grid covers the rest
constexpr std::int64_t kTile = 64;             // rows and columns that a block turns at once

struct LargestBits {
  __device__ std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return a > b ? a : b;
  }
};

// parts[block] = the largest |value| of those that the block sees, as bits of fp32.
__global__ void __launch_bounds__(kCastThreads)
    largest_kernel(std::uint32_t* parts, const Bf16* values, std::size_t count, bool wide) {
  __shared__ std::uint32_t shared[kCastThreads / 32];
  std::uint32_t largest = 0;
  for_elements<8>(count, wide, [&](std::size_t at, auto width) {
    const auto pack = load_pack<decltype(width)::value>(values + at);
#pragma unroll
    for (const Bf16 value : pack.at) {
      const std::uint32_t size = value.bits & 0x7FFFU;
      largest = size > largest ? size : largest;
    }
  });
  largest = over_block(largest, shared, LargestBits{});
  if (threadIdx.x == 0) parts[blockIdx.x] = largest << 16;
}

// Every block reads all parts, so that no launch stands between them and the copy. One writes the
// inverse for the product.
template <class F>
__device__ inline float scale_of(float* inverse, const std::uint32_t* parts, unsigned count) {
  __shared__ std::uint32_t shared[kCastThreads / 32];
  std::uint32_t largest = 0;
  for (unsigned part = threadIdx.x; part < count; part += kCastThreads)
    largest = parts[part] > largest ? parts[part] : largest;
  const Fp8Scale scale = fp8_scale<F>(over_block(largest, shared, LargestBits{}));
  if (blockIdx.x == 0 && threadIdx.x == 0) *inverse = scale.inverse;
  return scale.scale;
}

template <class F, int W>
__device__ inline Numbers<std::uint16_t, W / 2> fp8_pairs(const Floats<W>& values, float scale) {
  Numbers<std::uint16_t, W / 2> pairs;
#pragma unroll
  for (int i = 0; i < W / 2; ++i)
    pairs.at[i] = pack_fp8<F>(values.at[2 * i] * scale, values.at[2 * i + 1] * scale);
  return pairs;
}

template <class F>
__global__ void __launch_bounds__(kCastThreads)
    cast_fp8_kernel(F* to, float* inverse, const std::uint32_t* parts, unsigned parts_count,
                    const Bf16* from, std::size_t count, bool wide) {
  const float scale = scale_of<F>(inverse, parts, parts_count);
  for_elements<16>(count, wide, [&](std::size_t at, auto width) {
    constexpr int W = decltype(width)::value;
    const auto values = load<W>(from + at);
    if constexpr (W > 1)
      store_pack(to + at, std::bit_cast<Pack<F, W>>(fp8_pairs<F>(values, scale)));
    else
      to[at].bits = static_cast<std::uint8_t>(pack_fp8<F>(values.at[0] * scale, 0.0F));
  });
}

// from [rows, columns] to [columns, pitch]. A thread turns 4 rows of 4 columns in its registers and
// puts a word of 4 rows for each of them into the tile, whence 16 rows at a time go out.
template <class F>
__global__ void __launch_bounds__(kCastThreads)
    turn_fp8_kernel(F* to, float* inverse, const std::uint32_t* parts, unsigned parts_count,
                    const Bf16* from, std::int64_t rows, std::int64_t columns, std::int64_t pitch,
                    bool wide) {
  __shared__ std::uint32_t tile[kTile][kTile / 4 + 1];
  const float scale = scale_of<F>(inverse, parts, parts_count);
  const std::int64_t across = (columns + kTile - 1) / kTile;
  const std::int64_t tiles = across * ((pitch + kTile - 1) / kTile);
  const unsigned quad = threadIdx.x % (kTile / 4), four = threadIdx.x / (kTile / 4);
  for (std::int64_t at = blockIdx.x; at < tiles; at += gridDim.x) {
    const std::int64_t first_row = at / across * kTile, first_column = at % across * kTile;
    const std::int64_t column = first_column + 4 * quad;
    Floats<4> lines[4] = {};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::int64_t row = first_row + 4 * four + i;
      if (row >= rows || column >= columns) continue;
      const Bf16* const line = from + row * columns + column;
      if (wide) {
        lines[i] = load<4>(line);
      } else {
#pragma unroll
        for (int j = 0; j < 4; ++j) lines[i].at[j] = widened(line[j]);
      }
    }
    __syncthreads();  // the last tile has been read
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      Floats<4> turned;
#pragma unroll
      for (int i = 0; i < 4; ++i) turned.at[i] = lines[i].at[j];
      tile[4 * quad + j][four] = std::bit_cast<std::uint32_t>(fp8_pairs<F>(turned, scale));
    }
    __syncthreads();
    const std::int64_t out = first_column + threadIdx.x / 4;
    const std::int64_t row = first_row + 16 * (threadIdx.x % 4);
    if (out >= columns || row >= pitch) continue;
    const std::uint32_t* const words = &tile[threadIdx.x / 4][4 * (threadIdx.x % 4)];
    store_word(reinterpret_cast<uint4*>(to + out * pitch + row),
               uint4{words[0], words[1], words[2], words[3]});
  }
}

}  // namespace

template <class F>
cudaError_t cast_fp8(F* to, float* inverse, void* parts, const Bf16* from, std::int64_t rows,
                     std::int64_t columns, std::int64_t turned_pitch, cudaStream_t stream) {
  if (rows == 0 || columns == 0) return cudaSuccess;
  if (turned_pitch != 0 && columns % 4 != 0) return cudaErrorInvalidValue;
  const auto count = static_cast<std::size_t>(rows * columns);
  auto* const largest = static_cast<std::uint32_t*>(parts);
  const unsigned blocks = blocks_for(count, 8 * kCastThreads, kFp8Parts);
  const bool wide = is_wide(from);
  const cudaError_t status = launch(largest_kernel, dim3(blocks), dim3(kCastThreads), 0, stream,
                                    largest, from, count, wide);
  if (status != cudaSuccess) return status;
  const auto* const known = static_cast<const std::uint32_t*>(largest);
  if (turned_pitch == 0)
    return launch(cast_fp8_kernel<F>, dim3(blocks_for(count, 16 * kCastThreads, kMostCastBlocks)),
                  dim3(kCastThreads), 0, stream, to, inverse, known, blocks, from, count,
                  wide && is_wide(to));
  const auto tiles = divide_up(static_cast<std::size_t>(columns), kTile) *
                     divide_up(static_cast<std::size_t>(turned_pitch), kTile);
  return launch(turn_fp8_kernel<F>, dim3(blocks_for(tiles, 1, kMostCastBlocks)), dim3(kCastThreads),
                0, stream, to, inverse, known, blocks, from, rows, columns, turned_pitch, wide);
}
template cudaError_t cast_fp8(E4m3*, float*, void*, const Bf16*, std::int64_t, std::int64_t,
                              std::int64_t, cudaStream_t);
template cudaError_t cast_fp8(E5m2*, float*, void*, const Bf16*, std::int64_t, std::int64_t,
                              std::int64_t, cudaStream_t);

}  // namespace parallelarium
