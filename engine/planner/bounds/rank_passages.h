// SPDX-License-Identifier: Apache-2.0
// What each action of an Order makes of the times at which its rank's lanes are free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/plan/order/order.h"
#include "engine/plan/setup/setup.h"
#include "engine/planner/bounds/bound.h"
#include "engine/planner/bounds/passage.h"
#include "engine/planner/bounds/step_end.h"

namespace parallelarium {

// Whether data lanes are walked in every action, which gathers a bucket anew and adds it up.
bool walks_data(const Setup& setup);

class RankPassages {
 public:
  // `end` and `order` must outlive this.
  RankPassages(const Setup& setup, const StageTable& table, const StepEnd& end, const Order& order);

  // Whether every stretch is known for what it is, which it is not where pieces are folded.
  bool known() const { return known_; }
  // The moments of a rank before its first action.
  Moments before_first(std::size_t rank) const;
  // Of the rank's action `index`.
  const Passage& of(std::size_t rank, std::size_t index);
  // Whether the rank's actions before the cut are the same where they come again: none is the last
  // that adds to gradients, and behind the cut comes what came a body earlier.
  bool repeat(std::size_t rank, std::size_t cut, std::size_t length) const;

 private:
  // A stretch as it is walked. Few of its points have a way to others.
  struct Way {
    std::uint8_t from = 0, to = 0;  // LanePoint
    std::int64_t takes = 0;
  };
  struct Walked {
    StretchBound::Part part = StretchBound::Part::kOther;
    std::vector<Way> ways;
  };

  // What is known of the actions of one rank.
  struct Line {
    // Of actions by kind_of(), by whether it is the last that adds to its chunk's gradients, and by
    // the kind_of() of the action before which it gathers; null: none was walked yet.
    std::vector<std::unique_ptr<const Passage>> passages;
    std::vector<std::int32_t> next;  // by action, the first one behind it that has stretches; -1
  };

  static std::vector<Walked> walked(const std::vector<StretchBound>& stretches);
  static std::vector<StretchBound> stretches_of(const StageTable& table, int stage, ActionKind kind,
                                                bool splits);
  const std::vector<Walked>& stretches_of(std::size_t rank, const Action& action) const {
    const int stage = order_.stage_of[rank][static_cast<std::size_t>(action.chunk)];
    return stretches_[static_cast<std::size_t>(stage) * 4 + static_cast<std::size_t>(action.kind)];
  }
  bool is_last_adding(std::size_t rank, std::size_t index, const Action& action) const;
  const BucketCost& bucket_of(std::size_t rank, const Walked& stretch) const;
  static std::size_t kind_of(const Action& action) {
    return static_cast<std::size_t>(action.chunk) * 4 + static_cast<std::size_t>(action.kind);
  }
  void find_next();
  const Action* first_of(std::size_t rank) const;
  const Action* behind(std::size_t rank, std::size_t index) const;
  Passage walk(std::size_t rank, const Action& action, bool last, const Action* next) const;
  void gather(Passage& passage, std::size_t rank, const Action* action, std::size_t at) const;

  const Order& order_;
  const StepEnd& end_;
  bool data_ = false, known_ = true;
  const bool rings_beside_buckets_;
  std::vector<std::vector<std::int64_t>> last_adding_;  // empty: not walked
  std::vector<Line> lines_;
  std::vector<std::vector<Walked>> stretches_;  // by stage and ActionKind
};

}  // namespace parallelarium
