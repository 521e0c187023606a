// SPDX-License-Identifier: Apache-2.0
#include "engine/schedules/generators/pipeline.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

Order naive_order(int ranks, int microbatches) {
  Order order = pipeline("naive", ranks, microbatches);
  for (auto& line : order.ranks) {
    for (int microbatch = 0; microbatch < microbatches; ++microbatch) {
      line.push_back({ActionKind::kForward, microbatch});
      line.push_back({ActionKind::kBackward, microbatch});
    }
  }
  return order;
}

}  // namespace parallelarium
