// SPDX-License-Identifier: Apache-2.0
// Closed forms of a collective's time in the latency-bandwidth model, for comparison with the
// simulated time.
#pragma once

#include <optional>

#include "engine/predict/network/network.h"
#include "engine/predict/predict.h"

namespace parallelarium {

struct ClosedForm {
  Formula formula;
  // Whether the simulation gives the same time. This is so if the network is that of the form, all
  // chunks are equal, and the steps keep every assumption of the form. If not, formula.note says
  // what differs.
  bool exact = false;
};

// The time of the algorithm by its closed form. The form assumes that all ranks are on one switch;
// for the hierarchical algorithm, on two levels whose nodes are the algorithm's own. None: the
// literature has no form, or counts are uneven.
std::optional<ClosedForm> closed_form(const Collective& collective, const Network& network);

// All formulas of a collective: time, steps, bytes per rank, bandwidths.
std::vector<Formula> formulas_of(const Collective& collective, const Network& network);

}  // namespace parallelarium
