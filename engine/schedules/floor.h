// SPDX-License-Identifier: Apache-2.0
// How short a step can be in any order: a lower bound for all orders of the same work, and the best
// order that is known.
#pragma once

#include <vector>

#include "engine/plan/order/order.h"
#include "engine/schedules/timing.h"

namespace parallelarium {

// How many micro-batches' activations each rank may hold, counted as in TimedOrder::peak_in_flight.
// Empty: there is no limit.
using HeldLimits = std::vector<double>;

// Whether no rank holds more than its limit.
bool within_limits(const Order& order, const HeldLimits& limits);

struct Floor {
  double at_least = 0;    // lower bound of the makespan
  double best_known = 0;  // makespan of `best`; infinite if no known order keeps the limits
  bool exact = false;     // the two are equal
  // What proves `at_least`: "work" (that of one rank, with the shortest way in before it and out
  // behind it), "path" (a micro-batch goes forward and back behind all others of a stage), "memory"
  // (micro-batches must take turns) or "search" (every order was tried).
  const char* proved_by = "work";
  Order best;
};

// How many partial orders the search may keep where it need not prove the floor (is_proved in
// order_search.h).
inline constexpr std::size_t kFloorBudget = 150'000;

// Finds the floor over all orders that do the same work on the same ranks. They have the same
// stages at the same places, and every backward is whole or split as in `order`. Every order takes
// equal micro-batches by ascending number. That loses nothing: if an order takes two of them
// otherwise, exchanging them makes no action later. So a partial order is described by how many F,
// B (or I and W) each stage has done. Of two with the same counts, one in which no time is later is
// enough. The order must have all work once, in any sequence, and stages.size() must be its number
// of stages.
Floor floor_of(const Order& order, const std::vector<Durations>& stages,
               const HeldLimits& limits = {}, std::size_t budget = kFloorBudget);

// The name of the schedule of the list that equals the order. Empty if there is none, or if there
// are more than 20,000 forwards.
std::string recognised(const Order& order);

// Whether the order is GPipe with its backwards in the order of the forwards: F0 F1 … B0 B1 … on
// every rank.
bool is_gpipe_in_turn(const Order& order);

// How many more warm-up forwards every rank has than in 1F1B, if the order is otherwise 1F1B. 0: it
// is no such order.
int more_warm_ups(const Order& order);

}  // namespace parallelarium
