// SPDX-License-Identifier: Apache-2.0
// The time of folds in which a ring of TP goes round, found by a walk over their steps in two
// lanes.
#pragma once

#include <optional>
#include <vector>

#include "engine/plan/program/repeats.h"
#include "engine/predict/cost/simulate.h"

namespace parallelarium {

// The folds of one rank. Program and cost model must outlive this object.
class RingFolds {
 public:
  // `rank` is global.
  RingFolds(const Program& program, const CostModel& cost, int rank)
      : program_(program), cost_(cost), rank_(rank), known_(program.folds.size()) {}

  // Whether the op computes beside a ring in its fold, or stands for that ring.
  bool has(const Op& op) const {
    return op.fold >= 0 && !program_.folds[static_cast<std::size_t>(op.fold)].moved.empty();
  }
  // The time that the fold computes, or the part of its ring's time that nothing hides. To the
  // nanosecond it is the time that the pieces take one by one, launches included (launches.h).
  std::int64_t nanoseconds(const Op& op) {
    return op.kind == OpKind::kCompute ? time_of(op).computes : time_of(op).exposed;
  }
  // The time that the messages of its ring take.
  std::int64_t moves_nanoseconds(const Op& op) { return time_of(op).moves; }

 private:
  struct Time {
    std::int64_t computes = 0, moves = 0, exposed = 0;
  };
  const Time& time_of(const Op& op);
  Time time_of(const Fold& fold, const Op& op) const;

  const Program& program_;
  const CostModel& cost_;
  const int rank_;
  std::vector<std::optional<Time>> known_;  // by fold
};

// For step_figures(). Program and cost model must outlive it.
RingTimes ring_times(const Program& program, const CostModel& cost);

}  // namespace parallelarium
