// SPDX-License-Identifier: Apache-2.0
// Closed forms of a collective's time in the latency-bandwidth model, beside the simulated one.
#pragma once

#include <optional>

#include "engine/predict/network/network.h"
#include "engine/predict/predict.h"

namespace parallelarium {

struct ClosedForm {
  Formula formula;
  // Whether the simulation gives the same: the network is the form's, all chunks are equal, and
  // the form makes no assumption that the steps do not keep. Else formula.note says what differs.
  bool exact = false;
};

// The time of the algorithm by its closed form, which supposes that the ranks hang on one switch
// (hierarchical: on two levels, where the network's nodes are its own). None where the literature
// has none, or counts are uneven.
std::optional<ClosedForm> closed_form(const Collective& collective, const Network& network);

// All formulas of a collective: time, steps, bytes per rank, bandwidths.
std::vector<Formula> formulas_of(const Collective& collective, const Network& network);

}  // namespace parallelarium
