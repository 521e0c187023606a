// SPDX-License-Identifier: Apache-2.0
// Watches what emulated kernels do with memory, and finds what their results may not show.
//
// A shadow of shared and device memory holds who last wrote and read each two bytes. Found are:
// - two threads of a block that touch the same bytes, one of them writing, with neither
//   __syncthreads nor, within a warp, __syncwarp between (shuffles and tensor cores wait for the
//   warp too, but the CUDA manual promises no order of memory for them);
// - two blocks of a launch that do so in device memory;
// - a touch of what an asynchronous copy has not been waited for to bring;
// - a touch of device memory that is not allocated;
// - an address that is no multiple of the alignment that its type asks for, which on a GPU ends the
//   kernel.
// Of each launch the first is told, as a failure of the test that runs.
//
// The compiler says what is touched: kernels are compiled with -fsanitize=thread,alignment, and
// shadow.cpp stands in for the sanitizers' libraries. Single bytes are not followed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace parallelarium::emulation {

// Memory that __shared__ names, and the block's dynamic part.
inline constexpr std::size_t kMostShared = 227 * 1024;  // as compute capability 9.0
unsigned char* dynamic_part();

// Device memory; null where there is no more. What is freed can be had again once all is freed.
void* allocate(std::size_t bytes);
void release(void* address);

// A launch begins: kernels of the same stream are ordered. Its end tells the first fault.
void begin_launch();
void end_launch();
// A block begins: shared memory is NaNs, of the dynamic part so many bytes.
void begin_block(std::size_t dynamic_bytes);

// The thread that runs now, how many barriers its block has passed, and how many __syncwarp it has.
struct Position {
  unsigned thread;
  std::uint32_t barriers;
  std::uint32_t syncs;
};
// Sets who touches memory from now on; null while no kernel runs.
void set_position(const Position* position);

// An asynchronous copy: asked for, and waited for by the thread that asked.
void begin_copy(const void* to, const void* from, std::size_t bytes, bool there);
void end_copy(const void* to, std::size_t bytes);
// A warp's instruction takes `bytes` at this address, which has to be a multiple of them.
void check_multiple(const void* address, std::size_t bytes);

}  // namespace parallelarium::emulation
