// SPDX-License-Identifier: Apache-2.0
// What stages do with one micro-batch, without a pipeline around them.
#pragma once

#include <vector>

#include "engine/passes/pieces.h"
#include "engine/plan/program/program.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

struct LoneStage {
  Chunk chunk;
  int place = 0;  // place of its rank in the pipeline
};

// Makes two ranks for each stage, one after the other: one has the forward with a whole backward,
// the other with a split one. They have the ops, edges and lives of buffers that build_program()
// gives them without ZeRO, except what replicas do for each other and the update. There is no rank
// at the other end of their transfers, and their buffers have no places. So the Program is only for
// reading.
//
// `sizes` are those of a rank. mesh.pp must be above every place, and zero must be 0.
Program lone_stages(const Setup& setup, const LocalSizes& sizes,
                    const std::vector<LoneStage>& stages);

}  // namespace parallelarium
