// SPDX-License-Identifier: Apache-2.0
#include "engine/schedules/pipeline.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

Order fifo_order(int ranks, int microbatches) {
  Order order = pipeline("fifo", ranks, microbatches);
  for (auto& line : order.ranks) {
    for (int microbatch = 0; microbatch < microbatches; ++microbatch) {
      line.push_back({ActionKind::kForward, microbatch});
    }
    for (int microbatch = 0; microbatch < microbatches; ++microbatch) {
      line.push_back({ActionKind::kBackward, microbatch});
    }
  }
  return order;
}

}  // namespace parallelarium
