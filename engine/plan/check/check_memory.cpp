// SPDX-License-Identifier: Apache-2.0
// Buffers: operands inside them and while they are open, lanes that touch the same elements in no
// fixed order, and places in the arena.
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "engine/plan/check/check_parts.h"
#include "engine/plan/text/describe_op.h"

namespace parallelarium {

namespace {

using LaneOps = std::array<std::int32_t, kLanes>;
constexpr LaneOps kNone = {-1, -1, -1};

struct Touch {
  std::int32_t op;
  bool writes;
  std::int64_t begin, end;  // bytes
};

class RankMemory {
 public:
  RankMemory(const RankProgram& rank, Level level, std::vector<Message>& messages)
      : rank_(rank), level_(level), messages_(messages) {}

  void check() {
    if (!check_lifetimes()) return;
    order_ops();
    collect_touches();
    check_first_and_last();
    check_races();
    if (level_ == Level::kPiece) check_places();  // whole stages are never executed
  }

 private:
  bool full() const { return messages_.size() >= kMostCheckMessages; }

  bool check_lifetimes() {
    const auto ops = static_cast<std::int32_t>(rank_.ops.size());
    for (const Buffer& buffer : rank_.buffers) {
      const bool whole_step = buffer.opened_by == -1 && buffer.closed_by == -1;
      const bool in_order =
          buffer.opened_by >= 0 && buffer.opened_by <= buffer.closed_by && buffer.closed_by < ops;
      if (!whole_step && !in_order) {
        messages_.push_back(message("program-open", "Rank {} never closes its buffer of {}.",
                                    rank_.rank, describe(buffer)));
        return false;
      }
    }
    for (std::size_t index = 0; index < rank_.ops.size() && !full(); ++index) {
      const Op& op = rank_.ops[index];
      const auto at = static_cast<std::int32_t>(index);
      for (const Operand& operand : rank_.operands_of(op)) {
        std::optional<Message> fault;
        const bool exists =
            operand.buffer >= 0 && operand.buffer < static_cast<std::int32_t>(rank_.buffers.size());
        if (!exists) {
          fault = message("touches-none", "a buffer that does not exist");
        } else {
          const Buffer& buffer = rank_.buffers[static_cast<std::size_t>(operand.buffer)];
          const bool open =
              buffer.opened_by < 0 || (buffer.opened_by <= at && at <= buffer.closed_by);
          const bool inside =
              operand.offset >= 0 && operand.count >= 0 &&
              (operand.offset + operand.count) * size_of(operand.type) <= buffer.bytes;
          if (!open) fault = message("touches-closed", "a buffer that is not open then");
          if (!inside) fault = message("touches-outside", "elements outside of a buffer");
        }
        if (!fault) continue;
        const Message name =
            exists ? describe(rank_.buffers[static_cast<std::size_t>(operand.buffer)]) : plain("?");
        messages_.push_back(message("program-operand", "Rank {} touches {} ({}) at {}.", rank_.rank,
                                    *fault, name, describe(op)));
      }
    }
    return messages_.empty();
  }

