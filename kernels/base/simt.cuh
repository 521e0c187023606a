// SPDX-License-Identifier: Apache-2.0
// The few things that only nvcc and a GPU understand, gathered here so that kernels are plain code
// around them: the launch itself, dynamic shared memory, asynchronous copies, tensor cores.
// (tests/emulation has a twin of this file, with which the same kernels run on the CPU in tests.)
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/base/bf16.h"
#include "kernels/base/fp8.h"
#include "kernels/base/shared_limits.h"

namespace parallelarium {

// Puts a kernel on the stream. Returns the launch status.
template <class... Parameters, class... Arguments>
[[nodiscard]] cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                 std::size_t shared_bytes, cudaStream_t stream,
                                 Arguments... arguments) {
  kernel<<<grid, block, shared_bytes, stream>>>(arguments...);
  return cudaGetLastError();
}

// All kernels', of the whole process.
inline SharedLimits& shared_limits() {
  static SharedLimits limits;
  return limits;
}

// Lets the kernel have so much dynamic shared memory. cudaErrorInvalidValue where the GPU has less.
// The limit is the kernel's on its GPU, whoever launches it; CUDA is asked once for each GPU.
template <class... Parameters>
[[nodiscard]] cudaError_t allow_shared(void (*kernel)(Parameters...), std::size_t bytes) {
  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess)
    status = shared_limits().allow(
        reinterpret_cast<const void*>(kernel), device, bytes, cudaSuccess, [&](std::size_t more) {
          return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(more));
        });
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());  // it is told here, once
  return status;
}

// The virtual architecture (75, 80, ...) from which the code that this GPU runs of the kernel was
// made; 0 where there is none.
template <class... Parameters>
int architecture_of(void (*kernel)(Parameters...)) {
  cudaFuncAttributes code{};
  if (cudaFuncGetAttributes(&code, kernel) == cudaSuccess) return code.ptxVersion;
  static_cast<void>(cudaGetLastError());
  return 0;
}

// The block's dynamic shared memory, 16-byte aligned.
__device__ inline unsigned char* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char bytes[];
  return bytes;
}

// Stores a whole word in device memory. nvcc stores a uint4 by its members where they go through a
// loop.
__device__ inline void store_word(uint4* to, uint4 word) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(to), "r"(word.x), "r"(word.y), "r"(word.z), "r"(word.w)
               : "memory");
}
__device__ inline void store_word(uint2* to, uint2 word) {
  asm volatile("st.global.v2.u32 [%0], {%1, %2};" : : "l"(to), "r"(word.x), "r"(word.y) : "memory");
}
template <class Word>
__device__ inline void store_word(Word* to, Word word) {
  *to = word;
}

// Two numbers rounded to bf16, the first in the lower half; a NaN becomes some quiet NaN.
__device__ inline std::uint32_t pack_bf16(float low, float high) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  std::uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
#else
  return round_to_bf16(low).bits | std::uint32_t{round_to_bf16(high).bits} << 16;
#endif
}

// Two numbers rounded to FP8, the first in the lower byte; a NaN becomes some NaN.
template <class F>
__device__ inline std::uint16_t pack_fp8(float low, float high) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  std::uint16_t pair;
  if constexpr (std::is_same_v<F, E4m3>)
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  else
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  return pair;
#else
  return static_cast<std::uint16_t>(round_to_fp8<F>(low).bits | unsigned{round_to_fp8<F>(high).bits}
                                                                    << 8);
#endif
}

// 2^x, good to 2 units in the last place; 0 where that is no normal number.
__device__ inline float fast_exp2(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}

// e^x likewise, within the rounding of x log2(e).
__device__ inline float fast_exp(float x) { return fast_exp2(x * 1.44269504F); }

// Turing has no tensor cores for bf16: for it, kernels that use them are compiled empty and never
// launched (architecture_of; newer GPUs too can be given such code).
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define PARALLELARIUM_TENSOR_CORES

// Four 8x8 tiles of 16-bit numbers from shared memory; lanes 8i..8i+7 give the addresses of tile
// i's rows, and every lane gets of tile i elements 2 (lane % 4) and the next of row lane / 4.
__device__ inline void load_tiles(std::uint32_t (&tiles)[4], const void* row) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(tiles[0]), "=r"(tiles[1]), "=r"(tiles[2]), "=r"(tiles[3])
               : "r"(address)
               : "memory");
}
// The same with every tile transposed.
__device__ inline void load_tiles_transposed(std::uint32_t (&tiles)[4], const void* row) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(tiles[0]), "=r"(tiles[1]), "=r"(tiles[2]), "=r"(tiles[3])
               : "r"(address)
               : "memory");
}

// sum [16,8] += a [16,16] b [16,8], a and b bf16, products and sums fp32, spread over a warp as the
// PTX manual shows for mma.m16n8k16.
__device__ inline void multiply_tiles(float (&sum)[4], const std::uint32_t (&a)[4],
                                      std::uint32_t b0, std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Copies 16 bytes from global to shared memory, or writes zeros there, without waiting. `from` is
// read only where it is there.
__device__ inline void copy_async(Bf16* to, const Bf16* from, bool there) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(address), "l"(from), "r"(there ? 16 : 0)
               : "memory");
}
// The same for one number.
__device__ inline void copy_async(float* to, const float* from, bool there) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
               :
               : "r"(address), "l"(from), "r"(there ? 4 : 0)
               : "memory");
}
// Waits for the thread's own copies.
__device__ inline void wait_for_copies() { asm volatile("cp.async.wait_all;" : : : "memory"); }

#endif

}  // namespace parallelarium
