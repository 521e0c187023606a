// SPDX-License-Identifier: Apache-2.0
// Says before any allocation whether the buffers of a collective's CPU ranks fit into this
// computer's memory.
#pragma once

#include <cstdint>
#include <string>

#include "engine/collectives/collective.h"
#include "engine/plan/result.h"

namespace parallelarium {

// The most bytes that run_collective needs at once. `rounding`: as in CollectiveRunOptions.
std::int64_t bytes_of_run(const Collective& collective, const std::string& rounding);

// Error: a run needs more than is free; the sentence has both figures. `free_bytes` below 0: asks
// this computer, and succeeds if it does not say.
Result<void> fits_memory(const Collective& collective, const std::string& rounding,
                         std::int64_t free_bytes = -1);

}  // namespace parallelarium
