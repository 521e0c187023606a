// SPDX-License-Identifier: Apache-2.0
// Finds for each row on its way through the experts which token it is, and which of the token's
// choices. A rank knows only its own tokens, so this needs the choices of all routers of an EP
// group.
#pragma once

#include <vector>

#include "engine/run/train/probe/probe.h"

namespace parallelarium {

// Fills row_tokens and row_choices from `routes`, which it clears. It cuts tensors by row down to
// the rows that there were. `probes` must have the probes of all ranks.
void name_rows(const Setup& setup, std::vector<ProbedRank>& probes);

}  // namespace parallelarium
