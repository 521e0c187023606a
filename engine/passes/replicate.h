// SPDX-License-Identifier: Apache-2.0
// From one representative of every pipeline stage to all ranks.
#pragma once

#include "engine/plan/program.h"
#include "engine/plan/setup.h"

namespace parallelarium {

// Requires: program.ranks are the representatives (dp = tp = cp = 0) in order of stage.
Program replicate(const Program& program, const Setup& setup);

}  // namespace parallelarium
