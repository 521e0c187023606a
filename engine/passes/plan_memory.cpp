// SPDX-License-Identifier: Apache-2.0
// Offsets for every buffer: best fit with coalescing, in op order, in three parts of the
// allocation. What the compute lane alone touches needs no edges, since its ops go one after
// another. Buffers that travel, and what the data lane brings, have places of their own: if one
// took the place of what an action still works on, or the other way round, ranks would wait for
// each other without need.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "engine/passes/build.h"

namespace parallelarium {

namespace {

using LaneOps = std::array<std::int32_t, kLanes>;

// Free stretches of the allocation: few, since neighbours grow together.
class FreeList {
 public:
  // Where `bytes` now lie: in the smallest stretch that holds them, the first of equals.
  std::int64_t take(std::int64_t bytes) {
    auto fit = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      if (it->bytes >= bytes && (fit == free_.end() || it->bytes < fit->bytes)) fit = it;
      if (it->bytes == bytes) break;  // none is smaller
    }
    if (fit == free_.end()) {
      // Grow; a free stretch at the end is used as the beginning.
      std::int64_t offset = end_;
      if (!free_.empty() && free_.back().end() == end_) {
        offset = free_.back().offset;
        free_.pop_back();
      }
      end_ = offset + bytes;
      return offset;
    }
    const std::int64_t offset = fit->offset;
    *fit = {offset + bytes, fit->bytes - bytes};
    if (fit->bytes == 0) free_.erase(fit);
    return offset;
  }

  void give(std::int64_t offset, std::int64_t bytes) {
    const auto next = std::lower_bound(
        free_.begin(), free_.end(), offset,
        [](const Stretch& stretch, std::int64_t at) { return stretch.offset < at; });
    const bool joins_next = next != free_.end() && offset + bytes == next->offset;
    const auto before = next == free_.begin() ? free_.end() : std::prev(next);
    if (before != free_.end() && before->end() == offset) {
      before->bytes += bytes + (joins_next ? next->bytes : 0);
      if (joins_next) free_.erase(next);
    } else if (joins_next) {
      *next = {offset, bytes + next->bytes};
    } else {
      free_.insert(next, {offset, bytes});
    }
  }

  std::int64_t end() const { return end_; }

 private:
  struct Stretch {
    std::int64_t offset, bytes;
    std::int64_t end() const { return offset + bytes; }
  };
  std::vector<Stretch> free_;  // by offset
  std::int64_t end_ = 0;
};

// Who used each place last: kept apart from the free list, whose stretches grow together, so that a
// buffer waits only for what lay where it lies.
class LastUsers {
 public:
  void leave(std::int64_t begin, std::int64_t end, const LaneOps& last) {
    places_.insert(from(begin), Place{begin, end, last});
  }
  // The latest op of each lane in [begin, end), which is forgotten.
  LaneOps take(std::int64_t begin, std::int64_t end) {
    LaneOps latest = {-1, -1, -1};
    auto first = from(begin);
    if (first != places_.begin() && std::prev(first)->end > begin) --first;
    auto last = first;
    for (; last != places_.end() && last->begin < end; ++last)
      for (int lane = 0; lane < kLanes; ++lane)
        latest[lane] = std::max(latest[lane], last->last[lane]);
    if (first == last) return latest;
    const Place lowest = *first, highest = *std::prev(last);
    auto rest = places_.erase(first, last);
    if (highest.end > end) rest = places_.insert(rest, Place{end, highest.end, highest.last});
    if (lowest.begin < begin) places_.insert(rest, Place{lowest.begin, begin, lowest.last});
    return latest;
  }

 private:
  struct Place {
    std::int64_t begin, end;
    LaneOps last;
  };
  std::vector<Place>::iterator from(std::int64_t begin) {
    return std::lower_bound(places_.begin(), places_.end(), begin,
                            [](const Place& place, std::int64_t at) { return place.begin < at; });
  }
  std::vector<Place> places_;  // by first byte, without overlap; few
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
      const std::int32_t last = free_[i].last_of_others[static_cast<std::size_t>(lane)];
      if (last < used && free_[i].place.bytes >= bytes) {
        oldest = i;
        used = last;
      }
    }
    if (oldest == free_.size()) return std::nullopt;
    const Place place = free_[oldest].place;
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(oldest));
    return place;
  }
  void give(const Place& place) {
    Free free{place, {-1, -1, -1}};
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      for (std::size_t other = 0; other < kLanes; ++other)
        if (other != lane)
          free.last_of_others[lane] = std::max(free.last_of_others[lane], place.last[other]);
    free_.push_back(free);
  }

 private:
  struct Free {
    Place place;
    LaneOps last_of_others;  // the latest op of any other lane, by lane
  };
  std::vector<Free> free_;
};

