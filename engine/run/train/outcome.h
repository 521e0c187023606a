// SPDX-License-Identifier: Apache-2.0
// Turns the outcomes of all ranks into the result of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/run/train/progress.h"
#include "engine/run/train/rank.h"

namespace parallelarium {

// `ranks`: one outcome per rank of the Program, in its order. Moves gradients and parameters out of
// them.
RunResult result_of(const Setup& setup, const Program& program, const BackendChoice& choice,
                    const RunControl& control, const std::vector<RankOutcome*>& ranks);

// The mean loss of a step (from 1) that all ranks have done, as Observation::losses will hold it.
// None if a rank that has part of it is another process and does not tell.
std::optional<double> loss_of_step(const Program& program, const RunProgress& progress, int step);

// A figure of /proc/<file> such as "VmHWM:   1234 kB", in bytes; 0 if it is not there.
std::int64_t proc_bytes(const char* file, const std::string& key);

}  // namespace parallelarium
