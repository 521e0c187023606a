// SPDX-License-Identifier: Apache-2.0
// The instructions of which memory.cu measures the time: as they are written, and in that order.
// (tests/emulation has a twin of this file, whose memory takes as long as a test says.)
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/memory/memory.h"

namespace parallelarium {

__device__ inline std::int64_t clock_cycles() {
  std::int64_t cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles) : : "memory");
  return cycles;
}

// From global memory, through all caches.
__device__ inline const ChaseLine* load_next(const ChaseLine* line) {
  std::uint64_t next;
  asm volatile("ld.global.u64 %0, [%1];" : "=l"(next) : "l"(&line->next) : "memory");
  return reinterpret_cast<const ChaseLine*>(next);
}

// Where something lies in the block's shared memory.
using SharedAddress = std::uint32_t;
__device__ inline SharedAddress shared_address(const void* address) {
  return static_cast<SharedAddress>(__cvta_generic_to_shared(address));
}
__device__ inline SharedAddress load_shared(SharedAddress at) {
  SharedAddress next;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(next) : "r"(at) : "memory");
  return next;
}

__device__ inline float multiply_add_once(float value, float factor, float summand) {
  float sum;
  asm volatile("fma.rn.f32 %0, %1, %2, %3;" : "=f"(sum) : "f"(value), "f"(factor), "f"(summand));
  return sum;
}

// Round the first cache.
__device__ inline float load_past_first(const float* from) {
  float value;
  asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(value) : "l"(from) : "memory");
  return value;
}
__device__ inline uint4 load_past_first(const uint4* from) {
  uint4 word;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
               : "l"(from)
               : "memory");
  return word;
}

}  // namespace parallelarium
