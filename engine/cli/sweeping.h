// SPDX-License-Identifier: Apache-2.0
// A sweep, as the command line or `serve` is asked for it.
#pragma once

#include <atomic>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/cli/training.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"
#include "engine/planner/space/space.h"
#include "engine/planner/sweep.h"
#include "engine/predict/predict.h"

namespace parallelarium {

// "step,memory" as the figures that it names.
std::vector<Metric> metrics_from(const std::string& list);

// The limits that a search sets to its plans, as they hold for the points of a sweep.
struct SweepLimits {
  double memory_bytes = 0;  // of a device that may be used; 0: all that the Machine says
  PlanRefusal refuses;      // null: nothing is refused
};
// The prediction of a point within these limits. Errors: that of predict(), that of limit_memory(),
// and the sentence of `refuses`.
Result<Prediction> predict_within(const SweepLimits& limits, const Situation& situation);

struct SweepRequest {
  Setup base;
  std::vector<Variation> vary;
  std::vector<Metric> metrics;
  Turned kept;  // settings that every point has, whatever varies
  SweepLimits limits;
};
// {"setup": the base, "vary": ["tp=1,2,4", "zero=0,1"], "show": "step,memory"}, and "keep":
// {"gpus": "8"} where each point has these settings in place of what fills them; "memory_bytes" and
// "for" as `plan` has them.
Result<SweepRequest> sweep_request_from_json(const nlohmann::json& json);

// What `sweep --json` answers. Beside that of each point "nodes", how many its ranks take,
// "group_nodes", how many one group has ranks on, where the first setting is an axis of the mesh,
// and "message", its refusal as a Message; and "capacity_bytes" of a device, where a point is
// valid. Errors: as sweep()'s; "sweep-cancelled" is of the kind "cancelled".
Result<nlohmann::json> sweep_answer(const SweepRequest& request, const std::atomic<bool>* cancel,
                                    const std::function<void(std::size_t, std::size_t)>& progress);

}  // namespace parallelarium
