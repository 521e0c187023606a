// SPDX-License-Identifier: Apache-2.0
// Offsets for every buffer: best fit with coalescing, in op order.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "engine/passes/build.h"

namespace parallelarium {

namespace {

constexpr std::int64_t kAlignment = 64;  // a cache line; also what vector loads like
using LaneOps = std::array<std::int32_t, kLanes>;

// Free stretches of the allocation.
class FreeList {
 public:
  // Where `bytes` now lie.
  std::int64_t take(std::int64_t bytes) {
    const auto fit = by_size_.lower_bound({bytes, -1});
    if (fit == by_size_.end()) {
      // Grow; a free stretch at the end is used as the beginning.
      std::int64_t offset = end_;
      if (!free_.empty()) {
        const auto last = std::prev(free_.end());
        if (last->first + last->second == end_) {
          offset = last->first;
          by_size_.erase({last->second, last->first});
          free_.erase(last);
        }
      }
      end_ = offset + bytes;
      return offset;
    }
    const auto [size, offset] = *fit;
    by_size_.erase(fit);
    free_.erase(offset);
    if (size > bytes) insert(offset + bytes, size - bytes);
    return offset;
  }

  void give(std::int64_t offset, std::int64_t bytes) {
    auto next = free_.lower_bound(offset);
    if (next != free_.end() && offset + bytes == next->first) {
      bytes += next->second;
      by_size_.erase({next->second, next->first});
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == offset) {
        offset = before->first;
        bytes += before->second;
        by_size_.erase({before->second, before->first});
        free_.erase(before);
      }
    }
    insert(offset, bytes);
  }

  std::int64_t end() const { return end_; }

 private:
  void insert(std::int64_t offset, std::int64_t bytes) {
    free_.emplace(offset, bytes);
    by_size_.emplace(bytes, offset);
  }

  std::map<std::int64_t, std::int64_t> free_;                // offset, bytes
  std::set<std::pair<std::int64_t, std::int64_t>> by_size_;  // bytes, offset
  std::int64_t end_ = 0;
};

// Who used each place last: kept apart from the free list, whose stretches grow together, so that a
// buffer waits only for what lay where it lies.
class LastUsers {
 public:
  void leave(std::int64_t begin, std::int64_t end, const LaneOps& last) {
    places_.insert_or_assign(begin, Place{end, last});
  }
  // The latest op of each lane in [begin, end), which is forgotten.
  LaneOps take(std::int64_t begin, std::int64_t end) {
    LaneOps latest = {-1, -1, -1};
    auto place = places_.lower_bound(begin);
    if (place != places_.begin() && std::prev(place)->second.end > begin) --place;
    while (place != places_.end() && place->first < end) {
      const auto [from, old] = *place;
      for (int lane = 0; lane < kLanes; ++lane)
        latest[lane] = std::max(latest[lane], old.last[lane]);
      place = places_.erase(place);
      if (from < begin) places_.insert_or_assign(from, Place{begin, old.last});
      if (old.end > end) places_.insert_or_assign(end, Place{old.end, old.last});
    }
    return latest;
  }

 private:
  struct Place {
    std::int64_t end;
    LaneOps last;
  };
  std::map<std::int64_t, Place> places_;  // by first byte, without overlap
};

std::int64_t aligned(std::int64_t bytes) {
  return (std::max<std::int64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
}

// Adds edges (op, earlier op of another lane) to the rank's after table.
void add_edges(RankProgram& rank, const std::vector<std::pair<std::int32_t, std::int32_t>>& edges) {
  if (edges.empty()) return;
  std::vector<std::int32_t> after;
  after.reserve(rank.after.size() + edges.size());
  auto edge = edges.begin();  // sorted by op
  for (std::int32_t index = 0; index < static_cast<std::int32_t>(rank.ops.size()); ++index) {
    Op& op = rank.ops[index];
    const auto known = rank.after_of(op);
    const auto first = static_cast<std::int32_t>(after.size());
    after.insert(after.end(), known.begin(), known.end());
    for (; edge != edges.end() && edge->first == index; ++edge) {
      const Lane lane = rank.ops[edge->second].lane;
      // One edge per lane is enough: the latest.
      const auto same = std::find_if(after.begin() + first, after.end(),
                                     [&](std::int32_t i) { return rank.ops[i].lane == lane; });
      if (same == after.end()) {
        after.push_back(edge->second);
      } else {
        *same = std::max(*same, edge->second);
      }
    }
    op.after_first = first;
    op.after_count = static_cast<std::int32_t>(after.size()) - first;
  }
  rank.after = std::move(after);
}

}  // namespace

void plan_memory(RankProgram& rank) {
  FreeList free_list;
  LastUsers last_users;
  const auto op_count = static_cast<std::int32_t>(rank.ops.size());
  // Buffers by the op that closes them, as linked lists.
  std::vector<std::int32_t> closes(op_count, -1), next_closed(rank.buffers.size(), -1);
  std::vector<LaneOps> last_use(rank.buffers.size(), LaneOps{-1, -1, -1});
  for (std::int32_t index = 0; index < op_count; ++index) {
    const Op& op = rank.ops[index];
    for (const Operand& operand : rank.operands_of(op)) {
      last_use[operand.buffer][static_cast<std::size_t>(op.lane)] = index;
    }
  }
  for (std::size_t i = 0; i < rank.buffers.size(); ++i) {
    Buffer& buffer = rank.buffers[i];
    if (buffer.opened_by < 0) {
      buffer.offset = free_list.take(aligned(buffer.bytes));
    } else {
      next_closed[i] = closes[buffer.closed_by];
      closes[buffer.closed_by] = static_cast<std::int32_t>(i);
    }
  }
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  std::size_t next_opened = 0;  // buffers stand in the order in which they open
  for (std::int32_t index = 0; index < op_count; ++index) {
    const auto lane = static_cast<int>(rank.ops[index].lane);
    for (; next_opened < rank.buffers.size() && rank.buffers[next_opened].opened_by <= index;
         ++next_opened) {
      Buffer& buffer = rank.buffers[next_opened];
      if (buffer.opened_by < 0) continue;
      buffer.offset = free_list.take(aligned(buffer.bytes));
      const LaneOps last = last_users.take(buffer.offset, buffer.offset + aligned(buffer.bytes));
      for (int other = 0; other < kLanes; ++other) {
        if (other != lane && last[other] >= 0) edges.emplace_back(index, last[other]);
      }
    }
    for (std::int32_t i = closes[index]; i >= 0; i = next_closed[i]) {
      const Buffer& buffer = rank.buffers[i];
      free_list.give(buffer.offset, aligned(buffer.bytes));
      last_users.leave(buffer.offset, buffer.offset + aligned(buffer.bytes), last_use[i]);
    }
  }
  rank.arena_bytes = free_list.end();
  add_edges(rank, edges);
}

}  // namespace parallelarium
