// SPDX-License-Identifier: Apache-2.0
// What instructions of kernels/memory/chain.cuh cost in the emulation: caches, each of which
// forgets the line that was loaded longest ago, and a clock.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace parallelarium::emulation {

class SlowMemory {
 public:
  // A cache with room for so many lines, whose loads take so many cycles.
  struct Level {
    std::size_t lines = 0;
    std::int64_t cycles = 0;
  };

  std::int64_t clock = 0;
  std::vector<Level> levels;  // ascending
  std::int64_t memory_cycles = 0, shared_cycles = 0, register_cycles = 0, copied_cycles = 0;

  std::int64_t cycles_of(const void* line) {
    std::int64_t cycles = memory_cycles;
    const auto known = places_.find(line);
    if (known != places_.end()) {
      const std::size_t ago = turn_ - known->second;  // loads since, which here are other lines
      for (auto level = levels.rbegin(); level != levels.rend(); ++level)
        if (ago <= level->lines) cycles = level->cycles;
    }
    places_[line] = turn_++;
    return cycles;
  }

 private:
  std::unordered_map<const void*, std::size_t> places_;  // of a line: when it was loaded last
  std::size_t turn_ = 0;
};

// The one of this program; not static, which would count as memory of kernels.
SlowMemory& slow_memory();

}  // namespace parallelarium::emulation
