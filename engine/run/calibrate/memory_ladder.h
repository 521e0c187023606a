// SPDX-License-Identifier: Apache-2.0
// What a core's memory gives by how much of it is worked on: caches first, then the memory itself.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

// A cache of the first core, as the kernel tells of it.
struct CacheLevel {
  std::string name;  // "L1", "L2", "L3"
  std::int64_t bytes = 0;
};

// From one load to the next where each says where the next one is, so that none is ahead.
struct ChaseTime {
  std::int64_t bytes = 0;  // that are gone through, in random order, a cache line at a time
  double seconds = 0;      // of one load
};

// Copying floats that lie `stride_bytes` apart; 4: one after another. Bytes are those that the copy
// is for, read and written, not those of the lines around them.
struct CopyRate {
  std::int64_t bytes = 0;  // of source and target together
  std::int64_t stride_bytes = 4;
  double bytes_per_second = 0;
};

// A product of two square matrices of `size` floats a side, done tile by tile: every element is
// loaded size / tile times. A plain loop on one core, to show what tiles are for.
struct TileRate {
  std::int64_t size = 0, tile = 0;
  double seconds = 0;
  double flops() const;
  double bytes() const;  // that the tiles load and store, each once
};

struct MemoryLadder {
  std::vector<CacheLevel> caches;  // none: the kernel does not tell
  std::vector<ChaseTime> chases;   // by bytes, ascending, as below
  std::vector<CopyRate> copies;
  std::vector<TileRate> tiles;
  std::string origin;  // "measured on this computer on 2026-11-25"
};

struct LadderSizes {
  std::int64_t most_bytes = 256 << 20;  // of a working set
  std::int64_t matrix = 768;
  double least_seconds = 0.02;  // of repeating each
};
// Measures one core, which should have nothing else to do. Takes about ten seconds with the sizes
// of its own. `go_on`: told before each measurement what it is and what share is done; false ends.
// Errors: "cancelled.calibrate", "memory-short".
Result<MemoryLadder> measure_memory(
    const LadderSizes& sizes, const std::function<bool(double share, const std::string&)>& go_on);

nlohmann::json to_json(const MemoryLadder& ladder);

}  // namespace parallelarium
