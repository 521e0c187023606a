// SPDX-License-Identifier: Apache-2.0
// What an op is, in words that stand inside a sentence.
#pragma once

#include <string>

#include "engine/plan/program/program.h"

namespace parallelarium {

// "layer 3 MLP in (forward) of micro-batch 2", "the forward of micro-batch 2" at stage level,
// "sending activations of micro-batch 2 to rank 1", "the all_reduce of gradients", "the optimizer".
std::string describe(const Op& op);

}  // namespace parallelarium
