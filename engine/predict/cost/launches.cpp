// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cost/launches.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>
#include <vector>

namespace parallelarium {

namespace {

// Which op stands for the first or the last piece of a fold in the compute lane: the one that
// computes, or a collective behind it.
class FoldEnds {
 public:
  FoldEnds(const Program& program, const RankProgram& rank)
      : program_(program), rank_(rank), begins_(program.folds.empty() ? 0 : rank.ops.size(), -1) {
    for (std::size_t at = 0; at < begins_.size(); ++at) {
      const Op& op = rank.ops[at];
      if (op.fold < 0 || op.kind != OpKind::kCompute || fold_of(op).steps.empty()) continue;
      std::fill_n(begins_.begin() + static_cast<std::ptrdiff_t>(at), ops_of_fold(at),
                  static_cast<std::int32_t>(at));
    }
  }
  // `at` itself where its op stands for one piece.
  std::size_t first(std::size_t at) const { return end(at, false); }
  std::size_t last(std::size_t at) const { return end(at, true); }

 private:
  const Fold& fold_of(const Op& op) const {
    return program_.folds[static_cast<std::size_t>(op.fold)];
  }
  // The op that computes, the collectives, and what stands for the ring.
  std::size_t ops_of_fold(std::size_t begin) const {
    const Op& op = rank_.ops[begin];
    const Fold& fold = fold_of(op);
    if (fold.moved.empty()) {
      std::int32_t behind = 0;
      for (const Fold::Step& step : fold.steps) behind = std::max(behind, step.moves + 1);
      return 1 + static_cast<std::size_t>(behind);
    }
    std::size_t end = begin + 1;
    while (rank_.ops[end].fold != op.fold) ++end;
    while (end < rank_.ops.size() && rank_.ops[end].fold == op.fold &&
           rank_.ops[end].kind != OpKind::kCompute)
      ++end;
    return end - begin;
  }
  bool is_in_ring(const Fold& fold, const Fold::Step& step) const {
    return step.part < 0 && !fold.moved.empty() &&
           fold.moved[static_cast<std::size_t>(step.moves)].lane != Lane::kCompute;
  }
  std::size_t op_of(std::size_t begin, const Fold& fold, const Fold::Step& step) const {
    if (step.part >= 0) return begin;
    if (fold.moved.empty()) return begin + 1 + static_cast<std::size_t>(step.moves);
    const Op& moved = fold.moved[static_cast<std::size_t>(step.moves)];
    std::size_t at = begin + 1;
    while (rank_.ops[at].collective != moved.collective || rank_.ops[at].group != moved.group ||
           rank_.ops[at].bytes != moved.bytes || rank_.ops[at].purpose != moved.purpose)
      ++at;
    return at;
  }
  std::size_t end(std::size_t at, bool last) const {
    if (begins_.empty() || begins_[at] < 0) return at;
    const auto begin = static_cast<std::size_t>(begins_[at]);
    const Fold& fold = fold_of(rank_.ops[begin]);
    const auto in_lane = [&](const Fold::Step& step) { return !is_in_ring(fold, step); };
    return op_of(begin, fold,
                 last ? *std::find_if(fold.steps.rbegin(), fold.steps.rend(), in_lane)
                      : *std::find_if(fold.steps.begin(), fold.steps.end(), in_lane));
  }

  const Program& program_;
  const RankProgram& rank_;
  std::vector<std::int32_t> begins_;  // by op: that which computes in its fold, or -1
};

}  // namespace

void launch_transfers(const Program& program, const RankProgram& rank, const CostModel& cost,
                      std::span<std::int64_t> durations) {
  const FoldEnds ends(program, rank);
  std::vector<std::pair<int, std::int64_t>> known;  // by peer, of which a rank has few
  const auto launch_of = [&](const Op& op) -> std::int64_t {
    const bool moves = op.kind == OpKind::kSend || op.kind == OpKind::kRecv;
    if (op.lane == Lane::kCompute || !moves) return 0;
    for (const auto& [peer, launch] : known)
      if (peer == op.peer) return launch;
    return known.emplace_back(op.peer, cost.launch_nanoseconds(op, rank.rank)).second;
  };
  // By lane, in order: what is not yet with the op that waits for it, and of which receive.
  std::array<std::deque<std::pair<std::int32_t, std::int64_t>>, kLanes> received;
  for (std::size_t at = 0; at < rank.ops.size(); ++at) {
    const Op& op = rank.ops[at];
    const std::int64_t launch = launch_of(op);
    if (launch == 0) continue;
    durations[at] = std::max<std::int64_t>(0, durations[at] - 2 * launch);
    if (op.kind == OpKind::kRecv) {
      received[static_cast<std::size_t>(op.lane)].push_back(
          {static_cast<std::int32_t>(at), launch});
      continue;
    }
    for (const std::int32_t before : rank.after_of(op)) {
      if (rank.ops[static_cast<std::size_t>(before)].lane != Lane::kCompute) continue;
      durations[ends.last(static_cast<std::size_t>(before))] += launch;
      break;
    }
  }
  for (std::size_t at = 0; at < rank.ops.size(); ++at) {
    if (rank.ops[at].lane != Lane::kCompute) continue;
    for (const std::int32_t before : rank.after_of(rank.ops[at])) {
      auto& lane =
          received[static_cast<std::size_t>(rank.ops[static_cast<std::size_t>(before)].lane)];
      for (; !lane.empty() && lane.front().first <= before; lane.pop_front())
        durations[ends.first(at)] += lane.front().second;
    }
  }
}

}  // namespace parallelarium
