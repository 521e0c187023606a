// SPDX-License-Identifier: Apache-2.0
// Measures the latencies and rates of a device's memories by the size of the working set: registers
// and caches first, then the memory itself. The device is a core or a GPU, as the probe says.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/plan/machine/rates/memory_rungs.h"
#include "engine/plan/result.h"
#include "engine/run/calibrate/memory_probe.h"

namespace parallelarium {

struct ChaseTime {
  std::int64_t bytes = 0;  // size of the working set
  StepTime load;
};

// The rate of copying floats that lie `stride_bytes` apart; 4: one after another. It counts the
// bytes of these floats, read and written, not those of the cache lines around them.
struct CopyRate {
  std::int64_t bytes = 0;  // size of source and target together
  std::int64_t stride_bytes = 4;
  double bytes_per_second = 0;
};

// A product of two square matrices of `size` floats a side, done tile by tile. Every element is
// loaded size / tile times. It is a plain loop that shows what tiles are for.
struct TileRate {
  std::int64_t size = 0, tile = 0;
  double seconds = 0;
  double bytes = 0;  // bytes that the tiles load and store, each once
  double flops() const;
};

struct MemoryLadder {
  std::string device;
  std::vector<CacheLevel> caches;  // ascending; none: the device does not tell
  StepTime multiply_add;
  CacheLevel shared;  // 0 bytes: it has none
  StepTime shared_load;
  std::vector<ChaseTime> chases;  // by bytes, ascending, as are the lists below
  std::vector<CopyRate> copies;
  std::vector<TileRate> tiles;
  Origin origin;
};

struct LadderSizes {
  std::int64_t least_bytes = 0, most_bytes = 0;  // range of the working sets, powers of 2
  std::int64_t least_copied = 0;                 // smallest copy
  std::vector<std::int64_t> strides;             // bytes
  std::int64_t matrix = 0;
  std::vector<std::int64_t> tiles;
};
LadderSizes core_ladder_sizes();  // some ten seconds
LadderSizes gpu_ladder_sizes();   // some seconds

// `go_on` hears before each measurement what comes and what share is done; it ends the measurement
// by returning false.
// Errors: "cancelled.calibrate", and those of the probe.
Result<MemoryLadder> measure_memory(
    MemoryProbe& probe, const LadderSizes& sizes,
    const std::function<bool(double share, const std::string&)>& go_on);

// The ladder by the names of its levels. A cache has the values of the largest working set that is
// larger than the cache before and fills at most half of its own. The memory has those of the least
// working set that is four times the last cache. A level without a working set is left out.
std::vector<MemoryRung> rungs_of(const MemoryLadder& ladder);

nlohmann::json to_json(const MemoryLadder& ladder);

}  // namespace parallelarium
