// SPDX-License-Identifier: Apache-2.0
// Rules of thumb beside a search, and what keeping to each costs.
#pragma once

#include "engine/planner/search.h"

namespace parallelarium {

// Tells every rule of thumb about the best plan, of a search for the shortest step; other
// objectives have none: those of rule_ids(), then the order in which axes are taken, "axis-order",
// and two that cost no step time: a batch nearby that more degrees of DP divide, if there is one,
// "batch-divides", and up to which batch more data parallelism helps, "critical-batch".
// note_ties() comes before it.
void note_rules(PlanResult& result, const PlanRequest& request);

const std::vector<std::string>& rule_ids();  // that a Setup alone keeps to or breaks

// Whether a Setup keeps to the rule of that id; false: there is none.
bool keeps_to_rule(const std::string& id, const Setup& setup, const Machine& machine);

}  // namespace parallelarium
