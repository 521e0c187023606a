// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/program/holdings/held_activations.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace parallelarium {

namespace {

constexpr std::int32_t kTablesPlace = -1, kHeadPlace = 1 << 20, kStagePlace = kHeadPlace + 1;

// Of a buffer that names no layer of the rank, as what a stage sends on, where the first op that
// computes with it belongs.
std::int32_t place_of_op(const Op& op) {
  if (op.fold >= 0 || op.piece == Piece::kStage) return kStagePlace;
  if (op.layer >= 0) return op.layer;
  return op.piece == Piece::kEmbedding ? kTablesPlace : kHeadPlace;
}

std::vector<std::int32_t> places_of_buffers(const RankProgram& rank) {
  constexpr std::int32_t kUnknown = -2;
  std::vector<std::int32_t> places(rank.buffers.size(), kUnknown);
  for (std::size_t at = 0; at < places.size(); ++at)
    if (std::find(rank.layers.begin(), rank.layers.end(), rank.buffers[at].layer) !=
        rank.layers.end())
      places[at] = rank.buffers[at].layer;
  for (const Op& op : rank.ops) {
    if (op.kind != OpKind::kCompute) continue;
    for (const Operand& operand : rank.operands_of(op)) {
      std::int32_t& place = places[static_cast<std::size_t>(operand.buffer)];
      if (place == kUnknown) place = place_of_op(op);
    }
  }
  for (std::int32_t& place : places)
    if (place == kUnknown) place = kStagePlace;
  return places;
}

HeldActivations at_place(std::int32_t place) {
  HeldActivations held;
  held.place = place == kTablesPlace  ? HeldPlace::kTables
               : place == kHeadPlace  ? HeldPlace::kHead
               : place == kStagePlace ? HeldPlace::kStage
                                      : HeldPlace::kLayer;
  if (held.place == HeldPlace::kLayer) held.layer = place;
  return held;
}

// Between the begin of what opens it and the end of what closes it.
std::pair<Nanoseconds, Nanoseconds> held_between(const Buffer& buffer,
                                                 const std::vector<Span>& spans) {
  const auto opened = static_cast<std::size_t>(buffer.opened_by),
             closed = static_cast<std::size_t>(buffer.closed_by);
  if (buffer.opened_by < 0 || opened >= spans.size() || closed >= spans.size())
    return {Nanoseconds(0), Nanoseconds::max()};
  return {spans[opened].begin, spans[closed].end};
}

}  // namespace

ActivationsHeld::ActivationsHeld(const Program& program, const Timeline& timeline, int rank_index) {
  const RankProgram& rank = program.ranks[static_cast<std::size_t>(rank_index)];
  const std::vector<Span>& spans = timeline.ranks[static_cast<std::size_t>(rank_index)].spans;
  const std::vector<std::int32_t> places = places_of_buffers(rank);
  for (std::size_t at = 0; at < rank.buffers.size(); ++at) {
    const Buffer& buffer = rank.buffers[at];
    if (buffer.category != Category::kActivations) continue;
    const auto [begin, end] = held_between(buffer, spans);
    held_.push_back({places[at], buffer.microbatch, buffer.bytes, begin, end});
  }
  std::stable_sort(held_.begin(), held_.end(),
                   [](const Held& a, const Held& b) { return a.place < b.place; });
  // Buffers of a place begin or end one by one: +1 and -1 for its micro-batches.
  using Change = std::tuple<std::int32_t, Nanoseconds, int, std::int32_t>;
  std::vector<Change> changes;
  for (const Held& held : held_) {
    if (held.microbatch < 0 || held.begin >= held.end) continue;
    changes.emplace_back(held.place, held.begin, 1, held.microbatch);
    changes.emplace_back(held.place, held.end, -1, held.microbatch);
  }
  std::sort(changes.begin(), changes.end());
  std::map<std::int32_t, int> open;      // buffers of a micro-batch
  std::int32_t place = kStagePlace + 1;  // none
  for (const auto& [at, time, by, microbatch] : changes) {
    if (at != place) open.clear();
    place = at;
    int& count = open[microbatch];
    count += by;
    if (count == 0) open.erase(microbatch);
    most_ = std::max(most_, static_cast<int>(open.size()));
  }
}

std::vector<HeldActivations> ActivationsHeld::at(Nanoseconds time) const {
  std::vector<HeldActivations> out;
  std::int32_t place = 0;
  for (const Held& held : held_) {
    if (time < held.begin || time >= held.end) continue;
    if (out.empty() || held.place != place) out.push_back(at_place(held.place));
    place = held.place;
    out.back().bytes += held.bytes;
    if (held.microbatch >= 0) out.back().microbatches.push_back(held.microbatch);
  }
  for (HeldActivations& each : out) {
    std::vector<int>& all = each.microbatches;
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }
  return out;
}

BuffersHeld::BuffersHeld(const Program& program, const Timeline& timeline, int rank_index) {
  const auto at = static_cast<std::size_t>(rank_index);
  for (const Buffer& buffer : program.ranks[at].buffers) {
    const bool of_states =
        buffer.tensor == Tensor::kGathered || buffer.tensor == Tensor::kBucketGradients;
    if (buffer.category != Category::kBuffers || of_states) continue;
    const auto [begin, end] = held_between(buffer, timeline.ranks[at].spans);
    held_.push_back({{buffer.tensor, buffer.bytes}, begin, end});
  }
}

std::vector<HeldBuffer> BuffersHeld::at(Nanoseconds time) const {
  std::vector<HeldBuffer> out;
  for (const Held& held : held_) {
    if (time < held.begin || time >= held.end) continue;
    const auto same = std::find_if(out.begin(), out.end(), [&](const HeldBuffer& each) {
      return each.tensor == held.of.tensor;
    });
    if (same == out.end())
      out.push_back(held.of);
    else
      same->bytes += held.of.bytes;
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const HeldBuffer& a, const HeldBuffer& b) { return a.bytes > b.bytes; });
  return out;
}

}  // namespace parallelarium
