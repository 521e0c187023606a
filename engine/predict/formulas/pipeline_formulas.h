// SPDX-License-Identifier: Apache-2.0
// Closed forms of the schedules.
#pragma once

#include <vector>

#include "engine/predict/predict.h"

namespace parallelarium {

// The bubble over ideal time and over total time, and the micro-batches held by the first rank, for
// the Setup's schedule. They assume free transfers and equal stages and, if the backward is split,
// F = I = W. Empty for files of orders, and for micro-batches too few for the form to hold.
std::vector<Formula> pipeline_formulas(const Setup& setup);

}  // namespace parallelarium
