// SPDX-License-Identifier: Apache-2.0
// Says of each row on its way through the experts which token and which of its choices it is. A
// rank knows of its own tokens alone, so it takes what all routers of an EP group chose.
#pragma once

#include <vector>

#include "engine/run/train/probe/probe.h"

namespace parallelarium {

// Fills row_tokens and row_choices from `routes`, which it clears, and cuts tensors by row down to
// the rows that there were. `probes` must have those of all ranks.
void name_rows(const Setup& setup, std::vector<ProbedRank>& probes);

}  // namespace parallelarium
