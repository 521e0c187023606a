// SPDX-License-Identifier: Apache-2.0
// Describes an op or a buffer in words that fit into a sentence.
#pragma once

#include "engine/plan/program/program.h"

namespace parallelarium {

// "layer 3 MLP in (forward) of micro-batch 2", "the forward of micro-batch 2" at stage level,
// "sending activations of micro-batch 2 to rank 1", "the all_reduce of gradients", "the optimizer".
Message describe(const Op& op);

// "layer 3 attention scores, micro-batch 2"
Message describe(const Buffer& buffer);

// "the gradient of micro-batch 3"; only `what` if `microbatch` < 0.
Message of_microbatch(Message what, int microbatch);

}  // namespace parallelarium
