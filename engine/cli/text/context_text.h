// SPDX-License-Identifier: Apache-2.0
// Context parallelism as text: the causal square of scores, who computes which block of it, and how
// much each rank has to do.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "engine/plan/layer/context/context_times.h"
#include "engine/plan/layer/context/layer_context.h"

namespace parallelarium {

// Empty where CP cuts nothing. Of more runs than a line has room for, the work alone.
std::string context_text(const LayerContext& context);

// "1 : 3 : 5 : 7": each over the least.
std::string work_ratio_text(const std::vector<double>& work);

// "Attention of the CP ranks: work 1 : 3 : 5 : 7, time 1 : 2.9 : 4.8 : 6.9 (measured)".
// times.known() must be true.
std::string context_times_text(const ContextTimes& times, std::string_view source);
// {"work", "predicted_seconds", "seconds"}. times.known() must be true.
nlohmann::json context_times_json(const ContextTimes& predicted, const ContextTimes& times);

}  // namespace parallelarium
