// SPDX-License-Identifier: Apache-2.0
// What a search was asked for, by the command line or by `serve`.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"
#include "engine/planner/search.h"

namespace parallelarium {

// "64" or "8..64".
Result<void> read_gpus(const std::string& text, PlanRequest& request);
// "time", "gpus", "memory" or "tokens-per-gpu".
Result<void> read_objective(const std::string& name, PlanRequest& request);
// What of a Setup's axes that framework cannot say; empty: any will do. Error: "framework-unknown".
Result<PlanRefusal> refusal_by(const std::string& framework);
// Has the search keep to what that framework can say, and tell what it does in no usual way.
Result<void> keep_to_framework(const std::string& framework, PlanRequest& request);
// What a framework makes of a plan, which the search holds it to in its axes alone: the sentences
// of what its text cannot say, and of what it says and no figure counts, and the step that the text
// means; null where that cannot be.
nlohmann::json as_written(const std::string& framework, const Setup& plan, const Machine& machine);
// Gives the request its Machine and the Setup that all candidates begin with: `base` as this
// computer resolves it. The mesh and the other axes are the search's.
Result<void> settle(const Setup& base, PlanRequest& request);

// {"setup": the base, "gpus": "64", "global_batch": 1024, "allowed": {"tp": ["1", "2"]},
// "objective": "time", "top": 10, "memory_bytes": of a device that may be used, "for": a framework
// that must be able to say the plans}; the last five may be absent. Every key but "setup" is the
// search's own.
Result<PlanRequest> plan_request_from_json(const nlohmann::json& json);

// Recommends the plan near to a Setup that was asked about, too.
void note_nearest_to(Setup asked, const PlanRequest& request, PlanResult& result,
                     const PlanWatch& watch);
// What the search makes of a Setup on its Machine, as `plan --explain` tells it.
nlohmann::json explanation_of(Setup asked, const PlanRequest& request, const PlanResult& result,
                              const PlanWatch& watch);
// That the search has no axis of that name.
Message no_axis(const std::string& name);
// {"device_bytes", "capacity_bytes", "sentence", "message"}: what a plan may fill, and what is not
// counted.
nlohmann::json memory_limit_json(const Machine& machine);
// What --memory says, and its bytes. Error: it is not above 0.
inline constexpr const char* kMemoryOptionHelp =
    "GiB of a device that a rank's own tensors may fill (default: what a framework leaves)";
Result<double> memory_from_gib(double gib);
// Makes so many bytes of a device usable. Error: it has fewer.
Result<void> limit_memory(Machine& machine, double bytes);

}  // namespace parallelarium
