// SPDX-License-Identifier: Apache-2.0
// Closed forms of the schedules.
#pragma once

#include <vector>

#include "engine/predict/predict.h"

namespace parallelarium {

// Bubble over ideal time, of total time, and micro-batches held by the first rank of the Setup's
// schedule, for free transfers and equal stages, and where the backward is split for F = I = W.
// Empty for files of orders, and for micro-batches too few for the form to hold.
std::vector<Formula> pipeline_formulas(const Setup& setup);

}  // namespace parallelarium
