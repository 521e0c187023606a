// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/program/program.h"
#include "engine/planner/bounds/bound.h"
#include "engine/predict/cost/simulate.h"

namespace parallelarium {

// Reads the times and bytes of the rank's actions. `rank` is one of the lone_stages().
// `with_stretches`: only laned_bound() needs the stretches, and reading them takes as long as
// everything else.
StageBound read_stage(const Program& program, const RankProgram& rank, const CostModel& cost,
                      bool with_stretches);

}  // namespace parallelarium
