// SPDX-License-Identifier: Apache-2.0
// Runs that lessons and hand-ins ask for.
#pragma once

#include "engine/cli/commands/command.h"
#include "engine/collectives/collective.h"
#include "engine/collectives/observation.h"
#include "engine/lesson/check/check.h"
#include "engine/plan/program/report.h"

namespace parallelarium {

inline constexpr int kMostLessonRanks = 64;  // lessons/schema.json

Result<Observation> run_for_check(const Setup& setup, Progress& progress);
// The same with its proof (`--verify`).
Result<ProvedRun> prove_for_check(const Setup& setup, Progress& progress);
// Where the window would run it.
Result<CollectiveObservation> run_collective_for_check(const CollectiveSpec& spec,
                                                       Progress& progress);

}  // namespace parallelarium
