// SPDX-License-Identifier: Apache-2.0
#include "engine/run/progress.h"

#include <algorithm>
#include <optional>

#include "engine/plan/describe_op.h"
#include "engine/plan/matching.h"

namespace parallelarium {

namespace {

class Hang {
 public:
  Hang(const Program& program, const Progress& progress)
      : program_(program), progress_(progress), matching_(match(program)) {}

  // Some lane that waits, to start from.
  std::optional<Place> waiting() const {
    for (const Doing wanted : {Doing::kTransferring, Doing::kAwaitingOps, Doing::kComputing}) {
      for (std::size_t rank = 0; rank < progress_.size(); ++rank) {
        for (const LaneProgress& lane : progress_[rank]->lanes) {
          if (lane.doing.load() == wanted) return Place{static_cast<int>(rank), lane.op.load()};
        }
      }
    }
    return std::nullopt;
  }

  // The op that has to begin, or end, before the op at `at` can go on; none if it waits for nobody.
  std::optional<Place> blocker(const Place& at) const {
    const RankProgram& rank = program_.ranks[static_cast<std::size_t>(at.rank)];
    const Op& op = rank.ops[static_cast<std::size_t>(at.op)];
    const LaneProgress& lane = lane_of(at.rank, op.lane);
    if (lane.op.load() != at.op) {  // its lane has not come this far
      if (lane.doing.load() == Doing::kNothing) return std::nullopt;
      return Place{at.rank, lane.op.load()};
    }
    if (lane.doing.load() == Doing::kAwaitingOps) {
      for (const std::int32_t index : rank.after_of(op)) {
        if (!done(at.rank, index)) return Place{at.rank, index};
      }
      return std::nullopt;
    }
    if (lane.doing.load() != Doing::kTransferring) return std::nullopt;
    for (std::int32_t i = at.op; i < static_cast<std::int32_t>(rank.ops.size()); ++i) {
      const Op& part = rank.ops[static_cast<std::size_t>(i)];
      if (i != at.op && (op.batch < 0 || part.batch != op.batch)) continue;
      for (const Place& other : partners({at.rank, i})) {
        if (!arrived(other)) return other;
      }
    }
    return std::nullopt;
  }

  // Whether that op's lane has reached it.
  bool arrived(const Place& at) const {
    const Op& op =
        program_.ranks[static_cast<std::size_t>(at.rank)].ops[static_cast<std::size_t>(at.op)];
    const LaneProgress& lane = lane_of(at.rank, op.lane);
    const std::int32_t now = lane.op.load();
    if (now > at.op) return true;
    const Op* reached =
        now < 0
            ? nullptr
            : &program_.ranks[static_cast<std::size_t>(at.rank)].ops[static_cast<std::size_t>(now)];
    const bool same =
        now == at.op || (reached != nullptr && op.batch >= 0 && reached->batch == op.batch);
    return same && lane.doing.load() != Doing::kAwaitingOps && lane.doing.load() != Doing::kNothing;
  }

 private:
  const LaneProgress& lane_of(int rank, Lane lane) const {
    return progress_[static_cast<std::size_t>(rank)]->lanes[static_cast<std::size_t>(lane)];
  }
  bool done(int rank, std::int32_t index) const {
    const Op& op =
        program_.ranks[static_cast<std::size_t>(rank)].ops[static_cast<std::size_t>(index)];
    const LaneProgress& lane = lane_of(rank, op.lane);
    return lane.op.load() > index || lane.doing.load() == Doing::kNothing;
  }

  // The ops of other ranks that meet this one.
  std::vector<Place> partners(const Place& at) const {
    std::vector<Place> result;
    const std::int32_t meeting = matching_.meeting_of[static_cast<std::size_t>(matching_.flat(at))];
    if (meeting < 0) return result;
    const Meeting& all = matching_.meetings[static_cast<std::size_t>(meeting)];
    for (std::int32_t i = all.first; i < all.first + all.count; ++i) {
      const Place& member = matching_.members[static_cast<std::size_t>(i)];
      if (!(member == at)) result.push_back(member);
    }
    return result;
  }

  const Program& program_;
  const Progress& progress_;
  const Matching matching_;
};

}  // namespace

Message describe_hang(const Program& program, const Progress& progress, double timeout_seconds) {
  const std::string seconds = fmt::format("{:.3g}", timeout_seconds);
  const Hang hang(program, progress);
  const std::optional<Place> start = hang.waiting();
  if (!start) {
    return message("hang", "No rank has finished an op for {} s, and none is waiting for another.",
                   seconds);
  }
  // The last op on the way that a rank other than the waiting one did not arrive at.
  Place at = *start;
  std::optional<Place> missing;
  std::vector<Place> seen;
  while (std::find(seen.begin(), seen.end(), at) == seen.end()) {
    seen.push_back(at);
    const std::optional<Place> next = hang.blocker(at);
    if (!next) break;
    if (next->rank != at.rank) missing = next;
    at = *next;
  }
  const auto op_at = [&](const Place& place) -> const Op& {
    return program.ranks[static_cast<std::size_t>(place.rank)]
        .ops[static_cast<std::size_t>(place.op)];
  };
  const auto global = [&](const Place& place) {
    return program.ranks[static_cast<std::size_t>(place.rank)].rank;
  };
  if (!missing) {
    return message("hang", "Rank {} did not finish {} within {} s.", global(at),
                   describe(op_at(at)), seconds);
  }
  if (at.rank == missing->rank && at.op != missing->op) {
    return message("hang", "Rank {} did not arrive at {} within {} s; it is still at {}.",
                   global(*missing), describe(op_at(*missing)), seconds, describe(op_at(at)));
  }
  return message("hang", "Rank {} did not arrive at {} within {} s.", global(*missing),
                 describe(op_at(*missing)), seconds);
}

}  // namespace parallelarium
