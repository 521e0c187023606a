// SPDX-License-Identifier: Apache-2.0
// Rules of thumb beside a search: the best plan that keeps to each, and what that costs.
#pragma once

#include "engine/planner/search.h"

namespace parallelarium {

// Tells every rule of thumb about the best plan, of a search for the shortest step; other
// objectives have none. note_ties() comes before it. Where one of the best plans keeps to a rule,
// it is the best that does. Cost: for each other rule, a search of the candidates that keep to it.
void note_rules(PlanResult& result, const PlanRequest& request, const PlanWatch& watch = {});

// Whether a Setup keeps to the rule of that id; false: there is none.
bool keeps_to_rule(const std::string& id, const Setup& setup, const Machine& machine);

}  // namespace parallelarium
