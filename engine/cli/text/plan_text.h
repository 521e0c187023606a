// SPDX-License-Identifier: Apache-2.0
// A search for a configuration as people read it: funnel, best plans, why the neighbours lose.
#pragma once

#include <string>

#include "engine/planner/search.h"

namespace parallelarium {

std::string plan_text(const PlanResult& result, const PlanRequest& request);

}  // namespace parallelarium
