// SPDX-License-Identifier: Apache-2.0
// What is wrong with an Order, fault by fault: where it stands, and what is needed there.
#pragma once

#include <string>
#include <vector>

#include "engine/plan/order/order.h"

namespace parallelarium {

struct OrderFault {
  int rank = -1;      // -1: of no rank alone
  std::string op;     // "B3", "B3.1" with chunks; empty: of no action alone
  std::string needs;  // the action that it needs: as `op`, of whichever rank; empty: none
  Message sentence;
};

// Missing and doubled work, work before what it needs on the same rank, circles of ranks that wait
// for each other, ranks that hold a stage and do nothing there. At most some twenty of them.
std::vector<OrderFault> faults_of(const Order& order);

// The same of an order that is not finished: without what is missing.
std::vector<OrderFault> faults_so_far(const Order& order);

// Whether nothing else is wrong with the Order than that ranks wait for each other in a circle, or
// for their own later work: run, it hangs, and computes nothing wrong before that.
bool only_waits(const Order& order);

}  // namespace parallelarium
