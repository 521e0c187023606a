// SPDX-License-Identifier: Apache-2.0
// Measures how long messages between two CPU ranks take by size, for predictions of collectives.
#pragma once

#include <atomic>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/result.h"

namespace parallelarium {

// One message, two crossing ones, a ring's of `cores` ranks (16 at most), the same where the
// receiver combines, combining what has come and copying what stays, at sizes from 64 B to 16 MiB
// by factors of 4. About three seconds on two cores. Requires: cores >= 2. Errors: as
// run_collective.
Result<std::vector<TransferPoint>> measure_transfers(int cores,
                                                     const std::atomic<bool>* cancel = nullptr);

}  // namespace parallelarium
