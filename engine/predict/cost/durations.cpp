// SPDX-License-Identifier: Apache-2.0
// What the ops of a Program take on a Machine, and ask of its links, before anything delays them.
#include <array>
#include <cassert>
#include <optional>
#include <span>

#include "engine/predict/cost/launches.h"
#include "engine/predict/cost/ring_folds.h"
#include "engine/predict/cost/simulate.h"

namespace parallelarium {

namespace {

// Durations of collectives. A rank has few that are unlike, and they come in turn: what follows is
// mostly like what followed the last time.
class KnownCollectives {
 public:
  KnownCollectives(const CostModel& cost, int rank) : cost_(cost), rank_(rank) {}
  std::int64_t nanoseconds(const Op& op) {
    if (op.kind != OpKind::kCollective || op.purpose == Purpose::kTokens)
      return cost_.nanoseconds(op, rank_);
    const Like like{op.group,     op.bytes,   op.collective, op.type,
                    op.reduction, op.purpose, op.repeat};
    for (std::size_t looked = 0; looked < known_.size(); ++looked) {
      latest_ = latest_ + 1 < known_.size() ? latest_ + 1 : 0;
      if (known_[latest_].like == like) return known_[latest_].nanoseconds;
    }
    latest_ = known_.size();
    known_.push_back({like, cost_.nanoseconds(op, rank_)});
    return known_.back().nanoseconds;
  }

