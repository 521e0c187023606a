// SPDX-License-Identifier: Apache-2.0
#include "engine/run/train/progress.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "engine/plan/program/matching.h"
#include "engine/plan/text/describe_op.h"

namespace parallelarium {

namespace {

class Hang {
 public:
  Hang(const Program& program, const RunProgress& progress)
      : program_(program), progress_(progress), matching_(match(program)) {}

  // Some lane that waits, to start from.
  std::optional<Place> waiting() const {
    for (const Doing wanted : {Doing::kTransferring, Doing::kAwaitingOps, Doing::kComputing}) {
      for (std::size_t rank = 0; rank < progress_.size(); ++rank) {
        for (const LaneProgress& lane : progress_[rank]->lanes) {
          if (lane.doing.load() == wanted && lane.op.load() >= 0)
            return Place{static_cast<int>(rank), lane.op.load()};
        }
      }
    }
    return std::nullopt;
  }

  // Where a rank waits: first for other ranks, then for an op of its own, then in what it computes;
  // of several lanes in the op that was issued first. None between steps.
  std::optional<Place> standing(std::size_t rank) const {
    for (const Doing wanted : {Doing::kTransferring, Doing::kAwaitingOps, Doing::kComputing}) {
      std::int32_t first = -1;
      for (const LaneProgress& lane : progress_[rank]->lanes) {
        const std::int32_t op = lane.op.load();
        if (lane.doing.load() == wanted && op >= 0 && (first < 0 || op < first)) first = op;
      }
      if (first >= 0) return Place{static_cast<int>(rank), first};
    }
    return std::nullopt;
  }

  // The op that has to begin, or end, before the op at `at` can go on; none if it waits for nobody.
  std::optional<Place> blocker(const Place& at) const {
    const Op& op = op_at(at);
    const LaneProgress& lane = lane_of(at.rank, op.lane);
    if (lane.op.load() != at.op) {  // its lane has not come this far
      if (is_between_steps(lane)) return std::nullopt;
      return Place{at.rank, lane.op.load()};
    }
    const bool awaits = lane.doing.load() == Doing::kAwaitingOps;
    if (!awaits && lane.doing.load() != Doing::kTransferring) return std::nullopt;
    if (awaits) {
      if (const std::optional<Place> own = own_blocker(at)) return own;
      if (op.kind == OpKind::kCompute) return std::nullopt;
    }
    // Its host may wait for other hosts to launch theirs: NCCL connects two ranks when both first
    // need it. Then nobody has arrived, and who has come that far is not to blame.
    for (const std::int32_t part : unit_of(at)) {
      for (const Place& other : partners({at.rank, part})) {
        if (awaits ? !reached(other) : !arrived(other)) return other;
      }
    }
    return std::nullopt;
  }

  const Op& op_at(const Place& at) const {
    return program_.ranks[static_cast<std::size_t>(at.rank)].ops[static_cast<std::size_t>(at.op)];
  }

 private:
  // The ops of its batch from it on, or it alone.
  std::vector<std::int32_t> unit_of(const Place& at) const {
    const std::vector<Op>& ops = program_.ranks[static_cast<std::size_t>(at.rank)].ops;
    const std::int32_t batch = op_at(at).batch;
    std::vector<std::int32_t> unit = {at.op};
    for (auto i = static_cast<std::size_t>(at.op) + 1; batch >= 0 && i < ops.size(); ++i)
      if (ops[i].batch == batch) unit.push_back(static_cast<std::int32_t>(i));
    return unit;
  }

  // What an op that does not begin waits for in its own rank: an `after` edge, or communication
  // that is issued before it from another lane (issue_turns).
  std::optional<Place> own_blocker(const Place& at) const {
    const RankProgram& rank = program_.ranks[static_cast<std::size_t>(at.rank)];
    for (const std::int32_t part : unit_of(at)) {
      for (const std::int32_t earlier : rank.after_of(op_at({at.rank, part})))
        if (!done(at.rank, earlier)) return Place{at.rank, earlier};
    }
    if (op_at(at).kind == OpKind::kCompute) return std::nullopt;
    for (std::int32_t i = 0; i < at.op; ++i) {
      const Op& earlier = op_at({at.rank, i});
      if (earlier.kind != OpKind::kCompute && earlier.lane != op_at(at).lane && !done(at.rank, i))
        return Place{at.rank, i};
    }
    return std::nullopt;
  }

