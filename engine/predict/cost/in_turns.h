// SPDX-License-Identifier: Apache-2.0
// Groups that take turns. Below CUDA 12.3, NCCL makes each operation of a GPU wait until the one
// before it has ended, even if that is of another group. Source: NCCL user guide, "Environment
// Variables", NCCL_LAUNCH_ORDER_IMPLICIT.
#pragma once

#include "engine/plan/program/program.h"

namespace parallelarium {

// Returns the Program with an edge from every communication of a rank to its next one, in the order
// in which the rank issues them. Ops keep their places. Pure.
Program in_turns(Program program);

// Whether some rank communicates in several groups, so that turns make a difference.
bool has_several_groups(const Program& program);

}  // namespace parallelarium