  // What has surely ended when each op starts, as the latest op of each lane.
  void order_ops() {
    ended_before_.assign(rank_.ops.size(), kNone);
    LaneOps last = kNone;
    const auto take = [&](LaneOps& into, std::int32_t op) {
      const LaneOps& from = ended_before_[static_cast<std::size_t>(op)];
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        into[lane] = std::max(into[lane], from[lane]);
      auto& own = into[static_cast<std::size_t>(rank_.ops[static_cast<std::size_t>(op)].lane)];
      own = std::max(own, op);
    };
    // A batch starts when everything that any of its ops comes after has ended; its ops may stand
    // with ops of other lanes between them, so that they are gathered first.
    std::map<std::int32_t, std::vector<std::int32_t>> batches;
    for (std::size_t index = 0; index < rank_.ops.size(); ++index) {
      const std::int32_t batch = rank_.ops[index].batch;
      if (batch >= 0) batches[batch].push_back(static_cast<std::int32_t>(index));
    }
    for (std::size_t index = 0; index < rank_.ops.size(); ++index) {
      const Op& op = rank_.ops[index];
      const auto lane = static_cast<std::size_t>(op.lane);
      LaneOps& before = ended_before_[index];
      std::vector<std::int32_t> unit = {static_cast<std::int32_t>(index)};
      if (op.batch >= 0) unit = batches[op.batch];
      // Later ops of the unit may come after ops that are not yet ordered; then only earlier ones
      // count, which is the careful side.
      if (unit.front() != static_cast<std::int32_t>(index)) {
        take_same(before, unit.front());
      } else if (last[lane] >= 0) {
        take(before, last[lane]);
      }
      for (const std::int32_t member : unit) {
        for (const std::int32_t after :
             rank_.after_of(rank_.ops[static_cast<std::size_t>(member)])) {
          if (after < static_cast<std::int32_t>(index)) take(before, after);
        }
      }
      last[lane] = static_cast<std::int32_t>(index);
    }
  }
  void take_same(LaneOps& into, std::int32_t op) {
    const LaneOps& from = ended_before_[static_cast<std::size_t>(op)];
    for (std::size_t lane = 0; lane < kLanes; ++lane) into[lane] = std::max(into[lane], from[lane]);
  }
  bool surely_before(std::int32_t earlier, std::int32_t later) const {
    const auto lane = static_cast<std::size_t>(rank_.ops[static_cast<std::size_t>(earlier)].lane);
    return ended_before_[static_cast<std::size_t>(later)][lane] >= earlier;
  }

  void collect_touches() {
    touches_.resize(rank_.buffers.size());
    for (std::size_t index = 0; index < rank_.ops.size(); ++index) {
      const Op& op = rank_.ops[index];
      for (const Operand& operand : rank_.operands_of(op)) {
        const std::int64_t size = size_of(operand.type);
        touches_[static_cast<std::size_t>(operand.buffer)][static_cast<std::size_t>(op.lane)]
            .push_back({static_cast<std::int32_t>(index), operand.access != Access::kRead,
                        operand.offset * size, (operand.offset + operand.count) * size});
      }
    }
  }

  void check_first_and_last() {
    for (std::size_t index = 0; index < rank_.buffers.size() && !full(); ++index) {
      const Buffer& buffer = rank_.buffers[index];
      if (buffer.opened_by < 0) continue;
      const Op& opener = rank_.ops[static_cast<std::size_t>(buffer.opened_by)];
      const auto operands = rank_.operands_of(opener);
      const bool written = std::any_of(operands.begin(), operands.end(), [&](const Operand& o) {
        return o.buffer == static_cast<std::int32_t>(index) && o.access != Access::kRead;
      });
      if (!written) {
        messages_.push_back(message("program-unwritten",
                                    "Rank {} opens its buffer of {} at {}, which does not write "
                                    "it.",
                                    rank_.rank, describe(buffer), describe(opener)));
      }
    }
  }

  void check_races() {
    for (std::size_t index = 0; index < rank_.buffers.size() && !full(); ++index) {
      const auto& lanes = touches_[index];
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        for (const Touch& later : lanes[lane]) {
          for (std::size_t other = 0; other < kLanes; ++other) {
            if (other != lane && !check_race(index, lanes[other], later, other)) return;
          }
        }
      }
    }
  }

  // Touches of the other lane that stand before `later` in issue order and have not surely ended.
  bool check_race(std::size_t buffer, const std::vector<Touch>& others, const Touch& later,
                  std::size_t other_lane) {
    const std::int32_t ended = ended_before_[static_cast<std::size_t>(later.op)][other_lane];
    auto touch = std::upper_bound(others.begin(), others.end(), ended,
                                  [](std::int32_t op, const Touch& t) { return op < t.op; });
    for (; touch != others.end() && touch->op < later.op; ++touch) {
      const bool conflict =
          (touch->writes || later.writes) && touch->begin < later.end && later.begin < touch->end;
      if (!conflict) continue;
      messages_.push_back(
          message("program-race", "Rank {} does not wait at {} for {}, though both touch its {}.",
                  rank_.rank, describe(rank_.ops[static_cast<std::size_t>(later.op)]),
                  describe(rank_.ops[static_cast<std::size_t>(touch->op)]),
                  describe(rank_.buffers[buffer])));
      return false;
    }
    return true;
  }

