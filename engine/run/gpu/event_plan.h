// SPDX-License-Identifier: Apache-2.0
// Plans which `after` edges of a rank's Program become waits of one lane's stream for an event of
// another lane: the fewest that keep every edge. A stream keeps its own order and need not wait
// twice for the same op. Pure; needs no GPU.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/plan/program/program.h"

namespace parallelarium {

// By op: the ops of other lanes that its lane waits for before it; at most one of each lane.
using EventWaits = std::vector<std::vector<std::int32_t>>;

// Ops of one batch start together, so the first of them waits for all.
// `after` must name earlier ops, as check() demands.
EventWaits plan_events(const RankProgram& rank);

}  // namespace parallelarium
