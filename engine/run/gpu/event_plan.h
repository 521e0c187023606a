// SPDX-License-Identifier: Apache-2.0
// Which `after` edges of a rank's Program become waits of one lane's stream for an event of another
// lane: the fewest that keep every edge. A lane's stream keeps its own order, and what it has
// waited for once it need not wait for again. Pure: no GPU.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/plan/program/program.h"

namespace parallelarium {

// By op: ops of other lanes, at most one of each lane, that its lane waits for before it.
using EventWaits = std::vector<std::vector<std::int32_t>>;

// Ops of one batch start together, so the first of them waits for all.
// Requires: `after` names earlier ops, as check() demands.
EventWaits plan_events(const RankProgram& rank);

}  // namespace parallelarium
