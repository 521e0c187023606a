// SPDX-License-Identifier: Apache-2.0
// The twin of kernels/base/simt.cuh for the emulation: the same functions by the definitions of the
// PTX manual (ldmatrix, mma.m16n8k16, cp.async), every warp instruction an exchange among its
// lanes.
#pragma once

#include <cuda_runtime.h>

#include <functional>

#include "kernels/base/bf16.h"
#include "kernels/base/fp8.h"

#define PARALLELARIUM_TENSOR_CORES

namespace parallelarium {

namespace emulation {
void run_grid(dim3 grid, dim3 block, std::size_t shared_bytes, const std::function<void()>& thread);
cudaError_t allow(std::size_t bytes);
unsigned char* shared_memory();
void check_multiple(const void* address, std::size_t bytes);
// The lane's part of mma.m16n8k16, from the registers a[4], b0, b1 of every lane.
void multiply_tiles(float (&sum)[4], const Slot* registers, unsigned lane);
}  // namespace emulation

template <class... Parameters, class... Arguments>
[[nodiscard]] cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                 std::size_t shared_bytes, cudaStream_t, Arguments... arguments) {
  emulation::run_grid(grid, block, shared_bytes, [&] { kernel(arguments...); });
  return cudaGetLastError();
}

template <class... Parameters>
[[nodiscard]] cudaError_t allow_shared(void (*)(Parameters...), std::size_t bytes) {
  return emulation::allow(bytes);
}

template <class... Parameters>
int architecture_of(void (*)(Parameters...)) {
  return 90;
}

inline unsigned char* dynamic_shared() { return emulation::shared_memory(); }

template <class Word>
void store_word(Word* to, Word word) {
  *to = word;
}

// Lane l holds of tile i elements 2 (l % 4), 2 (l % 4) + 1 of row l / 4; rows are where the lanes
// 8i + row point.
inline void load_tiles(std::uint32_t (&tiles)[4], const void* row) {
  emulation::check_multiple(row, 16);
  const auto* all = emulation::exchange({reinterpret_cast<std::uintptr_t>(row)});
  const unsigned lane = threadIdx.x % 32;
  for (unsigned i = 0; i < 4; ++i) {
    const auto* from = reinterpret_cast<const std::uint16_t*>(all[8 * i + lane / 4][0]);
    std::memcpy(&tiles[i], from + 2 * (lane % 4), 4);
  }
}
inline void load_tiles_transposed(std::uint32_t (&tiles)[4], const void* row) {
  emulation::check_multiple(row, 16);
  const auto* all = emulation::exchange({reinterpret_cast<std::uintptr_t>(row)});
  const unsigned lane = threadIdx.x % 32;
  const auto element = [&](unsigned i, unsigned r, unsigned c) {
    return std::uint32_t{reinterpret_cast<const std::uint16_t*>(all[8 * i + r][0])[c]};
  };
  for (unsigned i = 0; i < 4; ++i)
    tiles[i] = element(i, 2 * (lane % 4), lane / 4) | element(i, 2 * (lane % 4) + 1, lane / 4)
                                                          << 16;
}

inline void multiply_tiles(float (&sum)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                           std::uint32_t b1) {
  emulation::Slot mine{};
  const std::uint32_t registers[6] = {a[0], a[1], a[2], a[3], b0, b1};
  std::memcpy(mine.data(), registers, sizeof registers);
  emulation::multiply_tiles(sum, emulation::exchange(mine), threadIdx.x % 32);
}

inline std::uint32_t pack_bf16(float low, float high) {
  return round_to_bf16(low).bits | std::uint32_t{round_to_bf16(high).bits} << 16;
}

template <class F>
std::uint16_t pack_fp8(float low, float high) {
  return static_cast<std::uint16_t>(round_to_fp8<F>(low).bits | unsigned{round_to_fp8<F>(high).bits}
                                                                    << 8);
}

inline float fast_exp2(float x) { return std::exp2(x); }
inline float fast_exp(float x) { return fast_exp2(x * 1.44269504F); }

namespace emulation {
void copy_async(void* to, const void* from, std::size_t bytes, bool there);
}  // namespace emulation
// Copies arrive at the last moment that the contract allows: when the thread waits for them.
inline void copy_async(Bf16* to, const Bf16* from, bool there) {
  emulation::copy_async(to, from, 16, there);
}
inline void copy_async(float* to, const float* from, bool there) {
  emulation::copy_async(to, from, 4, there);
}
void wait_for_copies();

}  // namespace parallelarium