 private:
  struct Like {
    std::int32_t group = -1;
    std::int64_t bytes = 0;
    CollectiveKind collective = CollectiveKind::kAllReduce;
    DataType type = DataType::kF32;
    Reduction reduction = Reduction::kNone;
    Purpose purpose = Purpose::kNone;
    std::int32_t repeat = 1;
    bool operator==(const Like&) const = default;
  };
  struct Known {
    Like like;
    std::int64_t nanoseconds = 0;
  };
  const CostModel& cost_;
  const int rank_;
  std::vector<Known> known_;
  std::size_t latest_ = 0;  // the latest that was asked for
};

bool is_of_tensor(const Program& program, const Op& op) {
  return op.group >= 0 && program.groups[static_cast<std::size_t>(op.group)].axis == Axis::kTp;
}

// Messages of TP stand beside what computes, or folds have them.
bool has_tensor_rings(const Program& program) {
  if (std::any_of(program.folds.begin(), program.folds.end(),
                  [](const Fold& fold) { return !fold.moved.empty(); }))
    return true;
  return std::any_of(program.ranks.begin(), program.ranks.end(), [&](const RankProgram& rank) {
    return std::any_of(rank.ops.begin(), rank.ops.end(), [&](const Op& op) {
      return op.kind == OpKind::kSend && op.lane != Lane::kCompute && is_of_tensor(program, op);
    });
  });
}

// What ops of these durations ask of links; empty where no two of a rank use one at the same time.
// Collectives of the compute lane are left out, and so is what TP sends where its products go in
// rings: a folded Program sends that after its products, and would be slowed at other times.
LinkDemand demand_of(const Program& program, const CostModel& cost,
                     const std::vector<std::int64_t>& durations) {
  LinkDemand links(durations.size());
  std::optional<bool> rings;  // most Programs have all of TP in the compute lane
  bool several = false;
  std::size_t flat = 0;
  for (const RankProgram& rank : program.ranks) {
    std::array<int, std::tuple_size_v<LinkShares>> lane_of;  // that uses a link
    lane_of.fill(-1);
    for (const Op& op : rank.ops) {
      LinkShares& shares = links[flat];
      const std::int64_t duration = durations[flat++];
      if (op.lane == Lane::kCompute) continue;
      if (is_of_tensor(program, op)) {
        if (!rings) rings = has_tensor_rings(program);
        if (*rings) continue;
      }
      shares =
          shares_of(op, cost.link_seconds(op, rank.rank), static_cast<double>(duration) * 1e-9);
      for (std::size_t link = 0; link < shares.size(); ++link) {
        if (shares[link] <= 0) continue;
        const int lane = static_cast<int>(op.lane);
        several = several || op.batch >= 0 || (lane_of[link] >= 0 && lane_of[link] != lane);
        lane_of[link] = lane;
      }
    }
  }
  if (!several) links.clear();
  return links;
}

// The steps of the fold that begins with op `at`; returns how many ops stand for it. What launching
// adds to an op is with its first part, or with the last time of a collective.
std::size_t add_fold(const Program& program, const CostModel& cost, const RankProgram& rank,
                     std::size_t at, const std::int64_t* durations,
                     std::vector<FoldSteps::Step>& steps) {
  const Op& op = rank.ops[at];
  const Fold& fold = program.folds[static_cast<std::size_t>(op.fold)];
  assert(fold.moved.empty());  // rings go round in folds only where lanes share nothing
  std::size_t first = 0;       // of its parts' steps
  std::int64_t added = durations[at];
  const auto add_part = [&](const Fold::Part& part) {
    if (&part == &fold.parts.front()) first = steps.size();
    const std::int64_t takes = cost.nanoseconds(op_of(part, op), rank.rank);
    added -= takes;
    steps.push_back({static_cast<std::int32_t>(at), takes});
  };
  std::vector<std::pair<std::int64_t, std::int32_t>> left;  // of each collective: time, and times
  if (fold.steps.empty())
    for (const Fold::Part& part : fold.parts) add_part(part);
  for (const Fold::Step& step : fold.steps) {
    if (step.part >= 0) {
      add_part(fold.parts[static_cast<std::size_t>(step.part)]);
      continue;
    }
    const auto moves = static_cast<std::size_t>(step.moves), behind = at + 1 + moves;
    if (moves == left.size()) left.push_back({durations[behind], rank.ops[behind].repeat});
    auto& [time, times] = left[moves];
    const std::int64_t takes = time / times--;
    time -= takes;
    steps.push_back({static_cast<std::int32_t>(behind), takes});
  }
  steps[first].nanoseconds += added;
  return left.size() + 1;
}

FoldSteps steps_of_folds(const Program& program, const CostModel& cost,
                         const std::vector<std::int64_t>& durations) {
  FoldSteps folds;
  folds.first.reserve(durations.size() + 1);
  std::size_t base = 0;
  for (const RankProgram& rank : program.ranks) {
    for (std::size_t at = 0, width = 1; at < rank.ops.size(); at += width) {
      const Op& op = rank.ops[at];
      folds.first.push_back(static_cast<std::int32_t>(folds.steps.size()));
      width = op.fold >= 0 && op.kind == OpKind::kCompute
                  ? add_fold(program, cost, rank, at, durations.data() + base, folds.steps)
                  : 1;
      folds.first.resize(folds.first.size() + width - 1,
                         static_cast<std::int32_t>(folds.steps.size()));
    }
    base += rank.ops.size();
  }
  folds.first.push_back(static_cast<std::int32_t>(folds.steps.size()));
  return folds;
}

}  // namespace

Timeline simulate(const Program& program, const CostModel& cost, const Enough& enough) {
  std::vector<std::int64_t> durations;
  durations.reserve(static_cast<std::size_t>(program.op_count()));
  for (const RankProgram& rank : program.ranks) {
    KnownCollectives collectives(cost, rank.rank);
    RingFolds rings(program, cost, rank.rank);
    const std::size_t first = durations.size();
    for (const Op& op : rank.ops)
      durations.push_back(rings.has(op) ? rings.nanoseconds(op) : collectives.nanoseconds(op));
    launch_transfers(program, rank, cost, std::span(durations).subspan(first));
  }
  const LinkDemand links = cost.shares_links() ? demand_of(program, cost, durations) : LinkDemand{};
  const FoldSteps folds = cost.sharing() == Sharing::kNone || program.folds.empty()
                              ? FoldSteps{}
                              : steps_of_folds(program, cost, durations);
  return simulate(program, durations, cost.sharing(), cost.overlap_slowdown(), links, folds,
                  enough);
}

Timeline simulate(const Program& program, const std::vector<std::vector<Nanoseconds>>& durations,
                  Sharing sharing, double overlap_slowdown, const LinkDemand& links) {
  std::vector<std::int64_t> flat;
  flat.reserve(static_cast<std::size_t>(program.op_count()));
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    for (std::size_t op = 0; op < program.ranks[rank].ops.size(); ++op) {
      flat.push_back(durations[rank][op].count());
    }
  }
  return simulate(program, flat, sharing, overlap_slowdown, links);
}

}  // namespace parallelarium
