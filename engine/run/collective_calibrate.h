// SPDX-License-Identifier: Apache-2.0
// Measures how long messages between two CPU ranks take by size, for predictions of collectives.
#pragma once

#include <atomic>
#include <vector>

#include "engine/collectives/observation.h"
#include "engine/plan/result.h"

namespace parallelarium {

// One message, two crossing ones, the same where the receiver combines, combining what has come and
// copying what stays, at sizes from 64 B to `most_bytes` by factors of 4. About six seconds at 16
// MiB. Errors: as run_collective.
Result<std::vector<TransferPoint>> measure_transfers(std::int64_t most_bytes,
                                                     const std::atomic<bool>* cancel = nullptr);

}  // namespace parallelarium
