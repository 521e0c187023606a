// SPDX-License-Identifier: Apache-2.0
// A search through partial orders for one that ends earlier: what `floor` finds and proves with.
#pragma once

#include <vector>

#include "engine/plan/order/order.h"
#include "engine/schedules/timing.h"

namespace parallelarium {

// The work of an Order without its order.
struct OrderShape {
  OrderShape(const Order& order, std::vector<Durations> durations);

  std::vector<Durations> stages;
  int microbatches = 0;
  bool splits = false;                         // backwards have two parts
  double share = 1;                            // of a rank's micro-batch that a stage holds
  std::vector<std::vector<std::size_t>> held;  // by rank: its stages, in the order of its chunks
  std::vector<std::size_t> rank_of;            // by stage
  // By stage, of one micro-batch alone: before its forward begins; from the end of its forward to
  // the end of its backward (its input part, where it is split); and what follows that one, the
  // first stage's weight part included.
  std::vector<double> in, trip, out;

  // Between a stage and the next; nothing on one rank.
  double transfer(std::size_t stage) const {
    return rank_of[stage] == rank_of[stage + 1] ? 0 : stages[stage].transfer;
  }
  // What the stage before waits for: the whole backward, or its input part.
  double back(std::size_t stage) const {
    return splits ? stages[stage].input_grad : stages[stage].backward;
  }
  double whole_back(std::size_t stage) const {
    return splits ? stages[stage].input_grad + stages[stage].weight_grad : stages[stage].backward;
  }
  double of(ActionKind kind, std::size_t stage) const { return duration_of(kind, stages[stage]); }
};

bool splits_backward(const Order& order);

// Whether every partial order is kept whatever the budget: up to 3 ranks with 2 chunks each and 4
// micro-batches, which takes some seconds where nothing limits what is held.
bool is_proved(const OrderShape& shape);

struct Searched {
  bool found = false;     // an order that ends before `below`
  bool complete = false;  // no partial order was left out but those that cannot end before it
  Order order;
};

// Looks for an order with a makespan below `below` that keeps the limits (in micro-batches, as
// TimedOrder::peak_in_flight; empty: none). `budget`: how many partial orders are tried, unless
// is_proved(shape).
// Every stage must be on one rank.
Searched search_orders(const OrderShape& shape, const Order& like,
                       const std::vector<double>& limits, double below, std::size_t budget);

}  // namespace parallelarium
