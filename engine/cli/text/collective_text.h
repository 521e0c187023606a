// SPDX-License-Identifier: Apache-2.0
// What `collective` prints for people.
#pragma once

#include <optional>
#include <string>

#include "engine/collectives/observation.h"
#include "engine/predict/network/network.h"

namespace parallelarium {

// "Algorithms:" and one line for each.
std::string algorithms_text();

std::string collective_text(const Collective& collective, const Network& network,
                            const CollectiveCost& cost,
                            const std::optional<CollectiveObservation>& seen);

// Below which size which algorithm is faster, the spec's or `other`; `crossover` is
// crossover_bytes(). Both must be possible.
std::string crossover_text(const CollectiveSpec& spec, const std::string& other,
                           const Network& network, std::optional<std::int64_t> crossover);

}  // namespace parallelarium
