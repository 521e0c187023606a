// SPDX-License-Identifier: Apache-2.0
// Closed forms of schedules with several chunks on a rank or a split backward.
#pragma once

#include <vector>

#include "engine/predict/predict.h"

namespace parallelarium {

// Bubble over ideal time, of total time, and micro-batches held by the first rank of the Setup's
// schedule, for F = I = W (whole backward 2 F), free transfers and equal stages; empty for naive,
// GPipe, 1F1B and files of orders, and for micro-batches too few for the form to hold.
std::vector<Formula> pipeline_formulas(const Setup& setup);

}  // namespace parallelarium
