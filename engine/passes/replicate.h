// SPDX-License-Identifier: Apache-2.0
// Makes all ranks from one representative of every pipeline stage.
#pragma once

#include "engine/plan/program/program.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// Makes the program of `rank` from its built representative `like`: the same, with its own place
// and its own parts of the buckets. Groups and peers stay those of the representative (moved_group,
// moved_peer).
RankProgram moved_rank(const Setup& setup, const RankProgram& like, int rank);

// program.ranks must be the representatives (dp = tp = cp = 0) in order of stage.
Program replicate(const Program& program, const Setup& setup);

// moved_group: the members, ascending, that the replica at `to` has in place of a representative's
// group. moved_peer: the rank of a peer in such a group. `to` is in the representative's pipeline
// stage.
std::vector<int> moved_group(const Setup& setup, const Group& group, const Coordinates& to);
int moved_peer(const Mesh& mesh, Axis axis, int peer, const Coordinates& to);

}  // namespace parallelarium
