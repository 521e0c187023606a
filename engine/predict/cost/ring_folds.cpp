// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cost/ring_folds.h"

#include <algorithm>
#include <array>
#include <map>

namespace parallelarium {

const RingFolds::Time& RingFolds::time_of(const Op& op) {
  const auto at = static_cast<std::size_t>(op.fold);
  std::optional<Time>& known = known_[at];
  if (!known) known = time_of(program_.folds[at], op);
  return *known;
}

RingFolds::Time RingFolds::time_of(const Fold& fold, const Op& op) const {
  std::vector<std::int64_t> of_moved, launches;
  for (const Op& moved : fold.moved) {
    launches.push_back(cost_.launch_nanoseconds(moved, rank_));
    of_moved.push_back(
        std::max<std::int64_t>(0, cost_.nanoseconds(moved, rank_) - 2 * launches.back()));
  }
  const auto moved_by = [&](const Fold::Step& step) -> const Op& {
    return fold.moved[static_cast<std::size_t>(step.moves)];
  };
  const auto is_in_ring = [&](const Fold::Step& step) {
    return step.part < 0 && moved_by(step).lane != Lane::kCompute;
  };
  std::vector<std::int64_t> durations;
  std::int64_t apart = 0;  // collectives that are ops of their own
  for (const Fold::Step& step : fold.steps) {
    if (step.part >= 0) {
      const Fold::Part& part = fold.parts[static_cast<std::size_t>(step.part)];
      durations.push_back(cost_.nanoseconds(op_of(part, op), rank_));
      continue;
    }
    durations.push_back(of_moved[static_cast<std::size_t>(step.moves)]);
    if (!is_in_ring(step)) apart += durations.back();
  }
  // A send is launched by what it waits for, a receive by what waits for it (launches.cpp).
  std::size_t received = 0;  // receives before this step have been launched
  for (std::size_t at = 0; at < fold.steps.size(); ++at) {
    const Fold::Step& step = fold.steps[at];
    if (step.after < 0) continue;
    const auto after = static_cast<std::size_t>(step.after);
    if (is_in_ring(step)) {
      if (moved_by(step).kind == OpKind::kSend)
        durations[after] += launches[static_cast<std::size_t>(step.moves)];
      continue;
    }
    for (; received <= after; ++received) {
      const Fold::Step& before = fold.steps[received];
      if (is_in_ring(before) && moved_by(before).kind == OpKind::kRecv)
        durations[at] += launches[static_cast<std::size_t>(before.moves)];
    }
  }

  Time time;
  std::array<std::int64_t, 2> free{};  // the compute lane, and that of the ring
  std::vector<std::int64_t> ends(fold.steps.size());
  for (std::size_t at = 0, end = 0; at < fold.steps.size(); at = end) {
    std::int64_t& lane = free[is_in_ring(fold.steps[at]) ? 1 : 0];
    std::int64_t begin = lane, longest = 0;
    for (end = at; end < fold.steps.size() && (end == at || fold.steps[end].joins); ++end) {
      if (const std::int32_t after = fold.steps[end].after; after >= 0)
        begin = std::max(begin, ends[static_cast<std::size_t>(after)]);
      longest = std::max(longest, durations[end]);
    }
    lane = begin + longest;
    if (is_in_ring(fold.steps[at])) time.moves += longest;
    std::fill(ends.begin() + static_cast<std::ptrdiff_t>(at),
              ends.begin() + static_cast<std::ptrdiff_t>(end), lane);
  }
  for (std::size_t at = 0; at < fold.steps.size(); ++at)
    if (fold.steps[at].part >= 0) time.computes += durations[at];
  time.exposed = std::max(free[0], free[1]) - time.computes - apart;
  return time;
}

RingTimes ring_times(const Program& program, const CostModel& cost) {
  return [&program, &cost, known = std::map<int, RingFolds>()](const RankProgram& rank,
                                                               const Op& folded) mutable {
    RingFolds& folds = known.try_emplace(rank.rank, program, cost, rank.rank).first->second;
    return Nanoseconds{folds.has(folded) ? folds.moves_nanoseconds(folded) : 0};
  };
}

}  // namespace parallelarium
