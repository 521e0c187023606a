// SPDX-License-Identifier: Apache-2.0
// Measures how long messages between two CPU ranks take by size, for predictions of collectives.
#pragma once

#include <atomic>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/result.h"

namespace parallelarium {

// It measures one message, two crossing ones, a ring's of `cores` ranks (16 at most), the same with
// a receiver that combines, the combining of what has come, and the copying of what stays. Sizes go
// from 64 B to 16 MiB by factors of 4. Takes about three seconds on two cores. There must be 2
// cores or more. Errors: as run_collective.
Result<std::vector<TransferPoint>> measure_transfers(int cores,
                                                     const std::atomic<bool>* cancel = nullptr);

}  // namespace parallelarium