  // Whoever last used a place must have ended when the next buffer opens there.
  void check_places() {
    struct Tenant {
      std::int64_t end;
      std::int32_t buffer;
    };
    std::map<std::int64_t, Tenant> tenants;  // by first byte, without overlap
    std::vector<std::int32_t> sorted;
    for (std::size_t index = 0; index < rank_.buffers.size(); ++index) {
      const Buffer& buffer = rank_.buffers[index];
      if (buffer.offset < 0 || buffer.bytes < 0 ||
          buffer.offset + buffer.bytes > rank_.arena_bytes) {
        messages_.push_back(message("program-arena",
                                    "The buffer of {} on rank {} lies outside of the arena.",
                                    describe(buffer), rank_.rank));
        return;
      }
      sorted.push_back(static_cast<std::int32_t>(index));
    }
    std::stable_sort(sorted.begin(), sorted.end(), [&](std::int32_t a, std::int32_t b) {
      return rank_.buffers[static_cast<std::size_t>(a)].opened_by <
             rank_.buffers[static_cast<std::size_t>(b)].opened_by;
    });
    for (const std::int32_t index : sorted) {
      const Buffer& buffer = rank_.buffers[static_cast<std::size_t>(index)];
      if (buffer.bytes == 0) continue;
      const std::int64_t begin = buffer.offset, end = buffer.offset + buffer.bytes;
      auto tenant = tenants.lower_bound(begin);
      if (tenant != tenants.begin() && std::prev(tenant)->second.end > begin) --tenant;
      while (tenant != tenants.end() && tenant->first < end) {
        const auto [from, old] = *tenant;
        if (!check_succession(old.buffer, index)) return;
        tenant = tenants.erase(tenant);
        if (from < begin) tenants[from] = {begin, old.buffer};
        if (old.end > end) tenant = tenants.insert({end, {old.end, old.buffer}}).first;
      }
      tenants[begin] = {end, index};
    }
  }

  bool check_succession(std::int32_t before, std::int32_t after) {
    const Buffer& old = rank_.buffers[static_cast<std::size_t>(before)];
    const Buffer& next = rank_.buffers[static_cast<std::size_t>(after)];
    const bool together =
        old.opened_by < 0 || next.opened_by < 0 || old.closed_by >= next.opened_by;
    if (together) {
      messages_.push_back(message(
          "program-overlap", "The buffers of {} and {} on rank {} overlap while both are open.",
          describe(old), describe(next), rank_.rank));
      return false;
    }
    for (const auto& lane : touches_[static_cast<std::size_t>(before)]) {
      if (lane.empty() || surely_before(lane.back().op, next.opened_by)) continue;
      messages_.push_back(message("program-place",
                                  "Rank {} opens {} in the place of {} without waiting for {}.",
                                  rank_.rank, describe(next), describe(old),
                                  describe(rank_.ops[static_cast<std::size_t>(lane.back().op)])));
      return false;
    }
    return true;
  }

  const RankProgram& rank_;
  const Level level_;
  std::vector<Message>& messages_;
  std::vector<LaneOps> ended_before_;                            // by op
  std::vector<std::array<std::vector<Touch>, kLanes>> touches_;  // by buffer and lane
};

}  // namespace

void check_memory(const Program& program, std::vector<Message>& messages) {
  for (const RankProgram& rank : program.ranks) {
    RankMemory(rank, program.level, messages).check();
    if (!messages.empty()) return;
  }
}

}  // namespace parallelarium
