// SPDX-License-Identifier: Apache-2.0
// How the ops of all ranks meet, and whether they can.
#include <algorithm>
#include <optional>

#include "engine/plan/check/check_parts.h"
#include "engine/plan/program/matching.h"
#include "engine/plan/text/describe_op.h"
#include "engine/plan/text/phrases.h"

namespace parallelarium {

namespace {

const Op& op_at(const Program& program, Place place) {
  return program.ranks[static_cast<std::size_t>(place.rank)]
      .ops[static_cast<std::size_t>(place.op)];
}

int rank_at(const Program& program, Place place) {
  return program.ranks[static_cast<std::size_t>(place.rank)].rank;
}

// Why a communication op cannot be matched at all, or null.
std::optional<Message> reference_fault(const Program& program, const RankProgram& rank,
                                       const Op& op) {
  const bool transfer = op.kind == OpKind::kSend || op.kind == OpKind::kRecv;
  if (op.kind == OpKind::kCompute) {
    return op.work >= static_cast<std::int32_t>(program.works.size())
               ? std::optional(message("fault-work", "names no work"))
               : std::nullopt;
  }
  if (op.group >= static_cast<std::int32_t>(program.groups.size()) || op.group < 0) {
    return message("fault-group", "names no group");
  }
  const auto& members = program.groups[static_cast<std::size_t>(op.group)].ranks;
  const auto is_member = [&](int candidate) {
    return std::find(members.begin(), members.end(), candidate) != members.end();
  };
  if (!is_member(rank.rank))
    return message("fault-outside", "communicates in a group that it is not in");
  if (transfer && op.peer == rank.rank) return message("fault-itself", "communicates with itself");
  if (transfer && !is_member(op.peer))
    return message("fault-peer", "communicates with a rank outside of the group");
  if (op.bytes < 0) return message("fault-size", "has a negative size");
  return std::nullopt;
}

// What differs between two ops that meet.
std::optional<Message> difference(const Op& a, const Op& b) {
  if (a.kind == OpKind::kCollective) {
    if (a.collective != b.collective) return message("differs-kind", "kind");
    if (a.reduction != b.reduction) return message("differs-reduction", "reduction");
    if (a.repeat != b.repeat) return message("differs-repeats", "number of repeats");
  }
  if (a.purpose != b.purpose) return message("differs-purpose", "purpose");
  if (a.microbatch != b.microbatch && a.kind != OpKind::kCollective)
    return message("differs-microbatch", "micro-batch");
  if (a.bytes != b.bytes) return message("differs-bytes", "bytes");
  if (a.type != b.type) return message("differs-type", "element type");
  return std::nullopt;
}

// Follows every lane as far as it goes when a transfer ends only once both sides have posted it.
class Rendezvous {
 public:
  explicit Rendezvous(const Program& program) : program_(program), matching_(match(program)) {
    lanes_.resize(program.ranks.size() * kLanes);
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
      const auto& ops = program.ranks[rank].ops;
      for (std::size_t op = 0; op < ops.size(); ++op) {
        lanes_[rank * kLanes + static_cast<std::size_t>(ops[op].lane)].ops.push_back(
            static_cast<std::int32_t>(op));
      }
      ended_.emplace_back(ops.size(), false);
    }
    arrived_.assign(matching_.meetings.size(), 0);
  }

  // The waiting circle as words, empty if everything ended.
  std::vector<Message> circle() {
    for (bool progress = true; progress;) {
      progress = false;
      for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
        while (step(lane)) progress = true;
      }
    }
    std::size_t lane = 0;
    while (lane < lanes_.size() && lanes_[lane].next == lanes_[lane].ops.size()) ++lane;
    if (lane == lanes_.size()) return {};
    std::vector<bool> seen(lanes_.size(), false);
    while (!seen[lane]) {
      seen[lane] = true;
      lane = lane_of(awaited(lane));
    }
    std::vector<Message> words;
    const std::size_t first = lane;
    do {
      const Place awaits = awaited(lane);
      const Place stands{static_cast<std::int32_t>(lane / kLanes),
                         lanes_[lane].ops[lanes_[lane].next]};
      words.push_back(message("stands-waits-on", "rank {} stands at {} and waits for {} on rank {}",
                              rank_at(program_, stands), describe(op_at(program_, stands)),
                              describe(op_at(program_, awaits)), rank_at(program_, awaits)));
      lane = lane_of(awaits);
    } while (lane != first);
    return words;
  }

