// SPDX-License-Identifier: Apache-2.0
// Whether the buffers of a collective's CPU ranks fit into this computer's memory, asked before
// anything is allocated.
#pragma once

#include <cstdint>
#include <string>

#include "engine/collectives/collective.h"
#include "engine/plan/result.h"

namespace parallelarium {

// Bytes that run_collective needs at most at once. `rounding`: of CollectiveRunOptions.
std::int64_t bytes_of_run(const Collective& collective, const std::string& rounding);

// Error: a run needs more than is free; one sentence with both. `free_bytes` below 0: what this
// computer says is available; success where it does not say.
Result<void> fits_memory(const Collective& collective, const std::string& rounding,
                         std::int64_t free_bytes = -1);

}  // namespace parallelarium
