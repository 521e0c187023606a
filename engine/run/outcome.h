// SPDX-License-Identifier: Apache-2.0
// From what every rank was seen to do to what a run says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/run/rank.h"

namespace parallelarium {

// `ranks`: one outcome per rank of the Program, in its order; gradients and parameters are taken
// out of them.
RunResult result_of(const Setup& setup, const Program& program, const BackendChoice& choice,
                    const RunControl& control, const std::vector<RankOutcome*>& ranks);

// A figure of /proc/<file> such as "VmHWM:   1234 kB", in bytes; 0 if it is not there.
std::int64_t proc_bytes(const char* file, const std::string& key);

}  // namespace parallelarium
