// SPDX-License-Identifier: Apache-2.0
// Times an Order for given durations: the pictures and tables of the papers, without any machine.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "engine/plan/order/order.h"

namespace parallelarium {

// Durations of one action as it stands in the Order (an action of a chunk, if there are chunks), in
// any unit. A transfer delays its receiver and occupies nothing.
struct Durations {
  double forward = 1;
  double input_grad = 1;
  double weight_grad = 1;
  double backward = 2;  // of a backward that is not split
  double transfer = 0;
  double overlapped = 0;  // of a pair; 0 means forward + backward
  bool operator==(const Durations&) const = default;
};

struct TimedAction {
  Action action;
  double begin = 0, end = 0;
  bool operator==(const TimedAction&) const = default;
};

struct TimedOrder {
  std::vector<std::vector<TimedAction>> spans;
  double makespan = 0;
  double bubble_over_ideal = 0;  // idle / busy over all ranks, from 0 to the makespan
  double bubble_of_total = 0;    // idle / (ranks * makespan)
  double bubble_of_longest_rank =
      0;  // (c - busy) / c, c = largest (last end - first start) of a rank
  std::vector<double> peak_in_flight;
};

// check_order(order) must be empty. Source of the rule: Qi et al. 2023, section 2.
TimedOrder time_order(const Order& order, const Durations& durations);
// The same with durations of each stage; its `transfer` is that between it and the next stage.
TimedOrder time_by_stage(const Order& order, const std::vector<Durations>& stages);

// TimedOrder::peak_in_flight alone.
std::vector<double> peak_in_flight(const Order& order);

double duration_of(ActionKind kind, const Durations& durations);

// The object of `schedule NAME --json`; `pytorch`: the order lines in PyTorch's notation.
nlohmann::json to_json(const Order& order, const TimedOrder& timed, bool pytorch);

}  // namespace parallelarium
