// SPDX-License-Identifier: Apache-2.0
// From one representative of every pipeline stage to all ranks.
#pragma once

#include "engine/plan/program/program.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// Requires: program.ranks are the representatives (dp = tp = cp = 0) in order of stage.
Program replicate(const Program& program, const Setup& setup);

// The members of a representative's group as the replica at `to` has them, ascending; and the rank
// that a peer in such a group is to it. `to` is of the representative's pipeline stage.
std::vector<int> moved_group(const Setup& setup, const Group& group, const Coordinates& to);
int moved_peer(const Mesh& mesh, Axis axis, int peer, const Coordinates& to);

}  // namespace parallelarium
