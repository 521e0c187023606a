// SPDX-License-Identifier: Apache-2.0
// A sweep, as the command line or `serve` is asked for it.
#pragma once

#include <atomic>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"
#include "engine/planner/sweep.h"

namespace parallelarium {

// "step,memory" as the figures that it names.
std::vector<Metric> metrics_from(const std::string& list);

struct SweepRequest {
  Setup base;
  std::vector<Variation> vary;
  std::vector<Metric> metrics;
  Turned kept;  // settings that every point has, whatever varies
};
// {"setup": the base, "vary": ["tp=1,2,4", "zero=0,1"], "show": "step,memory"}, and "keep":
// {"gpus": "8"} where each point has these settings in place of what fills them.
Result<SweepRequest> sweep_request_from_json(const nlohmann::json& json);

// What `sweep --json` answers. Beside that of each point "nodes", how many its ranks take,
// "group_nodes", how many one group has ranks on, where the first setting is an axis of the mesh,
// and "message", its refusal as a Message; and "capacity_bytes" of a device, where a point is
// valid. Errors: as sweep()'s; "sweep-cancelled" is of the kind "cancelled".
Result<nlohmann::json> sweep_answer(const SweepRequest& request, const std::atomic<bool>* cancel,
                                    const std::function<void(std::size_t, std::size_t)>& progress);

}  // namespace parallelarium
