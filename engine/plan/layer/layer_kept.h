// SPDX-License-Identifier: Apache-2.0
// What the forward of a layer leaves for its backward.
#pragma once

#include "engine/plan/layer/layer_steps.h"

namespace parallelarium {

// Sets LayerRankStep::kept_bytes: every activation buffer that the layer's backward reads and that
// is open from its forward until then counts once, at the first step whose own backward reads it,
// else at the first that reads it.
// The steps must be those of a forward.
void set_kept(const Program& program, LayerSteps& steps);

}  // namespace parallelarium
