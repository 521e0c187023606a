// SPDX-License-Identifier: Apache-2.0
// What CUDA C++ adds to the language, for the emulation: see emulation.cpp.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstring>

// Blocks run one after the other, so static memory serves as a block's.
#define __shared__ static
#define __global__
#define __device__
#define __host__
#define __grid_constant__
#define __launch_bounds__(...)

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
extern dim3 threadIdx, blockIdx, blockDim, gridDim;

void __syncthreads();
void __syncwarp();

namespace parallelarium::emulation {

// Every lane of the warp gives 32 bytes and gets those of all lanes, good until the next exchange.
using Slot = std::array<std::uint64_t, 4>;
const Slot* exchange(const Slot& mine);

}  // namespace parallelarium::emulation

template <class T>
T __shfl_xor_sync(unsigned, T value, int lanes) {
  static_assert(sizeof(T) <= 32);
  parallelarium::emulation::Slot mine{};
  std::memcpy(mine.data(), &value, sizeof value);
  const auto* all = parallelarium::emulation::exchange(mine);
  std::memcpy(&value, all[threadIdx.x % 32 ^ static_cast<unsigned>(lanes)].data(), sizeof value);
  return value;
}

using std::max;
using std::min;
inline float __expf(float x) { return std::exp(x); }
inline float __fdividef(float a, float b) { return a / b; }