 private:
  struct LaneState {
    std::vector<std::int32_t> ops;
    std::size_t next = 0;
    bool posted = false;
  };

  std::size_t lane_of(Place place) const {
    return static_cast<std::size_t>(place.rank) * kLanes +
           static_cast<std::size_t>(op_at(program_, place).lane);
  }

  // One past the unit (an op, or the ops of one batch) that the lane stands at.
  std::size_t unit_end(std::size_t lane) const {
    const LaneState& state = lanes_[lane];
    const auto& ops = program_.ranks[lane / kLanes].ops;
    const std::int32_t batch = ops[static_cast<std::size_t>(state.ops[state.next])].batch;
    std::size_t end = state.next + 1;
    while (batch >= 0 && end < state.ops.size() &&
           ops[static_cast<std::size_t>(state.ops[end])].batch == batch) {
      ++end;
    }
    return end;
  }

  std::int32_t meeting_of(std::size_t rank, std::int32_t op) const {
    return matching_.meeting_of[static_cast<std::size_t>(matching_.base[rank] + op)];
  }
  bool complete(std::int32_t meeting) const {
    return meeting < 0 || arrived_[static_cast<std::size_t>(meeting)] ==
                              matching_.meetings[static_cast<std::size_t>(meeting)].expected;
  }

  // The op that keeps the lane's unit from starting, {-1, -1} if nothing does.
  Place unmet(std::size_t lane) const {
    const LaneState& state = lanes_[lane];
    const std::size_t rank = lane / kLanes;
    const RankProgram& ranked = program_.ranks[rank];
    for (std::size_t at = state.next, end = unit_end(lane); at < end; ++at) {
      const Op& op = ranked.ops[static_cast<std::size_t>(state.ops[at])];
      for (const std::int32_t before : ranked.after_of(op)) {
        if (!ended_[rank][static_cast<std::size_t>(before)]) {
          return {static_cast<std::int32_t>(rank), before};
        }
      }
    }
    return {};
  }

  bool step(std::size_t lane) {
    LaneState& state = lanes_[lane];
    const std::size_t rank = lane / kLanes;
    if (state.next == state.ops.size()) return false;
    const std::size_t end = unit_end(lane);
    bool moved = false;
    if (!state.posted) {
      if (unmet(lane).rank >= 0) return false;
      for (std::size_t at = state.next; at < end; ++at) {
        const std::int32_t meeting = meeting_of(rank, state.ops[at]);
        if (meeting >= 0) ++arrived_[static_cast<std::size_t>(meeting)];
      }
      state.posted = moved = true;
    }
    for (std::size_t at = state.next; at < end; ++at) {
      if (!complete(meeting_of(rank, state.ops[at]))) return moved;
    }
    for (; state.next < end; ++state.next) {
      ended_[rank][static_cast<std::size_t>(state.ops[state.next])] = true;
    }
    state.posted = false;
    return true;
  }

  // What a lane that has not ended waits for: an op of its own rank or one that did not arrive.
  Place awaited(std::size_t lane) const {
    const LaneState& state = lanes_[lane];
    if (!state.posted) return unmet(lane);
    for (std::size_t at = state.next, end = unit_end(lane); at < end; ++at) {
      const std::int32_t number = meeting_of(lane / kLanes, state.ops[at]);
      if (complete(number)) continue;
      const Meeting& meeting = matching_.meetings[static_cast<std::size_t>(number)];
      for (std::int32_t member = meeting.first; member < meeting.first + meeting.count; ++member) {
        const Place place = matching_.members[static_cast<std::size_t>(member)];
        const std::size_t its_lane = lane_of(place);
        const LaneState& other = lanes_[its_lane];
        if (other.next == other.ops.size()) continue;
        const std::size_t open = other.posted ? unit_end(its_lane) : other.next;
        const bool arrived = open == other.ops.size() || place.op < other.ops[open];
        if (!arrived) return place;
      }
    }
    return {};
  }

