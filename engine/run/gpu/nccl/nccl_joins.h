// SPDX-License-Identifier: Apache-2.0
// Which collectives go to NCCL together: each group of calls costs a host a thread of NCCL's and a
// wait for it, and neighbours that need nothing of each other share one. Pure.
#pragma once

#include <vector>

#include "engine/plan/program/program.h"

namespace parallelarium {

// By rank of the Program and op: whether this collective is issued in one NCCL group with the one
// before it in its lane. Then both are of one communicator, small enough that the host's time
// counts, have no op of the lane and no other communication between them, and the second waits for
// nothing that the first does not wait for and touches none of its memory. All members decide
// alike, as NCCL asks of aggregated operations, so this reads the Programs of all.
// Source: NCCL user guide, "Aggregated Operations".
std::vector<std::vector<bool>> joined_collectives(const Program& program);

}  // namespace parallelarium
