// SPDX-License-Identifier: GPL-3.0-or-later
// A Setup of another machine, made small enough to run on this computer.
#pragma once

#include <QString>

#include "engine/plan/placement/placement.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// `big` on this computer: its mesh, schedule and micro-batches with a small preset of the same
// kind, gpt2-124m where every rank gets a GPU and else a tiny one, one sequence per micro-batch, in
// fp32 where the engine has no kernels for its bytes. Heads, widths, layers and sequence of the
// preset follow the mesh; where the ranks are more than a run can have, the largest degree is
// halved until they fit. Resolved for `here`, the result validates and can_execute(). Requires:
// `big` does, too. Error: why there is none.
Result<Setup> small_copy(const Setup& big, const Computer& here);

// "DP 3 · TP 2 · PP 2 in place of DP 6 · TP 8 · PP 16": the degrees above 1 where the two meshes
// differ, or empty.
QString reduced_degrees(const Setup& big, const Setup& copy);

}  // namespace parallelarium