  // Whether that op's lane stands at it, or at the first of its batch.
  bool is_at(const Place& at) const {
    const std::int32_t now = lane_of(at.rank, op_at(at).lane).op.load();
    const std::int32_t batch = op_at(at).batch;
    return now == at.op || (now >= 0 && batch >= 0 && op_at({at.rank, now}).batch == batch);
  }
  // Whether that op's lane has begun it.
  bool arrived(const Place& at) const {
    const LaneProgress& lane = lane_of(at.rank, op_at(at).lane);
    const Doing doing = lane.doing.load();
    if (lane.op.load() > at.op) return true;
    return is_at(at) && doing != Doing::kAwaitingOps;
  }
  // Whether that op's lane has begun it, or would if the other ranks were there.
  bool reached(const Place& at) const {
    if (arrived(at)) return true;
    return is_at(at) && !own_blocker({at.rank, lane_of(at.rank, op_at(at).lane).op.load()});
  }

  static bool is_between_steps(const LaneProgress& lane) {
    return lane.op.load() < 0 || lane.doing.load() == Doing::kNothing ||
           lane.doing.load() == Doing::kMeeting;
  }
  const LaneProgress& lane_of(int rank, Lane lane) const {
    return progress_[static_cast<std::size_t>(rank)]->lanes[static_cast<std::size_t>(lane)];
  }
  bool done(int rank, std::int32_t index) const {
    const LaneProgress& lane = lane_of(rank, op_at({rank, index}).lane);
    return lane.op.load() > index || is_between_steps(lane);
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
  const RunProgress& progress_;
  const Matching matching_;
};

Message ranks_text(const std::vector<int>& ranks) {
  const std::string numbers = fmt::format("{}", fmt::join(ranks, ", "));
  return ranks.size() == 1 ? message("named-rank", "Rank {}", numbers)
                           : message("named-ranks", "Ranks {}", numbers);
}

// Of a run that is between steps: who has not come where others wait; empty where nobody waits.
std::vector<int> not_meeting(const Program& program, const RunProgress& progress) {
  std::vector<int> missing;
  for (std::size_t rank = 0; rank < progress.size(); ++rank)
    if (progress[rank]->lanes.front().doing.load() != Doing::kMeeting)
      missing.push_back(program.ranks[rank].rank);
  return missing.size() < progress.size() ? missing : std::vector<int>{};
}

// Of a run whose ranks are not connected yet: who has made fewer calls than others wait in.
std::optional<Message> describe_connecting(const Program& program, const RunProgress& progress,
                                           const Message& seconds) {
  const auto lane_of = [&](std::size_t rank) -> const LaneProgress& {
    return progress[rank]->lanes.front();
  };
  const auto connects = [&](std::size_t rank) {
    return lane_of(rank).doing.load() == Doing::kConnecting;
  };
  std::int32_t calls = -1;
  for (std::size_t rank = 0; rank < progress.size(); ++rank)
    if (connects(rank)) calls = std::max(calls, lane_of(rank).op.load());
  if (calls < 0) return std::nullopt;
  std::vector<int> missing, waiting;
  for (std::size_t rank = 0; rank < progress.size(); ++rank) {
    const bool never_came = !connects(rank) && lane_of(rank).changes.load() == 0;
    if (never_came || (connects(rank) && lane_of(rank).op.load() < calls))
      missing.push_back(program.ranks[rank].rank);
    else if (connects(rank))
      waiting.push_back(program.ranks[rank].rank);
  }
  if (!missing.empty()) {
    return message("hang.connect", "{} did not come to connect with the other ranks within {} s.",
                   ranks_text(missing), seconds);
  }
  return message("hang.network",
                 "{} did not get connected to the others within {} s; the network between them may "
                 "be closed, and NCCL_DEBUG=WARN may say why.",
                 ranks_text(waiting), seconds);
}

}  // namespace

Message describe_now(const RankProgram& rank, const RankProgress& progress) {
  const Op* found = nullptr;
  for (const Doing wanted : {Doing::kComputing, Doing::kAwaitingOps, Doing::kTransferring}) {
    for (const LaneProgress& lane : progress.lanes) {
      const auto at = static_cast<std::size_t>(lane.op.load());
      if (lane.doing.load() != wanted || at >= rank.ops.size()) continue;
      const Op& op = rank.ops[at];
      if (wanted != Doing::kAwaitingOps || op.kind != OpKind::kCompute) found = &op;
    }
  }
  return found != nullptr ? describe(*found)
                          : message("between-steps", "what it does between steps");
}

std::vector<StuckRank> stuck_ranks(const Program& program, const RunProgress& progress) {
  const Hang hang(program, progress);
  const auto global = [&](const Place& place) {
    return program.ranks[static_cast<std::size_t>(place.rank)].rank;
  };
  std::vector<StuckRank> ranks;
  for (std::size_t rank = 0; rank < progress.size(); ++rank) {
    StuckRank& stuck = ranks.emplace_back();
    stuck.rank = program.ranks[rank].rank;
    const std::optional<Place> at = hang.standing(rank);
    if (!at) {
      stuck.waits_in = message("next-step", "the next step");
      stuck.sentence = message("stuck-between", "Rank {} waits for the next step.", stuck.rank);
      continue;
    }
    stuck.waits_in = describe(hang.op_at(*at));
    const std::optional<Place> needs = hang.blocker(*at);
    if (!needs) {
      stuck.sentence = message("stuck-alone", "Rank {} is at {} and waits for no other rank.",
                               stuck.rank, stuck.waits_in);
      continue;
    }
    stuck.for_rank = global(*needs);
    stuck.needs = describe(hang.op_at(*needs));
    const std::optional<Place> there = hang.standing(static_cast<std::size_t>(needs->rank));
    if (needs->rank == at->rank)
      stuck.sentence =
          message("stuck-own", "Rank {} waits at {} for its own {}, which stands behind it.",
                  stuck.rank, stuck.waits_in, stuck.needs);
    else if (there)
      stuck.sentence = message(
          "stuck-for", "Rank {} waits in {} until rank {} comes to {}; that one stands at {}.",
          stuck.rank, stuck.waits_in, stuck.for_rank, stuck.needs, describe(hang.op_at(*there)));
    else
      stuck.sentence = message("stuck-for.idle", "Rank {} waits in {} until rank {} comes to {}.",
                               stuck.rank, stuck.waits_in, stuck.for_rank, stuck.needs);
  }
  return ranks;
}

Message describe_hang(const Program& program, const RunProgress& progress, double timeout_seconds) {
  const Message seconds = figure(fmt::format("{:.3g}", timeout_seconds));
  if (const std::optional<Message> apart = describe_connecting(program, progress, seconds))
    return *apart;
  const Hang hang(program, progress);
  const std::optional<Place> start = hang.waiting();
  if (!start) {
    if (const std::vector<int> missing = not_meeting(program, progress); !missing.empty())
      return message("hang.step", "{} did not come to the next step within {} s.",
                     ranks_text(missing), seconds);
    return message("hang.idle",
                   "No rank has finished an op for {} s, and none is waiting for another.",
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
  const auto global = [&](const Place& place) {
    return program.ranks[static_cast<std::size_t>(place.rank)].rank;
  };
  if (!missing) {
    return message("hang.finish", "Rank {} did not finish {} within {} s.", global(at),
                   describe(hang.op_at(at)), seconds);
  }
  if (at.rank == missing->rank && at.op != missing->op) {
    return message("hang.still", "Rank {} did not arrive at {} within {} s; it is still at {}.",
                   global(*missing), describe(hang.op_at(*missing)), seconds,
                   describe(hang.op_at(at)));
  }
  return message("hang.arrive", "Rank {} did not arrive at {} within {} s.", global(*missing),
                 describe(hang.op_at(*missing)), seconds);
}

}  // namespace parallelarium
