// SPDX-License-Identifier: Apache-2.0
// Runs CUDA kernels on the CPU, for tests where no GPU is: slow, exact about who waits for whom.
//
// Every thread of a block has a stack of its own (begun with ucontext and kept from block to block;
// all later changes are jumps, which need no system call), and runs until it waits: for its block
// (__syncthreads) or for its warp (shuffles, tensor cores). Asynchronous copies arrive only when
// waited for. Blocks run one after the other. Dynamic shared memory begins as NaNs. What this
// proves are indices, masks and barriers, and with shadow.h that no two threads touch the same word
// unordered; what it cannot are the compiler's code and speed: those need tests/gpu/run.
#undef _FORTIFY_SOURCE  // its longjmp takes no other stack
#include <cuda_runtime.h>
#include <setjmp.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/base/simt.cuh"
#include "tests/emulation/shadow.h"

dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace parallelarium {
namespace {

constexpr std::size_t kStackBytes = 128 * 1024;

struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;
  bool there;
};

struct Barrier {
  unsigned arrived = 0;
  unsigned phase = 0;
};

void run_thread();

struct Thread {
  Thread() {
    getcontext(&begin);
    begin.uc_stack.ss_sp = stack.get();
    begin.uc_stack.ss_size = kStackBytes;
    begin.uc_link = nullptr;
    makecontext(&begin, run_thread, 0);
  }
  ucontext_t begin;
  jmp_buf place;  // where it waits
  bool started = false;
  std::unique_ptr<char[]> stack = std::make_unique<char[]>(kStackBytes);
  bool done = false;
  unsigned exchanges = 0;
  unsigned syncs = 0;
  std::vector<Copy> copies;
};

struct Warp {
  Barrier barrier;
  emulation::Slot slots[2][32];
};

// The block that is running.
std::vector<std::unique_ptr<Thread>> threads;
std::vector<Warp> warps;
Barrier block_barrier;
jmp_buf scheduler;
unsigned current = 0;
const std::function<void()>* body = nullptr;
emulation::Position position{};

// What the running thread does from here on is ordered with what came before its last barrier.
void take_position() { position = {current, block_barrier.phase, threads[current]->syncs}; }

void yield() {
  if (_setjmp(threads[current]->place) == 0) _longjmp(scheduler, 1);
}
// Until the running thread yields.
void resume() {
  Thread& thread = *threads[current];
  if (_setjmp(scheduler) != 0) return;
  if (thread.started) _longjmp(thread.place, 1);
  thread.started = true;
  setcontext(&thread.begin);
}

void wait(Barrier& barrier, unsigned members) {
  const unsigned phase = barrier.phase;
  if (++barrier.arrived == members) {
    barrier.arrived = 0;
    ++barrier.phase;
    return;
  }
  while (barrier.phase == phase) yield();
}

// A thread of every block that has as many.
void run_thread() {
  for (;;) {
    (*body)();
    threads[current]->done = true;
    yield();
  }
}

void run_block() {
  const unsigned count = blockDim.x;
  while (threads.size() < count) threads.push_back(std::make_unique<Thread>());
  warps.assign((count + 31) / 32, Warp{});
  block_barrier = {};
  for (unsigned at = 0; at < count; ++at) {
    Thread& thread = *threads[at];
    thread.done = false;
    thread.exchanges = 0;
    thread.syncs = 0;
    thread.copies.clear();
  }
  unsigned left = count;
  unsigned idle_turns = 0;
  while (left > 0) {
    const unsigned before = block_barrier.phase + left;
    unsigned phases = 0;
    for (const Warp& warp : warps) phases += warp.barrier.phase;
    for (current = 0; current < count; ++current)
      if (!threads[current]->done) {
        threadIdx.x = current;
        take_position();
        resume();
        if (threads[current]->done) --left;
      }
    for (const Warp& warp : warps) phases -= warp.barrier.phase;
    idle_turns = phases == 0 && before == block_barrier.phase + left ? idle_turns + 1 : 0;
    if (idle_turns > 2) {
      std::fprintf(stderr, "A kernel waits for threads that never arrive at the barrier.\n");
      std::abort();
    }
  }
}

}  // namespace

