// SPDX-License-Identifier: Apache-2.0
// The check of this computer's GPUs (run/gpu/check/check.h) for the command line and the window:
// what the bus promises, the answer as JSON, and the block of text for a report of a bug.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/cli/training.h"
#include "engine/run/gpu/check/check.h"
#include "engine/run/gpu/check/check_memory.h"

namespace parallelarium {

// A check and what a person has to know with it.
struct CheckedComputer {
  GpuCheck check;
  CheckKey key;
  CudaVersions versions;
  Message why_none;                 // why there is no GPU to check; empty: there is one
  std::vector<Message> left_out;    // of GPUs that cannot be used or have failed
  std::vector<std::string> pcie;    // of each checked GPU: "PCIe 5 x16", or empty
  std::optional<Message> unstored;  // why the next run will check again
  bool passed() const { return check.passed(); }
};

// Checks every GPU that this build has code for, also those that failed before, and keeps the
// result. Errors: "cancelled".
Result<CheckedComputer> check_this_computer(const Watch& watch);

// {gpus: [{device, name, uuid, passed, failures, unreached, notes}], links: [{from, to, kind, p2p,
// passed, bytes_per_second, promised_bytes_per_second, failures, warnings}], groups: [{devices,
// passed, failures}], passed, seconds, why, report}; a failure is {kind, what, shape, found,
// sentence}.
nlohmann::json to_json(const CheckedComputer& checked);
// One block: driver, CUDA, NCCL, the module's build, every GPU, each failure.
std::string report_text(const CheckedComputer& checked);

}  // namespace parallelarium
