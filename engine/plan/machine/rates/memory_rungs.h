// SPDX-License-Identifier: Apache-2.0
// The ladder of a device's own memories, from registers on. Its latencies and rates are for people;
// they change no prediction. Published ones are under "ladder" in a preset's file. `calibrate
// --memory` measures and keeps those of this computer.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/result.h"

namespace parallelarium {

// From the fastest to the slowest. The latency of registers is that of a multiply-add.
inline constexpr const char* kMemoryLevels[] = {"registers", "shared", "L1", "L2", "L3", "memory"};

// A value of 0 is not known.
struct MemoryRung {
  std::string level;              // one of kMemoryLevels
  std::int64_t bytes = 0;         // size on a device, or on one of its processors or cores
  Sourced latency_seconds = {};   // from one access to the next that needs it
  Sourced bytes_per_second = {};  // on a GPU, for all of its processors together
  bool operator==(const MemoryRung&) const = default;
};

// The rungs in the order of kMemoryLevels; none if nothing is known. Error: "machine-file", about
// the file of this computer.
Result<std::vector<MemoryRung>> rungs_of(const Machine& machine);

// The file of what was measured on this computer's cores or GPUs: {"device", "ladder", …}. It is
// beside the calibration: memory.json, or gpu_memory.json with the calibrated GPUs as the device.
std::string local_ladder_path(bool gpus = false);
Result<void> save_local_ladder(const nlohmann::json& measured, bool gpus);

nlohmann::json to_json(const MemoryRung& rung);
// The list "ladder" of an object. Errors: "rung-level", "ladder-order", and those about wrong
// types.
Result<std::vector<MemoryRung>> ladder_from_json(const nlohmann::json& json);

}  // namespace parallelarium
