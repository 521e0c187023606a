// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/event_plan.h"

#include <algorithm>
#include <array>

namespace parallelarium {

namespace {

// The last op of every lane that is known to have ended; ops are numbered in issue order, which is
// every lane's order.
using Known = std::array<std::int32_t, kLanes>;

void join(Known& known, const Known& more) {
  for (std::size_t lane = 0; lane < known.size(); ++lane)
    known[lane] = std::max(known[lane], more[lane]);
}

}  // namespace

EventWaits plan_events(const RankProgram& rank) {
  const std::size_t count = rank.ops.size();
  EventWaits waits(count);
  Known nothing;
  nothing.fill(-1);
  std::vector<Known> at_end(count, nothing);  // what is known once an op has ended
  std::array<Known, kLanes> of_lane;          // what the lane's stream has waited for
  of_lane.fill(nothing);
  std::array<std::int32_t, kLanes> batch_begin{};  // first op of the lane's batch under way
  std::array<std::int32_t, kLanes> batch{};
  batch.fill(-1);
  const auto lane_of = [&](std::int32_t op) {
    return static_cast<std::size_t>(rank.ops[static_cast<std::size_t>(op)].lane);
  };
  // Units first: where each op's batch begins.
  std::vector<std::vector<std::int32_t>> unit_of(count);
  std::vector<std::int32_t> begin_of(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto op = static_cast<std::int32_t>(i);
    const std::size_t lane = lane_of(op);
    const bool joins = rank.ops[i].batch >= 0 && rank.ops[i].batch == batch[lane];
    if (!joins) batch_begin[lane] = op;
    batch[lane] = rank.ops[i].batch;
    unit_of[static_cast<std::size_t>(batch_begin[lane])].push_back(op);
    begin_of[i] = batch_begin[lane];
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (unit_of[i].empty()) continue;  // goes with the first of its batch
    const std::size_t lane = lane_of(static_cast<std::int32_t>(i));
    Known needed = nothing;
    for (const std::int32_t op : unit_of[i]) {
      for (const std::int32_t earlier : rank.after_of(rank.ops[static_cast<std::size_t>(op)])) {
        std::int32_t& latest = needed[lane_of(earlier)];
        latest = std::max(latest, earlier);
      }
    }
    Known& known = of_lane[lane];
    // What began last comes first: it may bring the others with it.
    std::vector<std::int32_t> wanted;
    for (std::size_t other = 0; other < needed.size(); ++other) {
      if (other != lane && needed[other] >= 0) wanted.push_back(needed[other]);
    }
    std::sort(wanted.begin(), wanted.end(), [&](std::int32_t a, std::int32_t b) {
      return begin_of[static_cast<std::size_t>(a)] > begin_of[static_cast<std::size_t>(b)];
    });
    for (const std::int32_t earlier : wanted) {
      if (known[lane_of(earlier)] >= earlier) continue;
      waits[i].push_back(earlier);
      join(known, at_end[static_cast<std::size_t>(earlier)]);
    }
    known[lane] = unit_of[i].back();
    for (const std::int32_t op : unit_of[i]) at_end[static_cast<std::size_t>(op)] = known;
  }
  return waits;
}

}  // namespace parallelarium
