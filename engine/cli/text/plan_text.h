// SPDX-License-Identifier: Apache-2.0
// A search for a configuration as people read it: funnel, best plans, why the neighbours lose.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/planner/search.h"

namespace parallelarium {

std::string plan_text(const PlanResult& result, const PlanRequest& request);
// The figures of a plan as to_json() tells it, beside those of the best; empty where it is null.
std::string beside_text(const nlohmann::json& plan, const PlanResult& result);

}  // namespace parallelarium
