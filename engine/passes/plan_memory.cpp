// SPDX-License-Identifier: Apache-2.0
// Offsets for every buffer: best fit with coalescing, in op order.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>

#include "engine/passes/build.h"

namespace parallelarium {

namespace {

constexpr std::int64_t kAlignment = 64;  // a cache line; also what vector loads like
using LaneOps = std::array<std::int32_t, kLanes>;

// Free stretches of the allocation, each with the last ops (by lane) that used any part of it.
class FreeList {
 public:
  struct Taken {
    std::int64_t offset = 0;
    LaneOps last = {-1, -1, -1};
  };

  Taken take(std::int64_t bytes) {
    const auto fit = by_size_.lower_bound({bytes, -1});
    if (fit == by_size_.end()) {
      // Grow; a free stretch at the end is used as the beginning.
      Taken taken{end_, {-1, -1, -1}};
      if (!free_.empty()) {
        const auto last = std::prev(free_.end());
        if (last->first + last->second.bytes == end_) {
          taken = {last->first, last->second.last};
          by_size_.erase({last->second.bytes, last->first});
          free_.erase(last);
        }
      }
      end_ = taken.offset + bytes;
      return taken;
    }
    const auto [size, offset] = *fit;
    by_size_.erase(fit);
    const auto found = free_.find(offset);
    const Stretch stretch = found->second;
    free_.erase(found);
    if (size > bytes) insert(offset + bytes, {size - bytes, stretch.last});
    return {offset, stretch.last};
  }

  void give(std::int64_t offset, std::int64_t bytes, LaneOps last) {
    Stretch stretch{bytes, last};
    auto next = free_.lower_bound(offset);
    if (next != free_.end() && offset + bytes == next->first) {
      merge(stretch, next->second);
      by_size_.erase({next->second.bytes, next->first});
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second.bytes == offset) {
        merge(stretch, before->second);
        by_size_.erase({before->second.bytes, before->first});
        offset = before->first;
        free_.erase(before);
      }
    }
    insert(offset, stretch);
  }

  std::int64_t end() const { return end_; }

 private:
  struct Stretch {
    std::int64_t bytes = 0;
    LaneOps last;
  };
  static void merge(Stretch& into, const Stretch& from) {
    into.bytes += from.bytes;
    for (int lane = 0; lane < kLanes; ++lane)
      into.last[lane] = std::max(into.last[lane], from.last[lane]);
  }
  void insert(std::int64_t offset, const Stretch& stretch) {
    free_.emplace(offset, stretch);
    by_size_.emplace(stretch.bytes, offset);
  }

  std::map<std::int64_t, Stretch> free_;                     // by offset
  std::set<std::pair<std::int64_t, std::int64_t>> by_size_;  // (bytes, offset)
  std::int64_t end_ = 0;
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

// Ops of a batch end together: what one of them used last is in use until the last has ended.
void close_with_batch(RankProgram& rank) {
  std::unordered_map<std::int32_t, std::int32_t> last;  // op by batch
  for (std::size_t index = 0; index < rank.ops.size(); ++index) {
    if (rank.ops[index].batch >= 0) last[rank.ops[index].batch] = static_cast<std::int32_t>(index);
  }
  if (last.empty()) return;
  for (Buffer& buffer : rank.buffers) {
    if (buffer.opened_by < 0) continue;
    const std::int32_t batch = rank.ops[static_cast<std::size_t>(buffer.closed_by)].batch;
    if (batch >= 0) buffer.closed_by = last[batch];
  }
}

}  // namespace

void plan_memory(RankProgram& rank) {
  close_with_batch(rank);
  FreeList free_list;
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
      buffer.offset = free_list.take(aligned(buffer.bytes)).offset;
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
      const FreeList::Taken taken = free_list.take(aligned(buffer.bytes));
      buffer.offset = taken.offset;
      for (int other = 0; other < kLanes; ++other) {
        if (other != lane && taken.last[other] >= 0) edges.emplace_back(index, taken.last[other]);
      }
    }
    for (std::int32_t i = closes[index]; i >= 0; i = next_closed[i]) {
      const Buffer& buffer = rank.buffers[i];
      free_list.give(buffer.offset, aligned(buffer.bytes), last_use[i]);
    }
  }
  rank.arena_bytes = free_list.end();
  add_edges(rank, edges);
}

}  // namespace parallelarium
