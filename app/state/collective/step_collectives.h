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
  int calls = 0;        // a step, of the rank that makes most of them
};

// Equal ones are one entry, those that move most bytes in a step first. A collective of one rank
// moves nothing and is left out.
std::vector<StepCollective> collectives_of_step(const Prediction& prediction);

// "All-reduce of gradients" and "DP, 2 ranks · 1.62 MiB, 3 times a step".
QString title_of(const StepCollective& collective);
QString facts_of(const StepCollective& collective);

// `now` with the collective of the step: links stay, and the algorithm where it is one of that
// operation. Error: the view cannot show it (too many ranks, too large).
Result<CollectiveChoice> choice_of(const StepCollective& collective, const CollectiveChoice& now);

}  // namespace parallelarium
