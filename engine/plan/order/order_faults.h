// SPDX-License-Identifier: Apache-2.0
// What is wrong with an Order, fault by fault: where the fault is, and what is needed there.
#pragma once

#include <string>
#include <vector>

#include "engine/plan/order/order.h"

namespace parallelarium {

struct OrderFault {
  int rank = -1;      // -1: the fault is of no single rank
  std::string op;     // "B3", "B3.1" with chunks; empty: the fault is of no single action
  std::string needs;  // the action that it needs, on any rank, written as `op`; empty: none
  Message sentence;
};

// Finds what check_order() names: work that is missing or done twice, work before what it needs on
// the same rank, circles of ranks that wait for each other, and ranks that hold a stage and do
// nothing there. It returns at most some twenty faults.
std::vector<OrderFault> faults_of(const Order& order);

// The same for an unfinished order: missing work is no fault.
std::vector<OrderFault> faults_so_far(const Order& order);

// Whether the only fault of the Order is that ranks wait for each other in a circle, or for their
// own later work. Such an order hangs when it runs, and computes nothing wrong before that.
bool only_waits(const Order& order);

}  // namespace parallelarium
