// SPDX-License-Identifier: Apache-2.0
// Executes one Compute op of a Program: looks up the function of its (piece, phase) and launches it
// with the operands' addresses.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/plan/program/program.h"
#include "engine/plan/result.h"
#include "engine/train/device.h"

namespace parallelarium {

// What changes from step to step and therefore is not in a Program.
struct StepScalars {
  std::int64_t step = 1;  // counted from 1 over the whole run, warm-up included
  double learning_rate = 1e-3;
  double clip = 0;  // bound of the global gradient norm; 0: none
  // For dropout: the seed, where masks begin, and whether anything is dropped.
  std::uint64_t seed = 0;
  std::int64_t first_sample = 0;  // of the rank's first micro-batch, in the step's global batch
  bool training = true;
};

// Launches `op` on `device`; the caller waits with device.finish() if it must. `arena` is the
// device address of the rank's allocation: operand addresses are
// arena + Buffer::offset + Operand::offset * size_of(type).
//
// kZeroGrad zeroes all its operands. kGradNorm overwrites its last operand if its access is kWrite
// and adds to it if it is kAccumulate. kOptimizer decays the weights of matrices only (see
// decays()). Before a step, the caller zeroes the sums that no op zeroes (kLossSum, and kSquareSum
// if ops accumulate it).
//
// Error "piece-unknown": the op has no function (communication, or a piece that this version cannot
// execute), or its operands are not those of pieces.h.
Result<void> execute_op(Device& device, const Shape& shape, const RankProgram& program,
                        const Op& op, std::byte* arena, const StepScalars& scalars);

}  // namespace parallelarium
