// SPDX-License-Identifier: Apache-2.0
// A host launches transfers and computing one after the other. So if a transfer hides behind
// computing, only the time of its bytes hides.
#pragma once

#include <cstdint>
#include <span>

#include "engine/predict/cost/simulate.h"

namespace parallelarium {

// Moves the time that hosts need to launch a hidden transfer from its ops to the computing beside
// them: for a send to what it waits for, for a receive to what waits for it. `durations` are those
// of the rank's ops. The time of a transfer from one rank's computing to another's stays the same.
// In a fold, the piece that waits or is waited for has it: the first or last of what it computes,
// or a collective behind it.
void launch_transfers(const Program& program, const RankProgram& rank, const CostModel& cost,
                      std::span<std::int64_t> durations);

}  // namespace parallelarium