namespace emulation {

void run_grid(dim3 grid, dim3 block, std::size_t shared_bytes,
              const std::function<void()>& thread) {
  gridDim = grid;
  blockDim = block;
  if (grid.x == 0 || grid.y == 0 || grid.y > 65535 || block.x % 32 != 0 || block.x > 1024 ||
      block.y * block.z * grid.z != 1 || shared_bytes > emulation::kMostShared) {
    std::fprintf(stderr, "A launch that no GPU takes, or one of a shape not emulated.\n");
    std::abort();
  }
  body = &thread;
  begin_launch();
  set_position(&position);
  for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y)
    for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x) {
      begin_block(shared_bytes);
      run_block();
    }
  set_position(nullptr);
  end_launch();
}

cudaError_t allow(std::size_t bytes) {
  return bytes <= kMostShared ? cudaSuccess : cudaErrorInvalidValue;
}

unsigned char* shared_memory() { return dynamic_part(); }

const Slot* exchange(const Slot& mine) {
  Warp& warp = warps[current / 32];
  // Two sets of slots: nobody can be two exchanges ahead.
  auto& slots = warp.slots[threads[current]->exchanges++ % 2];
  slots[current % 32] = mine;
  wait(warp.barrier, 32);
  return slots;
}

// Here, and not in the kernels: no touch of it is watched.
// PTX manual, "Matrix fragments for mma.m16n8k16 with floating point type": with group g = lane / 4
// and t = lane % 4, register i of a holds row g (+ 8 for odd i), columns 2t, 2t + 1 (+ 8 for i >=
// 2); register i of b rows 2t, 2t + 1 (+ 8 for i = 1) of column g; number i of the sum row g (+ 8
// for i >= 2), column 2t + i % 2.
void multiply_tiles(float (&sum)[4], const Slot* registers, unsigned lane) {
  const auto number = [&](unsigned of, unsigned which, unsigned half) {
    std::uint32_t word = 0;
    std::memcpy(&word, reinterpret_cast<const char*>(registers[of].data()) + 4 * which, 4);
    return widen(Bf16{static_cast<std::uint16_t>(word >> (16 * half))});
  };
  const auto a_at = [&](unsigned row, unsigned k) {
    return number(row % 8 * 4 + k % 8 / 2, row / 8 + k / 8 * 2, k % 2);
  };
  const auto b_at = [&](unsigned k, unsigned column) {
    return number(column * 4 + k % 8 / 2, 4 + k / 8, k % 2);
  };
  float rows[2][16], columns[2][16];
  for (unsigned which = 0; which < 2; ++which)
    for (unsigned k = 0; k < 16; ++k) {
      rows[which][k] = a_at(lane / 4 + which * 8, k);
      columns[which][k] = b_at(k, lane % 4 * 2 + which);
    }
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned k = 0; k < 16; ++k) sum[i] += rows[i / 2][k] * columns[i % 2][k];
}

void copy_async(void* to, const void* from, std::size_t bytes, bool there) {
  threads[current]->copies.push_back({to, from, bytes, there});
  begin_copy(to, from, bytes, there);
  if (reinterpret_cast<std::uintptr_t>(to) % bytes != 0 ||
      reinterpret_cast<std::uintptr_t>(from) % bytes != 0) {
    std::fprintf(stderr, "An asynchronous copy needs multiples of its %zu bytes.\n", bytes);
    std::abort();
  }
}

}  // namespace emulation

void wait_for_copies() {
  for (const Copy& copy : threads[current]->copies) {
    copy.there ? std::memcpy(copy.to, copy.from, copy.bytes) : std::memset(copy.to, 0, copy.bytes);
    emulation::end_copy(copy.to, copy.bytes);
  }
  threads[current]->copies.clear();
}

}  // namespace parallelarium

void __syncthreads() {
  parallelarium::wait(parallelarium::block_barrier, blockDim.x);
  parallelarium::take_position();
}
void __syncwarp() {
  using namespace parallelarium;
  emulation::exchange({});
  ++threads[current]->syncs;
  take_position();
}

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  *address = parallelarium::emulation::allocate(bytes);
  return *address == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}
cudaError_t cudaFree(void* address) {
  parallelarium::emulation::release(address);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "emulated"; }
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
