// SPDX-License-Identifier: Apache-2.0
// The plan of a search that changes least of what is trained today.
#pragma once

#include "engine/planner/search.h"

namespace parallelarium {

// Adds to the recommended plans the one that changes the fewest of TP (with SP), CP, the
// micro-batch and recompute of `today`, of equally few the fastest, where it cannot be told apart
// from the fastest plan. Stages, their schedule and layers, ZeRO, EP and the order of ranks stay,
// since with these the checkpoints and the launch change. Nothing is added where `today` itself is
// such a plan or there is none, where no threshold is known, and where the search was cancelled.
// note_recommended() comes before it. Cost: up to 16 small searches.
void note_nearest(PlanResult& result, const PlanRequest& request, const Setup& today,
                  const PlanWatch& watch = {});

}  // namespace parallelarium
