// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/program/program.h"
#include "engine/planner/bounds/bound.h"
#include "engine/predict/cost/simulate.h"

namespace parallelarium {

// What the rank's actions take and hold, of one of the lone_stages(). `with_stretches`:
// laned_bound() alone reads these, and they take as long to read as all else.
StageBound read_stage(const Program& program, const RankProgram& rank, const CostModel& cost,
                      bool with_stretches);

}  // namespace parallelarium
