// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/repeats/alike_ops.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

namespace parallelarium {

namespace {

// All that makes an op but when it is done, for which micro-batch, and what it touches.
auto kind_of_op(const Op& op) {
  return std::tuple(op.kind, op.lane, op.piece, op.phase, op.collective, op.reduction, op.purpose,
                    op.type, op.layer, op.chunk, op.block, op.peer, op.group, op.work, op.fold,
                    op.bytes, op.repeat, op.operand_count);
}

}  // namespace

AlikeOps::AlikeOps(const RankProgram& rank, const std::vector<Span>& spans, const BodySize& size)
    : rank_(rank),
      spans_(spans),
      size_(size),
      length_(size.body.last - size.body.first),
      first_(size.body.first),
      last_(size.body.first) {
  const auto end = static_cast<std::int32_t>(rank.ops.size());
  while (last_ + length_ < end && alike(last_)) ++last_;
  while (first_ > 0 && alike(first_ - 1)) --first_;
  last_ += length_;
  place_body();
}

// As near to the Order's cut as leaves two bodies before it and one behind it, and between batches.
void AlikeOps::place_body() {
  const std::int32_t least = first_ + 2 * length_, most = last_ - length_;
  if (least > most) return;
  Repeats::Body& body = size_.body;
  body.last = std::clamp(body.last, least, most);
  while (body.last < most && splits_batch(body.last)) ++body.last;
  body.first = body.last - length_;
}

bool AlikeOps::splits_batch(std::int32_t cut) const {
  return op(cut).batch >= 0 && op(cut - 1).batch == op(cut).batch;
}

bool AlikeOps::alike(std::int32_t at) const {
  const Op &one = op(at), &later = op(at + length_);
  if (kind_of_op(one) != kind_of_op(later)) return false;
  const auto moved = [](std::int32_t from, std::int32_t to, std::int32_t by) {
    return from < 0 ? to == from : to == from + by;
  };
  if (!moved(one.microbatch, later.microbatch, size_.microbatches) ||
      !moved(one.action, later.action, size_.actions))
    return false;
  // Batches have numbers of the whole Program: what counts is which ops are of one.
  const auto joins = [&](std::int32_t index) {
    return index > 0 && op(index).batch >= 0 && op(index - 1).batch == op(index).batch;
  };
  if ((one.batch < 0) != (later.batch < 0) || joins(at) != joins(at + length_)) return false;
  return same_waits(at) && span(at).begin + size_.period == span(at + length_).begin &&
         span(at).end + size_.period == span(at + length_).end && same_operands(one, later, at);
}

// What is far back is told by waits_in_order().
bool AlikeOps::same_waits(std::int32_t at) const {
  const auto waits = rank_.after_of(op(at)), later = rank_.after_of(op(at + length_));
  auto other = later.begin();
  const auto skip_far = [&] {
    while (other != later.end() && is_far(at + length_, *other)) ++other;
  };
  for (const std::int32_t waited : waits) {
    if (is_far(at, waited)) continue;
    skip_far();
    if (other == later.end() || *other++ != waited + length_) return false;
  }
  skip_far();
  return other == later.end();
}

bool AlikeOps::same_operands(const Op& one, const Op& later, std::int32_t at) const {
  for (std::int32_t operand = 0; operand < one.operand_count; ++operand) {
    const auto of = [&](const Op& which) -> const Operand& {
      return rank_.operands[static_cast<std::size_t>(which.operand_first + operand)];
    };
    const Operand &a = of(one), &b = of(later);
    const Buffer &own = buffer(a.buffer), &other = buffer(b.buffer);
    if (std::tuple(a.access, a.type, a.shard, a.count, own.tensor, own.category, own.layer,
                   own.bytes, own.opened_by < 0) !=
        std::tuple(b.access, b.type, b.shard, b.count, other.tensor, other.category, other.layer,
                   other.bytes, other.opened_by < 0))
      return false;
    if (own.opened_by < 0 && a.buffer != b.buffer) return false;
    if (own.opened_by >= 0 && ((own.opened_by == at) != (other.opened_by == at + length_) ||
                               (own.closed_by == at) != (other.closed_by == at + length_)))
      return false;
  }
  return true;
}

bool AlikeOps::holds() const {
  const Repeats::Body& body = size_.body;
  return !splits_batch(body.last) && first_ + length_ <= body.first &&
         last_ >= body.last + length_ && waits_in_order() && keeps_places() &&
         frees_what_it_opens();
}

// All ops from the body on: those before wait for nothing behind the cut but what messages bring.
bool AlikeOps::waits_in_order() const {
  std::array<std::int32_t, kLanes> latest;  // ops of each lane
  latest.fill(-1);
  const auto end = static_cast<std::int32_t>(rank_.ops.size());
  for (std::int32_t at = 0; at < end; ++at) {
    const auto lane = static_cast<std::size_t>(op(at).lane);
    const std::int32_t before = latest[lane];
    latest[lane] = at;
    if (at < size_.body.first) continue;
    if (before < first_ && !waits_in_order(at, before, before)) return false;
    for (const std::int32_t waited : rank_.after_of(op(at))) {
      const bool apart = waited < first_ || (at < size_.body.last && is_far(at, waited));
      if (apart && !waits_in_order(at, before, waited)) return false;
    }
  }
  return true;
}

// The op `at` waits for `of`, which is far back or no part of the stretch. In the whole step that
// may be another op of the same lane, but none behind the latest one that lies a body or more
// before it. This has ended before something that the op waits for in the stretch: `before`, in its
// own lane, or the end of another lane's op.
bool AlikeOps::waits_in_order(std::int32_t at, std::int32_t before, std::int32_t of) const {
  if (of < 0) return true;  // nothing stands before it in its lane, now as then
  if (op(at).batch >= 0) return false;
  std::int32_t latest = std::min(at, size_.body.last) - length_ - 1;
  while (latest >= first_ && op(latest).lane != op(of).lane) --latest;
  if (latest < first_) {
    for (std::int32_t other = first_; other < last_; ++other)
      if (op(other).lane == op(of).lane) return false;
    latest = of;  // a lane that does nothing in the stretch has done all before it
  }
  Nanoseconds known{-1};
  if (before >= first_) known = span(before).end;
  for (const std::int32_t waited : rank_.after_of(op(at)))
    if (waited >= first_ && !is_far(at, waited)) known = std::max(known, span(waited).end);
  return span(latest).end <= known;
}

// What another lane touches lies at the same place some bodies later; of what travels between ranks
// the places may change places. So memory that is free, and who used it last, is as it was, and so
// it is where the ops that come again are as many bodies, or so many times as many.
bool AlikeOps::keeps_places() const {
  constexpr std::int32_t kMostBodies = 12;
  const std::vector<Uses> uses = uses_of_buffers();
  for (std::int32_t bodies = 1; bodies <= kMostBodies; ++bodies)
    if (size_.times % bodies == 0 && (bodies + 2) * length_ <= last_ - first_ &&
        keeps_places(uses, bodies * length_))
      return true;
  return false;
}

std::vector<AlikeOps::Uses> AlikeOps::uses_of_buffers() const {
  std::vector<Uses> uses(rank_.buffers.size(), Uses::kInner);
  for (const Op& each : rank_.ops)
    for (const Operand& operand : rank_.operands_of(each)) {
      Uses& of = uses[static_cast<std::size_t>(operand.buffer)];
      if (each.lane == Lane::kCompute || of == Uses::kTravels) continue;
      const bool travels = each.lane == Lane::kPipeline && each.purpose != Purpose::kKeysValues;
      of = travels ? Uses::kTravels : Uses::kShared;
    }
  return uses;
}

bool AlikeOps::keeps_places(const std::vector<Uses>& uses, std::int32_t later_by) const {
  std::map<std::int64_t, std::int64_t> places;  // of what travels: the later one
  std::set<std::int64_t> taken;
  // Before that, places may still be made.
  const std::int32_t first = std::max(first_, size_.body.first - 2 * later_by - length_);
  for (std::int32_t at = first; at + later_by < last_; ++at) {
    const auto own = rank_.operands_of(op(at)), later = rank_.operands_of(op(at + later_by));
    for (std::size_t operand = 0; operand < own.size(); ++operand) {
      const auto a = static_cast<std::size_t>(own[operand].buffer),
                 b = static_cast<std::size_t>(later[operand].buffer);
      if (uses[a] != uses[b]) return false;
      if (uses[a] == Uses::kInner || a == b) continue;
      const std::int64_t from = rank_.buffers[a].offset, to = rank_.buffers[b].offset;
      if (uses[a] == Uses::kShared && from != to) return false;
      if (uses[a] != Uses::kTravels) continue;
      const auto [known, fresh] = places.try_emplace(from, to);
      if (known->second != to || (fresh && !taken.insert(to).second)) return false;
    }
  }
  return std::all_of(places.begin(), places.end(),
                     [&](const auto& place) { return places.count(place.second) > 0; });
}

bool AlikeOps::frees_what_it_opens() const {
  CategoryBytes held{};
  const Repeats::Body& body = size_.body;
  const auto inside = [&](std::int32_t at) { return at >= body.first && at < body.last; };
  for (const Buffer& each : rank_.buffers) {
    if (each.opened_by < 0) continue;
    std::int64_t& bytes = held[static_cast<std::size_t>(each.category)];
    if (inside(each.opened_by)) bytes += each.bytes;
    if (inside(each.closed_by)) bytes -= each.bytes;
  }
  return std::all_of(held.begin(), held.end(), [](std::int64_t bytes) { return bytes == 0; });
}

}  // namespace parallelarium
