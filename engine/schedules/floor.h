// SPDX-License-Identifier: Apache-2.0
// How short a step can be, whatever the order: a bound below which no order of the same work comes,
// and the best order that is known.
#pragma once

#include <vector>

#include "engine/plan/order/order.h"
#include "engine/schedules/timing.h"

namespace parallelarium {

// How many micro-batches of its own activations each rank may hold, counted as
// TimedOrder::peak_in_flight does; empty: as many as there are.
using HeldLimits = std::vector<double>;

// Whether the order holds no more than that.
bool within_limits(const Order& order, const HeldLimits& limits);

struct Floor {
  double at_least = 0;  // of the makespan
  double best_known =
      0;               // makespan of `best`; infinite where no order is known that keeps the limits
  bool exact = false;  // the two are the same
  // What shows `at_least`: "work" (one rank's, with the
  // shortest way in before it and out behind it), "path" (a micro-batch forward and back
  // behind all others of a stage), "memory" (micro-batches that must take turns) or "search" (every
  // order was tried).
  const char* proved_by = "work";
  Order best;
};

// How many partial orders the search may keep where it need not prove the floor (is_proved in
// order_search.h).
inline constexpr std::size_t kFloorBudget = 150'000;

// Of all orders that do `order`'s work on the same ranks: the same stages where it has them, and
// every backward whole or split as there. Equal micro-batches are taken in their order everywhere:
// exchanging two of them in an order that takes them otherwise makes no action later. So a partial
// order is how many F, B (or I and W) each stage has done, and of two with the same counts only
// those matter in which no time is later.
// The order must have all work once, in whichever turn, and stages.size() must be its stages.
Floor floor_of(const Order& order, const std::vector<Durations>& stages,
               const HeldLimits& limits = {}, std::size_t budget = kFloorBudget);

// The name of the schedule of the list that the order is, or an empty string: for none, and for
// more than 20,000 forwards.
std::string recognised(const Order& order);

// GPipe with the backwards in the order of the forwards: F0 F1 … B0 B1 … on every rank.
bool is_gpipe_in_turn(const Order& order);

// By how many forwards the warm-up of every rank is longer than 1F1B's where the order is 1F1B
// otherwise; 0: it is not that.
int more_warm_ups(const Order& order);

}  // namespace parallelarium
