// SPDX-License-Identifier: Apache-2.0
// Finds collectives that go to NCCL together. Each group of calls costs a host a thread of NCCL's
// and a wait for it, so independent neighbours share one. Pure.
#pragma once

#include <vector>

#include "engine/plan/program/program.h"

namespace parallelarium {

// By rank and op: whether this collective shares an NCCL group with the one before it in its lane.
// It does if both are of one communicator and small enough that the host's time counts, no op of
// the lane and no other communication is between them, and the second waits for nothing more than
// the first and touches none of its memory. NCCL asks that all members decide alike, so this reads
// the Programs of all ranks.
// Source: NCCL user guide, "Aggregated Operations".
std::vector<std::vector<bool>> joined_collectives(const Program& program);

}  // namespace parallelarium
