// SPDX-License-Identifier: Apache-2.0
// The event walk behind cost_of: messages as flows that share links.
#pragma once

#include "engine/predict/network/network.h"

namespace parallelarium {

// Fills seconds, step_seconds, links and timeline.
CollectiveCost simulate_flows(const Collective& collective, const Network& network);

}  // namespace parallelarium
