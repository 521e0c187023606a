// SPDX-License-Identifier: Apache-2.0
// What the routers of a run did: for people, and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/plan/program/report.h"

namespace parallelarium {

// Of every step: its losses, choices, drops, and the fullest expert.
nlohmann::json balance_json(const Observation& observed);
// One sentence about the step that the timeline shows. routing_of_timeline(observed) must be known.
std::string balance_text(const Observation& observed);

}  // namespace parallelarium
