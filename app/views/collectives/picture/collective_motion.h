// SPDX-License-Identifier: GPL-3.0-or-later
// What a collective looks like at one time: which contributions every chunk holds, what is on its
// way, what has been sent. A function of (Collective, Timeline, time).
#pragma once

#include <memory>
#include <vector>

#include "app/state/collective/collective_plan.h"

namespace parallelarium {

// A Move by its place in Collective::steps; -1: none.
struct MoveRef {
  int step = -1, move = -1;
  bool operator==(const MoveRef&) const = default;
};

// A Move at some time: 0 has not begun, 1 has arrived.
struct Flight {
  MoveRef ref;
  double share = 0;
};

class CollectiveMotion {
 public:
  // `timeline` must be of the plan's Program.
  CollectiveMotion(std::shared_ptr<const CollectivePlan> plan, const Timeline& timeline);

  const CollectivePlan& plan() const { return *plan_; }
  Source source() const { return source_; }
  Nanoseconds duration() const { return duration_; }
  int steps() const { return int(step_spans_.size()); }
  // From the first message of the step to its last.
  Span step_span(int step) const { return step_spans_[std::size_t(step)]; }
  // Of one rank; empty where it takes no part.
  Span step_span(int step, int rank) const {
    return rank_spans_[std::size_t(step * ranks_ + rank)];
  }
  // The last step that has begun at `time`; -1 where there are none.
  int step_at(Nanoseconds time) const;
  // The contributions in a rank's chunk, and after how many steps that was so.
  RankSet held(int rank, int chunk, Nanoseconds time) const;
  int settled_step(int rank, int chunk, Nanoseconds time) const;
  // The moves of the step at `time`, and those of other steps that are on their way then.
  std::vector<Flight> flights(Nanoseconds time) const;
  Span span_of(MoveRef ref) const;
  // How long the receiver had been ready before the message began to come.
  Nanoseconds waited(MoveRef ref) const;
  // Bytes that have left a rank, messages under way in proportion.
  std::int64_t sent_until(int rank, Nanoseconds time) const;
  const Move& move(MoveRef ref) const {
    return plan_->collective.steps[std::size_t(ref.step)][std::size_t(ref.move)];
  }

 private:
  struct Change {
    Nanoseconds time{0};
    int after = 0;  // index in holdings
  };
  std::shared_ptr<const CollectivePlan> plan_;
  Source source_ = Source::kPredicted;
  Nanoseconds duration_{0};
  int ranks_ = 0;
  std::vector<Span> step_spans_, rank_spans_;
  std::vector<std::vector<Span>> moves_;         // as Collective::steps
  std::vector<std::vector<Nanoseconds>> ready_;  // when both sides could have begun
  std::vector<std::vector<Change>> changes_;     // by rank * chunks + chunk, ascending
};

}  // namespace parallelarium