// Buffers by the op at which something happens to them: those of an op are first[op], and from
// each on next[buffer], in their own order up to -1.
struct BuffersByOp {
  std::vector<std::int32_t> first, next;

  BuffersByOp(std::size_t ops, std::size_t buffers) : first(ops, -1), next(buffers, -1) {}
  // Buffers come in falling order.
  void add(std::int32_t buffer, std::int32_t op) {
    next[buffer] = std::exchange(first[op], buffer);
  }
};

// When each buffer opens and closes. Ops of one batch start and end together, so that what one of
// them opens is open from the batch's first op, and what one of them closes until its last.
struct Lives {
  BuffersByOp opened, closed;
};

Lives lives_of(const RankProgram& rank) {
  // The ops of a batch follow one another in their lane: by op its batch's first, and by that the
  // last.
  std::vector<std::int32_t> first(rank.ops.size(), -1), last(rank.ops.size(), -1);
  LaneOps begun = {-1, -1, -1};
  for (std::size_t index = 0; index < rank.ops.size(); ++index) {
    const Op& now = rank.ops[index];
    std::int32_t& begin = begun[static_cast<std::size_t>(now.lane)];
    if (now.batch < 0) {
      begin = -1;
      continue;
    }
    if (begin < 0 || rank.ops[begin].batch != now.batch) begin = static_cast<std::int32_t>(index);
    first[index] = begin;
    last[begin] = static_cast<std::int32_t>(index);
  }
  const auto buffers = static_cast<std::int32_t>(rank.buffers.size());
  BuffersByOp opened(rank.ops.size(), rank.buffers.size()), closed = opened;
  for (std::int32_t i = buffers; i-- > 0;) {
    const Buffer& buffer = rank.buffers[i];
    if (buffer.opened_by < 0) continue;
    const std::int32_t opens = first[buffer.opened_by], closes = first[buffer.closed_by];
    opened.add(i, opens >= 0 ? opens : buffer.opened_by);
    closed.add(i, closes >= 0 ? last[closes] : buffer.closed_by);
  }
  return {std::move(opened), std::move(closed)};
}

std::int64_t aligned(std::int64_t bytes) {
  return (std::max<std::int64_t>(bytes, 1) + kBufferAlignment - 1) / kBufferAlignment *
         kBufferAlignment;
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

// Adds an edge to a sorted list. Only what a batch opens comes out of turn.
void insert_edge(std::vector<std::pair<std::int32_t, std::int32_t>>& edges,
                 std::pair<std::int32_t, std::int32_t> edge) {
  edges.insert(edges.empty() || edges.back() < edge
                   ? edges.end()
                   : std::upper_bound(edges.begin(), edges.end(), edge),
               edge);
}

// Places that an action still sends from when the Program has no more use for them: blocks of a
// ring, or what goes beside a product of TP. Computing that goes on meanwhile would wait for them,
// so they become free where it has waited for their lane anyway.
class SentPlaces {
 public:
  struct Place {
    std::int64_t offset = 0, bytes = 0;
    LaneOps last = {-1, -1, -1};
  };
  explicit SentPlaces(const RankProgram& rank) : rank_(rank) {}

  bool is_sent(const LaneOps& last) const {
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      if (last[lane] > awaited_[lane] && is_beside(rank_.ops[last[lane]])) return false;
    return true;
  }
  void leave(const Place& place) { places_.push_back(place); }
  // give(place) for all that have been sent when op `now` begins.
  template <class Give>
  void free_before(const Op& now, const Give& give) {
    if (now.lane != Lane::kCompute) return;
    for (const std::int32_t before : rank_.after_of(now)) {
      std::int32_t& awaited = awaited_[static_cast<std::size_t>(rank_.ops[before].lane)];
      awaited = std::max(awaited, before);
    }
    std::erase_if(places_, [&](const Place& place) {
      const bool sent = is_sent(place.last);
      if (sent) give(place);
      return sent;
    });
  }

 private:
  static bool is_beside(const Op& op) {
    return op.lane != Lane::kCompute && op.kind != OpKind::kCompute && op.action >= 0;
  }

  const RankProgram& rank_;
  LaneOps awaited_ = {-1, -1, -1};  // the last op of each lane that computing has waited for
  std::vector<Place> places_;
};

// The parts of an arena: what the compute lane alone uses, what travels between stages, and what
// other lanes use too.
enum class ArenaPart : std::uint8_t { kInner, kTravels, kShared };

struct BufferUses {
  std::vector<LaneOps> last;  // op, or -1
  std::vector<ArenaPart> parts;
};

BufferUses uses_of(const RankProgram& rank) {
  BufferUses uses{std::vector<LaneOps>(rank.buffers.size(), LaneOps{-1, -1, -1}),
                  std::vector<ArenaPart>(rank.buffers.size(), ArenaPart::kInner)};
  for (std::int32_t index = 0; index < static_cast<std::int32_t>(rank.ops.size()); ++index) {
    const Op& op = rank.ops[index];
    for (const Operand& operand : rank.operands_of(op)) {
      uses.last[operand.buffer][static_cast<std::size_t>(op.lane)] = index;
      ArenaPart& part = uses.parts[operand.buffer];
      if (op.lane == Lane::kCompute || part == ArenaPart::kTravels) continue;
      // A ring's blocks come and go within one action.
      const bool travels = op.lane == Lane::kPipeline && op.purpose != Purpose::kKeysValues;
      part = travels ? ArenaPart::kTravels : ArenaPart::kShared;
    }
  }
  return uses;
}

}  // namespace