  const Program& program_;
  const Matching matching_;
  std::vector<LaneState> lanes_;
  std::vector<std::vector<bool>> ended_;
  std::vector<std::int32_t> arrived_;
};

}  // namespace

void check_references(const Program& program, std::vector<Message>& messages) {
  for (const Group& group : program.groups) {
    for (const int rank : group.ranks) {
      if (rank < 0 || rank >= program.world) {
        messages.push_back(message("program-group",
                                   "A group names rank {}, but there are {} ranks.", rank,
                                   program.world));
        return;
      }
    }
  }
  for (const RankProgram& rank : program.ranks) {
    if (rank.rank < 0 || rank.rank >= program.world) {
      messages.push_back(message("program-rank",
                                 "The program has a rank {}, but there are {} ranks.", rank.rank,
                                 program.world));
      return;
    }
    const auto in_table = [](std::int32_t first, std::int32_t count, std::size_t size) {
      return first >= 0 && count >= 0 && static_cast<std::size_t>(first) + count <= size;
    };
    for (std::size_t index = 0; index < rank.ops.size(); ++index) {
      if (messages.size() >= kMostCheckMessages) return;
      const Op& op = rank.ops[index];
      std::optional<Message> fault = reference_fault(program, rank, op);
      if (!in_table(op.after_first, op.after_count, rank.after.size()) ||
          !in_table(op.operand_first, op.operand_count, rank.operands.size())) {
        fault = message("fault-table", "names operands or edges that do not exist");
      } else {
        for (const std::int32_t before : rank.after_of(op)) {
          if (before < 0 || before >= static_cast<std::int32_t>(index)) {
            fault = message("fault-after", "comes after an op that is not earlier");
          }
        }
        const bool transfer = op.kind == OpKind::kSend || op.kind == OpKind::kRecv;
        std::int64_t bytes = 0;
        for (const Operand& operand : rank.operands_of(op))
          bytes += operand.count * size_of(operand.type);
        if (transfer && op.fold < 0 && op.operand_count > 1 && bytes != op.bytes)
          fault = message("fault-parts", "has a message whose parts are not its size");
      }
      if (fault) {
        messages.push_back(
            message("program-reference", "Rank {} {}, at {}.", rank.rank, *fault, describe(op)));
      }
    }
  }
}

void check_matching(const Program& program, std::vector<Message>& messages) {
  const Matching matching = match(program);
  for (const Meeting& meeting : matching.meetings) {
    if (messages.size() >= kMostCheckMessages) return;
    const Place first = matching.members[static_cast<std::size_t>(meeting.first)];
    const Op& op = op_at(program, first);
    if (meeting.count != meeting.expected) {
      messages.push_back(message(
          "program-unmatched", "Rank {} waits for ever at {}: only {} of {} ranks take part.",
          rank_at(program, first), describe(op), meeting.count, meeting.expected));
      continue;
    }
    for (std::int32_t member = meeting.first + 1; member < meeting.first + meeting.count;
         ++member) {
      const Place place = matching.members[static_cast<std::size_t>(member)];
      const Op& other = op_at(program, place);
      if (const std::optional<Message> what = difference(op, other)) {
        messages.push_back(message("program-mismatch",
                                   "{} of rank {} meets {} of rank {}, but their {} differ.",
                                   describe(op), rank_at(program, first), describe(other),
                                   rank_at(program, place), *what));
        break;
      }
    }
  }
}

void check_waiting(const Program& program, std::vector<Message>& messages) {
  const std::vector<Message> circle = Rendezvous(program).circle();
  if (!circle.empty()) {
    messages.push_back(message("program-circle", "The ranks wait for each other in a circle: {}.",
                               listed(circle)));
  }
}

std::vector<Message> check(const Program& program) {
  std::vector<Message> messages;
  for (const auto part :
       {check_references, check_matching, check_waiting, check_work, check_memory}) {
    part(program, messages);
    if (!messages.empty()) break;
  }
  return messages;
}

}  // namespace parallelarium
