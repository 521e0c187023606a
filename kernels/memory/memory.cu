// SPDX-License-Identifier: Apache-2.0
// Chains by one thread, copies by all, and products by tile, to measure memories with. Speed is
// what they show, so nothing here is tuned.
#include "kernels/base/launch.h"
#include "kernels/base/simt.cuh"
#include "kernels/memory/chain.cuh"
#include "kernels/memory/gpu_memory.h"

namespace parallelarium {
namespace {

constexpr unsigned kOneWarp = 32;
constexpr std::size_t kMostChainBlocks = 4096;
constexpr int kAhead = 4;  // loads of a thread that are under way at once

__global__ void chain_lines_kernel(ChaseLine* lines, int bits) {
  const std::uint64_t count = std::uint64_t{1} << bits;
  const std::uint64_t all = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t step = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; step < count;
       step += all)
    lines[place_of(step, bits)].next = &lines[place_of(step + 1, bits)];
}

__global__ void chase_kernel(ChainEnd* end, const ChaseLine* lines, int bits, std::uint64_t first,
                             std::int64_t loads) {
  if (threadIdx.x != 0) return;
  const ChaseLine* line = &lines[place_of(first, bits)];
  const std::int64_t begun = clock_cycles();
#pragma unroll 16
  for (std::int64_t load = 0; load < loads; ++load) line = load_next(line);
  // Stored first: the clock is read when the last load is there.
  end->place = static_cast<std::uint64_t>(line - lines);
  end->cycles = clock_cycles() - begun;
}

__global__ void chase_shared_kernel(ChainEnd* end, std::int64_t loads) {
  constexpr unsigned kPlaces = 1U << kSharedChainBits;
  __shared__ SharedAddress places[kPlaces];
  for (unsigned step = threadIdx.x; step < kPlaces; step += blockDim.x)
    places[place_of(step, kSharedChainBits)] =
        shared_address(&places[place_of(step + 1, kSharedChainBits)]);
  __syncthreads();
  if (threadIdx.x != 0) return;
  SharedAddress at = shared_address(&places[place_of(0, kSharedChainBits)]);
  const std::int64_t begun = clock_cycles();
#pragma unroll 16
  for (std::int64_t load = 0; load < loads; ++load) at = load_shared(at);
  end->place = (at - shared_address(places)) / sizeof(SharedAddress);
  end->cycles = clock_cycles() - begun;
}

__global__ void multiply_add_chain_kernel(ChainEnd* end, float value, float factor, float summand,
                                          std::int64_t steps) {
  if (threadIdx.x != 0) return;
  const std::int64_t begun = clock_cycles();
#pragma unroll 1
  for (std::int64_t step = 0; step < steps; step += kChainUnroll) {
#pragma unroll
    for (int i = 0; i < kChainUnroll; ++i) value = multiply_add_once(value, factor, summand);
  }
  end->value = value;
  end->cycles = clock_cycles() - begun;
}

template <class Word>
__global__ void copy_strided_kernel(Word* to, const Word* from, std::size_t count,
                                    std::size_t stride, int rounds) {
  const std::size_t all = std::size_t{gridDim.x} * blockDim.x * stride;
  const std::size_t first = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) * stride;
  for (int round = 0; round < rounds; ++round) {
    std::size_t at = first;
    for (; at + (kAhead - 1) * all < count; at += kAhead * all) {
      Word words[kAhead];
#pragma unroll
      for (int i = 0; i < kAhead; ++i) words[i] = load_past_first(from + at + i * all);
#pragma unroll
      for (int i = 0; i < kAhead; ++i) to[at + i * all] = words[i];
    }
    for (; at < count; at += all) to[at] = load_past_first(from + at);
  }
}

