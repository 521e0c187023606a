// SPDX-License-Identifier: Apache-2.0
// Offsets for every buffer: best fit with coalescing, in op order. Buffers that travel have places
// of their own: if one took the place of what an action still works on, or the other way round,
// ranks would wait for each other without need.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
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

  // A new stretch at the end.
  std::int64_t grow(std::int64_t bytes) {
    end_ += bytes;
    return end_ - bytes;
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

// Places of buffers that the pipeline lane touches; a place keeps its size.
class TravelPlaces {
 public:
  struct Place {
    std::int64_t offset = 0, bytes = 0;
    LaneOps last = {-1, -1, -1};
  };

  // A free place of at least `bytes` that no op of another lane than `lane` has used since `since`:
  // the one that has been free of them longest.
  std::optional<Place> take(std::int64_t bytes, Lane lane, std::int32_t since) {
    std::size_t oldest = free_.size();
    std::int32_t used = since;
    for (std::size_t i = 0; i < free_.size(); ++i) {
      const std::int32_t last = last_of_others(free_[i].last, lane);
      if (free_[i].bytes >= bytes && last < used) {
        oldest = i;
        used = last;
      }
    }
    if (oldest == free_.size()) return std::nullopt;
    const Place place = free_[oldest];
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(oldest));
    return place;
  }
  void give(Place place) { free_.push_back(place); }

 private:
  static std::int32_t last_of_others(const LaneOps& last, Lane lane) {
    std::int32_t latest = -1;
    for (int other = 0; other < kLanes; ++other) {
      if (other != static_cast<int>(lane)) latest = std::max(latest, last[other]);
    }
    return latest;
  }

  std::vector<Place> free_;
};

// When each buffer opens and closes. Ops of one batch start and end together, so that what one of
// them opens is open from the batch's first op, and what one of them closes until its last.
struct Lives {
  std::vector<std::vector<std::int32_t>> opened, closed;  // by op, buffers
};

Lives lives_of(const RankProgram& rank) {
  std::map<std::int32_t, std::pair<std::int32_t, std::int32_t>> batches;  // first and last op
  for (std::size_t index = 0; index < rank.ops.size(); ++index) {
    const std::int32_t batch = rank.ops[index].batch, op = static_cast<std::int32_t>(index);
    if (batch >= 0) batches.try_emplace(batch, op, op).first->second.second = op;
  }
  Lives lives{std::vector<std::vector<std::int32_t>>(rank.ops.size()),
              std::vector<std::vector<std::int32_t>>(rank.ops.size())};
  for (std::size_t i = 0; i < rank.buffers.size(); ++i) {
    const Buffer& buffer = rank.buffers[i];
    if (buffer.opened_by < 0) continue;
    const std::int32_t opens = rank.ops[buffer.opened_by].batch;
    const std::int32_t closes = rank.ops[buffer.closed_by].batch;
    lives.opened[opens >= 0 ? batches[opens].first : buffer.opened_by].push_back(
        static_cast<std::int32_t>(i));
    lives.closed[closes >= 0 ? batches[closes].second : buffer.closed_by].push_back(
        static_cast<std::int32_t>(i));
  }
  return lives;
}

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
  TravelPlaces travel_places;
  const auto op_count = static_cast<std::int32_t>(rank.ops.size());
  std::vector<LaneOps> last_use(rank.buffers.size(), LaneOps{-1, -1, -1});
  std::vector<bool> travels(rank.buffers.size(), false);
  for (std::int32_t index = 0; index < op_count; ++index) {
    const Op& op = rank.ops[index];
    for (const Operand& operand : rank.operands_of(op)) {
      last_use[operand.buffer][static_cast<std::size_t>(op.lane)] = index;
      // A ring's blocks come and go within one action.
      if (op.lane == Lane::kPipeline && op.purpose != Purpose::kKeysValues)
        travels[operand.buffer] = true;
    }
  }
  for (Buffer& buffer : rank.buffers) {
    if (buffer.opened_by < 0) buffer.offset = free_list.take(aligned(buffer.bytes));
  }
  const Lives lives = lives_of(rank);
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  // The first op of the action in work and of the one before it.
  std::int32_t action = -1, action_begin = 0, before_begin = 0;
  for (std::int32_t index = 0; index < op_count; ++index) {
    const Op& now = rank.ops[index];
    if (now.lane == Lane::kCompute && now.action >= 0 && now.action != action) {
      action = now.action;
      before_begin = action_begin;
      action_begin = index;
    }
    for (const std::int32_t i : lives.opened[index]) {
      Buffer& buffer = rank.buffers[i];
      const Lane lane = rank.ops[buffer.opened_by].lane;
      const std::int64_t bytes = aligned(buffer.bytes);
      LaneOps last = {-1, -1, -1};
      std::optional<TravelPlaces::Place> place;
      if (travels[i]) {
        place =
            travel_places.take(bytes, lane, lane == Lane::kCompute ? before_begin : action_begin);
      }
      if (place) {
        buffer.offset = place->offset;
        last = place->last;
      } else {
        buffer.offset = travels[i] ? free_list.grow(bytes) : free_list.take(bytes);
        last = last_users.take(buffer.offset, buffer.offset + bytes);
      }
      for (int other = 0; other < kLanes; ++other) {
        if (other != static_cast<int>(lane) && last[other] >= 0) {
          edges.emplace_back(buffer.opened_by, last[other]);
        }
      }
    }
    for (const std::int32_t i : lives.closed[index]) {
      const Buffer& buffer = rank.buffers[i];
      const std::int64_t bytes = aligned(buffer.bytes);
      if (travels[i]) {
        travel_places.give({buffer.offset, bytes, last_use[i]});
      } else {
        free_list.give(buffer.offset, bytes);
        last_users.leave(buffer.offset, buffer.offset + bytes, last_use[i]);
      }
    }
  }
  rank.arena_bytes = free_list.end();
  std::sort(edges.begin(), edges.end());
  add_edges(rank, edges);
}

}  // namespace parallelarium
