// SPDX-License-Identifier: Apache-2.0
// The description of a layer as JSON: every step with what each rank finds, leaves, computes, sends
// and keeps. Where CP cuts the sequence, "context" says who computes which block of scores in which
// round.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "engine/plan/layer/layer_steps.h"

namespace parallelarium {

nlohmann::json to_json(const LayerSteps& layer);
std::string_view name_of(LayerPlace part);  // "layer", "embedding", "head"

}  // namespace parallelarium
