// SPDX-License-Identifier: Apache-2.0
// The two schedules that the paper draws by hand. They depend on nothing but the numbers of ranks
// and micro-batches; for other durations than F = I = W they are still the same orders, with some
// bubble left.
#include <algorithm>

#include "engine/schedules/generators/pipeline.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

namespace {

// Forwards before the first backward, and input gradients whose weight gradient may wait.
struct Depth {
  int warm_up = 0, delay = 0;
};

Order zero_bubble(const char* name, int ranks, int microbatches, Depth (*depth_of)(int, int)) {
  Order order = pipeline(name, ranks, microbatches);
  for (int rank = 0; rank < ranks; ++rank) {
    auto& line = order.ranks[static_cast<std::size_t>(rank)];
    const Depth depth = depth_of(ranks, rank);
    int forward = 0, weight = 0;
    while (forward < std::min(depth.warm_up, microbatches)) {
      line.push_back({ActionKind::kForward, forward++});
    }
    for (int input = 0; input < microbatches; ++input) {
      if (forward < microbatches) line.push_back({ActionKind::kForward, forward++});
      line.push_back({ActionKind::kInputGrad, input});
      if (input + 1 - weight > depth.delay) line.push_back({ActionKind::kWeightGrad, weight++});
    }
    while (weight < microbatches) line.push_back({ActionKind::kWeightGrad, weight++});
  }
  return order;
}

}  // namespace

Order zb_h1_order(int ranks, int microbatches) {
  return zero_bubble("zb-h1", ranks, microbatches, [](int all, int rank) {
    return Depth{all - 1 - rank, rank};
  });
}

Order zb_h2_order(int ranks, int microbatches) {
  return zero_bubble("zb-h2", ranks, microbatches, [](int all, int rank) {
    return Depth{2 * (all - 1 - rank), 2 * rank};
  });
}

}  // namespace parallelarium
