// SPDX-License-Identifier: Apache-2.0
// What `collective` prints for people.
#pragma once

#include <optional>
#include <string>

#include "engine/collectives/observation.h"
#include "engine/predict/network.h"

namespace parallelarium {

// "Algorithms:" and one line for each.
std::string algorithms_text();

std::string collective_text(const Collective& collective, const Network& network,
                            const CollectiveCost& cost,
                            const std::optional<CollectiveObservation>& seen);

}  // namespace parallelarium
