// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/rehearsal.h"

#include <algorithm>
#include <cmath>

#include "engine/plan/placement/stretch.h"
#include "engine/predict/cost/launches.h"

namespace parallelarium {

std::vector<std::vector<Nanoseconds>> modelled_durations(const Prediction& prediction) {
  const CostModel cost(prediction.program, prediction.machine, prediction.setup);
  std::vector<std::vector<Nanoseconds>> durations;
  durations.reserve(prediction.program.ranks.size());
  for (const RankProgram& rank : prediction.program.ranks) {
    std::vector<std::int64_t> of_rank;
    of_rank.reserve(rank.ops.size());
    for (const Op& op : rank.ops)
      of_rank.push_back(std::llround(cost.seconds(op, rank.rank) * 1e9));
    launch_transfers(prediction.program, rank, cost, of_rank);
    durations.emplace_back(of_rank.begin(), of_rank.end());
  }
  for (std::size_t rank = 0; rank < durations.size(); ++rank)
    for (const SlowedOp& slowed : prediction.timeline.ranks[rank].slowed)
      durations[rank][static_cast<std::size_t>(slowed.op)] += slowed.by;
  return durations;
}

namespace {

// Timers wake some 50 µs late, which shows in short ops. A run that is short anyway goes slower
// than it must, so that this shows less.
constexpr double kShortRunSeconds = 5, kSlowerAtMost = 8;

}  // namespace

double stretch_of(const Prediction& prediction, const Machine& here) {
  const Program& program = prediction.program;
  const CostModel cost(program, prediction.machine, prediction.setup);
  // A slow rank sleeps longer: its real work is that of the others.
  Setup equal = prediction.setup;
  equal.run.slow_rank = {};
  const CostModel here_cost(program, here, equal);
  // A Program of representatives stands for the other ranks too.
  const double stands_for = static_cast<double>(program.world) /
                            static_cast<double>(std::max<std::size_t>(program.ranks.size(), 1));
  std::vector<RankWork> ranks;
  for (const RankProgram& rank : program.ranks) {
    RankWork& own = ranks.emplace_back();
    for (const Op& op : rank.ops) {
      const double work = here_cost.seconds(op, rank.rank);
      own.work += (work + kSleepSeconds) * stands_for;
      if (op.kind == OpKind::kCompute && op.lane == Lane::kCompute)
        own.ops.push_back({cost.seconds(op, rank.rank), work});
    }
  }
  const double least = least_stretch(ranks, prediction.step.seconds, std::max(here.cores, 1));
  const double short_run = kShortRunSeconds / clock_seconds_of(prediction, 1);
  return chosen_stretch(std::max(least, std::min(kSlowerAtMost * least, short_run)),
                        prediction.setup.run.stretch);
}

double clock_seconds_of(const Prediction& prediction, double stretch) {
  const RunSettings& run = prediction.setup.run;
  return prediction.step.seconds * stretch * (run.warmup + run.steps);
}

}  // namespace parallelarium
