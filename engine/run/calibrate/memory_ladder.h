// SPDX-License-Identifier: Apache-2.0
// What a device's memories give by how much of them is worked on: registers and caches first, then
// the memory itself. Of a core or a GPU, whichever the probe is of.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/plan/machine/memory_rungs.h"
#include "engine/plan/result.h"
#include "engine/run/calibrate/memory_probe.h"

namespace parallelarium {

struct ChaseTime {
  std::int64_t bytes = 0;  // that are gone through
  StepTime load;
};

// Copying floats that lie `stride_bytes` apart; 4: one after another. Bytes are those that the copy
// is for, read and written, not those of the lines around them.
struct CopyRate {
  std::int64_t bytes = 0;  // of source and target together
  std::int64_t stride_bytes = 4;
  double bytes_per_second = 0;
};

// A product of two square matrices of `size` floats a side, done tile by tile: every element is
// loaded size / tile times. A plain loop, to show what tiles are for.
struct TileRate {
  std::int64_t size = 0, tile = 0;
  double seconds = 0;
  double bytes = 0;  // that the tiles load and store, each once
  double flops() const;
};

struct MemoryLadder {
  std::string device;
  std::vector<CacheLevel> caches;  // ascending; none: the device does not tell
  StepTime multiply_add;
  CacheLevel shared;  // 0 bytes: it has none
  StepTime shared_load;
  std::vector<ChaseTime> chases;  // by bytes, ascending, as below
  std::vector<CopyRate> copies;
  std::vector<TileRate> tiles;
  std::string origin;  // "measured on this computer on 2026-11-25"
};

struct LadderSizes {
  std::int64_t least_bytes = 0, most_bytes = 0;  // of what loads go through, powers of 2
  std::int64_t least_copied = 0;                 // of what is copied
  std::vector<std::int64_t> strides;             // bytes
  std::int64_t matrix = 0;
  std::vector<std::int64_t> tiles;
};
LadderSizes core_ladder_sizes();  // some ten seconds
LadderSizes gpu_ladder_sizes();   // some seconds

// `go_on`: told before each measurement what it is and what share is done; false ends.
// Errors: "cancelled.calibrate", and those of the probe.
Result<MemoryLadder> measure_memory(
    MemoryProbe& probe, const LadderSizes& sizes,
    const std::function<bool(double share, const std::string&)>& go_on);

// The ladder by the names of its levels. A cache is told by the largest working set that is larger
// than the cache before and fills at most half of its own; the memory by the least that is four
// times the last cache. A level that no working set is for is left out.
std::vector<MemoryRung> rungs_of(const MemoryLadder& ladder);

nlohmann::json to_json(const MemoryLadder& ladder);

}  // namespace parallelarium
