// SPDX-License-Identifier: Apache-2.0
// What `serve` does for a request that takes long: each on the thread of its job, with progress and
// cancel through `watch`. Each answers the JSON that the window reads, or why there is none.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/cli/planning.h"
#include "engine/cli/sweeping.h"
#include "engine/cli/training.h"
#include "engine/wire/collective_messages.h"
#include "engine/wire/rpc.h"

namespace parallelarium {

Result<nlohmann::json> calibrate_job(const Watch& watch);
// Whether this computer's GPUs compute and talk as they should.
Result<nlohmann::json> check_job(const Watch& watch);
Result<nlohmann::json> run_job(const RunRequest& request, const Watch& watch);
Result<nlohmann::json> collective_job(const CollectiveRequest& request, const Watch& watch);
// What `plan --json` answers, and the Machine's memory that it searched with. `today`: a Setup to
// explain beside it.
Result<nlohmann::json> plan_job(const PlanRequest& request, const std::optional<Setup>& today,
                                const Watch& watch);
// Why the plan `best` of that search has not another value of an axis.
Result<nlohmann::json> why_not_job(const PlanRequest& request, const std::string& axis,
                                   const std::string& value, const Setup& best,
                                   std::vector<Setup> fastest, const Watch& watch);
// What the search makes of a Setup: `plans` are the best that it found, in their order.
Result<nlohmann::json> standing_job(PlanRequest request, const Setup& asked,
                                    const std::vector<Setup>& plans, const Watch& watch);
// `asked` is a plan of that search: what each change of one axis that the search tries would do.
Result<nlohmann::json> neighbours_job(const PlanRequest& request, const Setup& asked,
                                      const Watch& watch);
Result<nlohmann::json> sweep_job(const SweepRequest& request, const Watch& watch);

}  // namespace parallelarium
