// SPDX-License-Identifier: Apache-2.0
// Executes a Compute op of Piece::kCombine: what a rank computes between the steps of a collective,
// or between the type of its gradients and that of their reduction.
#pragma once

#include "engine/plan/program/program.h"
#include "engine/plan/result.h"
#include "engine/train/device_stream.h"

namespace parallelarium {

// Launches `op` on `device`. `arena` is the device address of the rank's allocation.
// Error "combine-operands": the operands are not those of pieces.h, or an average names no group.
Result<void> combine_op(DeviceStream& device, const Program& program, const RankProgram& rank,
                        const Op& op, std::byte* arena);

}  // namespace parallelarium
