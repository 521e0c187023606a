// SPDX-License-Identifier: Apache-2.0
// From what every rank was seen to do to what a run says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/run/train/progress.h"
#include "engine/run/train/rank.h"

namespace parallelarium {

// `ranks`: one outcome per rank of the Program, in its order; gradients and parameters are taken
// out of them.
RunResult result_of(const Setup& setup, const Program& program, const BackendChoice& choice,
                    const RunControl& control, const std::vector<RankOutcome*>& ranks);

// The mean loss of a step that all ranks have done, 1 the first: what Observation::losses will hold
// for it. None where a rank that has part of it does not tell, being another process.
std::optional<double> loss_of_step(const Program& program, const RunProgress& progress, int step);

// A figure of /proc/<file> such as "VmHWM:   1234 kB", in bytes; 0 if it is not there.
std::int64_t proc_bytes(const char* file, const std::string& key);

}  // namespace parallelarium
