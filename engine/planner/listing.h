// SPDX-License-Identifier: Apache-2.0
// The candidates of a search, before anything is known of their time and memory.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/planner/bounds/bound_tables.h"
#include "engine/planner/entry.h"
#include "engine/planner/search.h"
#include "engine/planner/space/space.h"
#include "engine/planner/tally.h"

namespace parallelarium {

struct Listing {
  std::int64_t candidates = 0;  // of the space
  bool all = false;             // false: it was cancelled before all had a class or an entry
};

// Whether an error is that no combination makes the GPUs and the batch.
bool says_that_none_is_made(const Message& error);

// Counts those that are refused, and appends all others to `entries`, each with what its bounds
// stand on. Errors: says_that_none_is_made(), "plan-many", which takes no longer the larger the
// space is.
Result<Listing> list_candidates(const PlanRequest& request, const Space& space, BoundTables& tables,
                                Tally& tally, const PlanWatch& watch, std::vector<Entry>& entries);

}  // namespace parallelarium