void plan_memory(RankProgram& rank) {
  FreeList inner, shared;
  LastUsers last_users;
  TravelPlaces travel_places;
  SentPlaces sent_places(rank);
  std::int64_t travel_end = 0;
  const auto op_count = static_cast<std::int32_t>(rank.ops.size());
  const auto [last_use, parts] = uses_of(rank);
  for (Buffer& buffer : rank.buffers)
    if (buffer.opened_by < 0) buffer.offset = inner.take(aligned(buffer.bytes));
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
    sent_places.free_before(now, [&](const SentPlaces::Place& place) {
      shared.give(place.offset, place.bytes);
      last_users.leave(place.offset, place.offset + place.bytes, place.last);
    });
    for (std::int32_t i = lives.opened.first[index]; i >= 0; i = lives.opened.next[i]) {
      Buffer& buffer = rank.buffers[i];
      const Lane lane = rank.ops[buffer.opened_by].lane;
      const std::int64_t bytes = aligned(buffer.bytes);
      LaneOps last = {-1, -1, -1};
      switch (parts[i]) {
        case ArenaPart::kInner:
          buffer.offset = inner.take(bytes);
          continue;
        case ArenaPart::kShared:
          buffer.offset = shared.take(bytes);
          last = last_users.take(buffer.offset, buffer.offset + bytes);
          break;
        case ArenaPart::kTravels: {
          const std::int32_t since = lane == Lane::kCompute ? before_begin : action_begin;
          if (const auto place = travel_places.take(bytes, lane, since)) {
            buffer.offset = place->offset;
            last = place->last;
          } else {
            buffer.offset = std::exchange(travel_end, travel_end + bytes);
          }
          break;
        }
      }
      for (int other = 0; other < kLanes; ++other) {
        if (other == static_cast<int>(lane) || last[other] < 0) continue;
        insert_edge(edges, {buffer.opened_by, last[other]});
      }
    }
    for (std::int32_t i = lives.closed.first[index]; i >= 0; i = lives.closed.next[i]) {
      const Buffer& buffer = rank.buffers[i];
      const std::int64_t bytes = aligned(buffer.bytes);
      if (parts[i] == ArenaPart::kInner) {
        inner.give(buffer.offset, bytes);
      } else if (parts[i] == ArenaPart::kTravels) {
        travel_places.give({buffer.offset, bytes, last_use[i]});
      } else if (!sent_places.is_sent(last_use[i])) {
        sent_places.leave({buffer.offset, bytes, last_use[i]});
      } else {
        shared.give(buffer.offset, bytes);
        last_users.leave(buffer.offset, buffer.offset + bytes, last_use[i]);
      }
    }
  }
  for (std::size_t i = 0; i < rank.buffers.size(); ++i) {
    if (rank.buffers[i].opened_by < 0) continue;
    if (parts[i] == ArenaPart::kTravels) rank.buffers[i].offset += inner.end();
    if (parts[i] == ArenaPart::kShared) rank.buffers[i].offset += inner.end() + travel_end;
  }
  rank.arena_bytes = inner.end() + travel_end + shared.end();
  add_edges(rank, edges);
}

}  // namespace parallelarium
