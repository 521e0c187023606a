// SPDX-License-Identifier: Apache-2.0
// Generators of Orders, one .cpp each, and the list of them.
#pragma once

#include <string>
#include <vector>

#include "engine/plan/order.h"
#include "engine/plan/result.h"
#include "engine/plan/setup.h"

namespace parallelarium {

// One batch at a time through all stages: microbatch j starts when j-1 has come back.
Order naive_order(int ranks, int microbatches);
// All forwards, then all backwards, last micro-batch first. Source: Huang et al. 2019, section 2.
Order gpipe_order(int ranks, int microbatches);
// ranks-1-r warm-up forwards, then one forward, one backward, then the remaining backwards.
// Source: Narayanan et al. 2021, section 2.2.1 (PipeDream-Flush).
Order one_f_one_b_order(int ranks, int microbatches);

struct ScheduleInfo {
  std::string name;   // "1f1b"
  std::string title;  // "1F1B"
  std::string summary;
  bool splits_backward = false;
  int chunks = 1;  // 0: the user chooses
};
// Every schedule this version can make, in teaching order.
const std::vector<ScheduleInfo>& schedules();

// The Order of a Setup's schedule: a name of schedules(), or the path of a file of orders (in
// either notation). Of a file, 0 ranks, microbatches or chunks take what it says; other numbers
// must agree with it.
// Errors: unknown name (lists the names), unreadable file, an order that check_order refuses.
Result<Order> make_order(const std::string& schedule, int ranks, int microbatches, int chunks);
inline Result<Order> make_order(const Setup& setup) {
  return make_order(setup.schedule, setup.mesh.pp, setup.microbatches, setup.chunks);
}

}  // namespace parallelarium
