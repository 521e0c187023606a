// SPDX-License-Identifier: Apache-2.0
// A Setup of another machine, made small enough to run on this computer.
#pragma once

#include "engine/plan/placement/placement.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// `big` on this computer: its mesh, schedule and micro-batches with a small preset of the same
// kind, gpt2-124m where every rank gets a GPU and else a tiny one, one sequence per micro-batch, no
// more steps than a new Setup has, in fp32 where the engine has no kernels for its bytes. Heads,
// widths, layers and sequence of the preset follow the mesh; where the ranks are more than a run
// can have, the largest degree is halved until they fit. Resolved for `here`, the result validates
// and can_execute(). `big` must do so, too. Error: why there is none.
Result<Setup> small_copy(const Setup& big, const Computer& here);

}  // namespace parallelarium
