// SPDX-License-Identifier: Apache-2.0
// The ladder of a device's own memories, from registers on: latencies and rates for people, which
// change no prediction. Published ones stand as "ladder" in a preset's file; those of this computer
// are what `calibrate --memory` keeps.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/result.h"

namespace parallelarium {

// From the fastest to the slowest. The latency of registers is that of a multiplication and sum.
inline constexpr const char* kMemoryLevels[] = {"registers", "shared", "L1", "L2", "L3", "memory"};

// What is 0 is not known.
struct MemoryRung {
  std::string level;              // one of kMemoryLevels
  std::int64_t bytes = 0;         // of a device, or of one of its processors or cores
  Sourced latency_seconds = {};   // from one access to the next that needs it
  Sourced bytes_per_second = {};  // of a GPU, by all of its processors
  bool operator==(const MemoryRung&) const = default;
};

// In the order of kMemoryLevels; none where nothing is known. Error "machine-file", of what was
// kept of this computer.
Result<std::vector<MemoryRung>> rungs_of(const Machine& machine);

// What was measured of this computer's cores or GPUs: {"device", "ladder", …}. It stands beside the
// calibration, in memory.json or gpu_memory.json; GPUs have it where theirs is the device.
std::string local_ladder_path(bool gpus = false);
Result<void> save_local_ladder(const nlohmann::json& measured, bool gpus);

nlohmann::json to_json(const MemoryRung& rung);
// The list "ladder" of an object. Errors: "rung-level", "ladder-order", and of wrong types.
Result<std::vector<MemoryRung>> ladder_from_json(const nlohmann::json& json);

}  // namespace parallelarium
