// SPDX-License-Identifier: Apache-2.0
#include "engine/schedules/generators/pipeline.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

Order gpipe_order(int ranks, int microbatches) {
  Order order = pipeline("gpipe", ranks, microbatches);
  for (auto& line : order.ranks) {
    for (int microbatch = 0; microbatch < microbatches; ++microbatch) {
      line.push_back({ActionKind::kForward, microbatch});
    }
    for (int microbatch = microbatches - 1; microbatch >= 0; --microbatch) {
      line.push_back({ActionKind::kBackward, microbatch});
    }
  }
  return order;
}

}  // namespace parallelarium
