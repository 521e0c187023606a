// SPDX-License-Identifier: Apache-2.0
#include "engine/schedules/floor.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/plan/setup/schedule_rules.h"
#include "engine/schedules/order_search.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

// Above so many forwards the schedules of the list take longer to make than anybody waits.
constexpr std::int64_t kMostForwardsCompared = 20'000;
bool can_compare(const Order& order) {
  return std::int64_t{order.stages} * order.microbatches <= kMostForwardsCompared;
}

// What every order of this work does, stage by stage.
struct Bounds {
  const OrderShape& shape;

  // From the beginning of a stage's forward of a micro-batch to the end of its backward.
  double round_trip(std::size_t stage) const {
    return shape.stages[stage].forward + shape.trip[stage];
  }

  double work() const {
    double most = 0;
    for (std::size_t rank = 0; rank < shape.held.size(); ++rank) {
      double sum = 0, head = kUnknown, tail = kUnknown;
      for (const std::size_t stage : shape.held[rank]) {
        sum += shape.microbatches * (shape.stages[stage].forward + shape.whole_back(stage));
        head = std::min(head, shape.in[stage]);
        // Where it is split, a weight part may be the last of all.
        tail = std::min(tail, shape.splits ? 0 : shape.out[stage]);
      }
      if (sum > 0) most = std::max(most, head + sum + tail);
    }
    return most;
  }

  // All forwards (or backwards) of a stage go one by one, and the last (first) of them goes on
  // (came) through all others.
  double path() const {
    double most = 0;
    for (std::size_t stage = 0; stage < shape.stages.size(); ++stage) {
      const double others = shape.microbatches - 1;
      const double through = shape.in[stage] + round_trip(stage) + shape.out[stage];
      most = std::max({most, through + others * shape.stages[stage].forward,
                       through + others * shape.back(stage)});
    }
    return most;
  }

  // A rank that may hold c micro-batches serves at least every c-th of them in the same place, one
  // after another.
  double memory(const HeldLimits& limits) const {
    double most = 0;
    for (std::size_t rank = 0; rank < limits.size(); ++rank) {
      const double places = std::floor(limits[rank] / shape.share + 1e-9);
      double sum = 0, head = kUnknown, tail = kUnknown, longest = 0;
      for (const std::size_t stage : shape.held[rank]) {
        const double held =
            round_trip(stage) + (shape.splits ? shape.stages[stage].weight_grad : 0);
        longest = std::max(longest, held);
        sum += shape.microbatches * held;
        head = std::min(head, shape.in[stage]);
        tail = std::min(tail, shape.splits ? 0 : shape.out[stage]);
      }
      if (places < 1 || shape.held[rank].empty()) return kUnknown;
      const double turns = shape.held[rank].size() == 1
                               ? std::ceil(shape.microbatches / places) * longest
                               : sum / places;
      most = std::max(most, head + turns + tail);
    }
    return most;
  }
};

// What a pair of two actions of these stages may take; 0: what both take.
double pair_of(const Durations& a, const Durations& b) {
  return std::max(a.overlapped, b.overlapped);
}

// Of the actions that a stage has, the longest.
double longest_action(const OrderShape& shape, std::size_t stage) {
  const Durations& each = shape.stages[stage];
  const double parts = shape.splits ? std::max(each.input_grad, each.weight_grad) : 0;
  return std::max({each.forward, each.backward, parts});
}

// Whether a pair may end before both of its actions would, one after the other. An order may pair
// any two actions of a rank.
bool gains_by_pairs(const OrderShape& shape) {
  for (const std::vector<std::size_t>& held : shape.held)
    for (const std::size_t a : held)
      for (const std::size_t b : held) {
        const double pair = pair_of(shape.stages[a], shape.stages[b]);
        const double both = longest_action(shape, a) + longest_action(shape, b);
        if (pair > 0 && pair < both * (1 - 1e-12)) return true;
      }
  return false;
}

// The least that one micro-batch takes of the ranks that hold a stage. Any two actions of a rank
// may be a pair, and each of them has half of its time; a backward may be whole or split.
double least_work(const OrderShape& shape, std::size_t stage) {
  double half = kUnknown;
  for (const std::vector<std::size_t>& held : shape.held) {
    if (std::find(held.begin(), held.end(), stage) == held.end()) continue;
    for (const std::size_t other : held)
      if (const double pair = pair_of(shape.stages[stage], shape.stages[other]); pair > 0)
        half = std::min(half, pair / 2);
  }
  const Durations& each = shape.stages[stage];
  const double whole = std::min(each.backward, half);
  const double split = std::min(each.input_grad, half) + std::min(each.weight_grad, half);
  return std::min(each.forward, half) + (shape.splits ? std::min(whole, split) : whole);
}

// All work over all ranks.
double mean_work(const OrderShape& shape) {
  double sum = 0;
  for (std::size_t stage = 0; stage < shape.stages.size(); ++stage) sum += least_work(shape, stage);
  return sum * shape.microbatches / static_cast<double>(shape.held.size());
}