// One thread for each element of c.
__global__ void untiled_product_kernel(float* c, const float* a, const float* b, std::size_t n) {
  const std::size_t at = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t row = at / n, column = at % n;
  float sum = 0;
  for (std::size_t k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[at] = sum;
}

template <int kTile>
constexpr unsigned product_threads() {
  return kTile == 32 ? 1024 : 256;
}

// One thread for each element of c; every block has whole tiles, side by side in a row of tiles.
template <int kTile>
__global__ void tiled_product_kernel(float* c, const float* a, const float* b, std::size_t n) {
  constexpr unsigned kSize = kTile * kTile, kTiles = product_threads<kTile>() / kSize;
  __shared__ float rows[kTiles][kTile][kTile], columns[kTiles][kTile][kTile];
  const unsigned mine = threadIdx.x / kSize, y = threadIdx.x % kSize / kTile,
                 x = threadIdx.x % kTile;
  const std::size_t row = std::size_t{blockIdx.y} * kTile + y;
  const std::size_t column = (std::size_t{blockIdx.x} * kTiles + mine) * kTile + x;
  float sum = 0;
  for (std::size_t k = 0; k < n; k += kTile) {
    rows[mine][y][x] = a[row * n + k + x];
    columns[mine][y][x] = b[(k + y) * n + column];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum += rows[mine][y][i] * columns[mine][i][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

template <int kTile>
cudaError_t product_of(float* c, const float* a, const float* b, std::size_t n,
                       cudaStream_t stream) {
  constexpr unsigned kThreads = product_threads<kTile>();
  const auto across = static_cast<unsigned>(n * kTile / kThreads);
  return launch(tiled_product_kernel<kTile>, dim3(across, static_cast<unsigned>(n / kTile)),
                dim3(kThreads), 0, stream, c, a, b, n);
}

template <class Word>
cudaError_t copy_of(Word* to, const Word* from, std::size_t count, std::size_t stride, int rounds,
                    unsigned blocks, cudaStream_t stream) {
  const unsigned used = blocks_for(divide_up(count, stride), kCopyThreads, blocks);
  return launch(copy_strided_kernel<Word>, dim3(used), dim3(kCopyThreads), 0, stream, to, from,
                count, stride, rounds);
}

}  // namespace

cudaError_t chain_lines(ChaseLine* lines, int bits, cudaStream_t stream) {
  const unsigned blocks = blocks_for(std::size_t{1} << bits, kCopyThreads, kMostChainBlocks);
  return launch(chain_lines_kernel, dim3(blocks), dim3(kCopyThreads), 0, stream, lines, bits);
}

cudaError_t chase(ChainEnd* end, const ChaseLine* lines, int bits, std::uint64_t first,
                  std::int64_t loads, cudaStream_t stream) {
  return launch(chase_kernel, dim3(1), dim3(kOneWarp), 0, stream, end, lines, bits, first, loads);
}

cudaError_t chase_shared(ChainEnd* end, std::int64_t loads, cudaStream_t stream) {
  return launch(chase_shared_kernel, dim3(1), dim3(kOneWarp), 0, stream, end, loads);
}

cudaError_t multiply_add_chain(ChainEnd* end, float value, float factor, float summand,
                               std::int64_t steps, cudaStream_t stream) {
  if (steps % kChainUnroll != 0) return cudaErrorInvalidValue;
  return launch(multiply_add_chain_kernel, dim3(1), dim3(kOneWarp), 0, stream, end, value, factor,
                summand, steps);
}

cudaError_t copy_strided(float* to, const float* from, std::size_t count, std::size_t stride,
                         int rounds, unsigned blocks, cudaStream_t stream) {
  if (stride == 0 || rounds < 1 || blocks == 0) return cudaErrorInvalidValue;
  if (count == 0) return cudaSuccess;
  if (stride == 1 && count % 4 == 0 && is_wide(to) && is_wide(from))
    return copy_of(reinterpret_cast<uint4*>(to), reinterpret_cast<const uint4*>(from), count / 4, 1,
                   rounds, blocks, stream);
  return copy_of(to, from, count, stride, rounds, blocks, stream);
}

cudaError_t tiled_product(float* c, const float* a, const float* b, std::size_t n, int tile,
                          cudaStream_t stream) {
  if (n == 0 || n % 64 != 0 || n > 65535) return cudaErrorInvalidValue;
  switch (tile) {
    case 1:
      return launch(untiled_product_kernel, dim3(static_cast<unsigned>(n * n / kCopyThreads)),
                    dim3(kCopyThreads), 0, stream, c, a, b, n);
    case 4:
      return product_of<4>(c, a, b, n, stream);
    case 8:
      return product_of<8>(c, a, b, n, stream);
    case 16:
      return product_of<16>(c, a, b, n, stream);
    case 32:
      return product_of<32>(c, a, b, n, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace parallelarium
