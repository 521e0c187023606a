// SPDX-License-Identifier: Apache-2.0
// A host launches transfers and computing in turn. So of a transfer that hides behind computing
// only what its bytes take does hide.
#pragma once

#include <cstdint>
#include <span>

#include "engine/predict/cost/simulate.h"

namespace parallelarium {

// Moves what hosts take to launch a hidden transfer from its ops to what computes beside them: of a
// send to what it waits for, of a receive to what waits for it. `durations` are those of the rank's
// ops. What a transfer takes on the way from one rank's computing to another's stays the same.
void launch_transfers(const RankProgram& rank, const CostModel& cost,
                      std::span<std::int64_t> durations);

}  // namespace parallelarium