void try_order(const Order& order, const std::vector<Durations>& stages, const HeldLimits& limits,
               Floor& floor) {
  if (!within_limits(order, limits)) return;
  const double makespan = time_by_stage(order, stages).makespan;
  if (makespan >= floor.best_known) return;
  floor.best_known = makespan;
  floor.best = order;
}

bool same_work(const Order& a, const Order& b) {
  return a.stage_of == b.stage_of && a.microbatches == b.microbatches &&
         splits_backward(a) == splits_backward(b);
}

}  // namespace

bool within_limits(const Order& order, const HeldLimits& limits) {
  if (limits.empty()) return true;
  const std::vector<double> peaks = peak_in_flight(order);
  for (std::size_t rank = 0; rank < peaks.size() && rank < limits.size(); ++rank)
    if (peaks[rank] > limits[rank] + 1e-9) return false;
  return true;
}

Floor floor_of(const Order& order, const std::vector<Durations>& stages, const HeldLimits& limits,
               std::size_t budget) {
  Floor floor;
  floor.best_known = kUnknown;
  if (check_order(order).empty()) try_order(order, stages, limits, floor);
  for (const ScheduleRule& rule : kScheduleRules) {
    if (!can_compare(order)) break;
    const auto ranks = static_cast<int>(order.ranks.size());
    if (!check_schedule_sizes(rule, ranks, order.microbatches, order.chunks).ok()) continue;
    const Result<Order> listed =
        make_order(std::string(rule.name), ranks, order.microbatches, order.chunks);
    if (listed.ok() && same_work(*listed, order)) try_order(*listed, stages, limits, floor);
  }
  const OrderShape shape(order, stages);
  const auto raise = [&](double bound, const char* by) {
    if (bound <= floor.at_least) return;
    floor.at_least = bound;
    floor.proved_by = by;
  };
  const auto met = [&] { return floor.best_known <= floor.at_least * (1 + 1e-12); };
  // A stage that is held twice divides its micro-batches in more ways than are searched, and so do
  // pairs that take less than both of their actions.
  const bool twice = order.stages < static_cast<int>(order.ranks.size()) * order.chunks;
  const bool pairs = gains_by_pairs(shape);
  if (twice || pairs) {
    raise(mean_work(shape), "work");
  } else {
    const Bounds bounds{shape};
    raise(bounds.work(), "work");
    raise(bounds.path(), "path");
    raise(bounds.memory(limits), "memory");
  }
  if (!twice && !pairs && !met()) {
    const Searched searched = search_orders(shape, order, limits, floor.best_known, budget);
    if (searched.found) try_order(searched.order, stages, limits, floor);
    if (searched.complete && floor.best_known < kUnknown) raise(floor.best_known, "search");
  }
  floor.exact = met() && floor.best_known < kUnknown;
  return floor;
}

std::string recognised(const Order& order) {
  if (!can_compare(order)) return {};
  for (const ScheduleRule& rule : kScheduleRules) {
    const auto ranks = static_cast<int>(order.ranks.size());
    if (!check_schedule_sizes(rule, ranks, order.microbatches, order.chunks).ok()) continue;
    const Result<Order> listed =
        make_order(std::string(rule.name), ranks, order.microbatches, order.chunks);
    if (listed.ok() && listed->stage_of == order.stage_of && listed->ranks == order.ranks)
      return std::string(rule.name);
  }
  return {};
}

bool is_gpipe_in_turn(const Order& order) {
  if (order.chunks != 1 || order.stages != static_cast<int>(order.ranks.size())) return false;
  std::vector<Action> line;
  for (const ActionKind kind : {ActionKind::kForward, ActionKind::kBackward})
    for (int microbatch = 0; microbatch < order.microbatches; ++microbatch)
      line.push_back({kind, microbatch, 0, false});
  return std::all_of(order.ranks.begin(), order.ranks.end(),
                     [&](const std::vector<Action>& rank) { return rank == line; });
}

int more_warm_ups(const Order& order) {
  const int ranks = static_cast<int>(order.ranks.size());
  if (order.chunks != 1 || order.stages != ranks || splits_backward(order)) return 0;
  // With one more, the last rank, too, would have all its forwards first.
  for (int more = 1; more + 1 < order.microbatches; ++more) {
    bool equal = true;
    for (int rank = 0; rank < ranks && equal; ++rank) {
      const int warm_up = std::min(order.microbatches, ranks - 1 - rank + more);
      std::vector<Action> line;
      for (int forward = 0; forward < warm_up; ++forward)
        line.push_back({ActionKind::kForward, forward, 0, false});
      for (int backward = 0; backward < order.microbatches; ++backward) {
        if (warm_up + backward < order.microbatches)
          line.push_back({ActionKind::kForward, warm_up + backward, 0, false});
        line.push_back({ActionKind::kBackward, backward, 0, false});
      }
      equal = line == order.ranks[static_cast<std::size_t>(rank)];
    }
    if (equal) return more;
  }
  return 0;
}

}  // namespace parallelarium
