// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/schedules/generators/pipeline.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

Order one_f_one_b_order(int ranks, int microbatches) {
  Order order = pipeline("1f1b", ranks, microbatches);
  for (int rank = 0; rank < ranks; ++rank) {
    auto& line = order.ranks[static_cast<std::size_t>(rank)];
    const int warm_up = std::min(ranks - 1 - rank, microbatches);
    int forward = 0, backward = 0;
    while (forward < warm_up) line.push_back({ActionKind::kForward, forward++});
    while (forward < microbatches) {
      line.push_back({ActionKind::kForward, forward++});
      line.push_back({ActionKind::kBackward, backward++});
    }
    while (backward < microbatches) line.push_back({ActionKind::kBackward, backward++});
  }
  return order;
}

}  // namespace parallelarium
