// SPDX-License-Identifier: Apache-2.0
// The twin of kernels/memory/chain.cuh for the emulation: a clock that nothing but these
// instructions moves, and memories that take as many cycles as a test says.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "kernels/memory/memory.h"
#include "tests/emulation/slow_memory.h"

namespace parallelarium {

inline std::int64_t clock_cycles() { return emulation::slow_memory().clock; }

inline const ChaseLine* load_next(const ChaseLine* line) {
  emulation::SlowMemory& memory = emulation::slow_memory();
  memory.clock += memory.cycles_of(line);
  return line->next;
}

using SharedAddress = std::uintptr_t;
inline SharedAddress shared_address(const void* address) {
  return reinterpret_cast<SharedAddress>(address);
}
inline SharedAddress load_shared(SharedAddress at) {
  emulation::slow_memory().clock += emulation::slow_memory().shared_cycles;
  return *reinterpret_cast<const SharedAddress*>(at);
}

inline float multiply_add_once(float value, float factor, float summand) {
  emulation::slow_memory().clock += emulation::slow_memory().register_cycles;
  return std::fma(value, factor, summand);
}

template <class Word>
Word load_past_first(const Word* from) {
  emulation::slow_memory().clock += emulation::slow_memory().copied_cycles;
  return *from;
}

}  // namespace parallelarium
