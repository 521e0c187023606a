// SPDX-License-Identifier: GPL-3.0-or-later
// The collectives inside a predicted training step, so that the Collectives view can show one.
#pragma once

#include <QString>
#include <vector>

#include "engine/predict/network/collective_plan.h"
#include "engine/predict/predict.h"

namespace parallelarium {

struct StepCollective {
  Axis axis = Axis::kWorld;
  Purpose purpose = Purpose::kNone;
  CollectiveSpec spec;  // kind, ranks, bytes, type and reduction; the algorithm is left open
  int calls = 0;        // per step, by the rank that makes the most
};

// Equal collectives are one entry. Those that move the most bytes in a step come first. A
// collective of one rank moves nothing and is left out.
std::vector<StepCollective> collectives_of_step(const Prediction& prediction);

// "All-reduce of gradients" and "DP, 2 ranks · 1.62 MiB, 3 times a step".
QString title_of(const StepCollective& collective);
QString facts_of(const StepCollective& collective);

// `now` with the collective of the step. Links stay, and so does the algorithm if the operation has
// it. Error: the view cannot show it (too many ranks, too large).
Result<CollectiveChoice> choice_of(const StepCollective& collective, const CollectiveChoice& now);

}  // namespace parallelarium
