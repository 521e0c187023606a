// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/schedules/generators/pipeline.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

namespace {

// One rank's line, counting what each chunk has done of each kind.
class ZbvLine {
 public:
  void forward(int chunk) { add(ActionKind::kForward, chunk, forwards[chunk]++); }
  void input(int chunk) { add(ActionKind::kInputGrad, chunk, inputs[chunk]++); }
  void weight(int chunk) { add(ActionKind::kWeightGrad, chunk, weights[chunk]++); }
  void backward(int chunk) {
    input(chunk);
    weight(chunk);
  }

  int forwards[2] = {}, inputs[2] = {}, weights[2] = {};
  std::vector<Action> actions;

 private:
  void add(ActionKind kind, int chunk, int microbatch) {
    actions.push_back({kind, microbatch, chunk});
  }
};

}  // namespace

Order zb_v_order(int ranks, int microbatches) {
  Order order = v_pipeline("zb-v", ranks, microbatches);
  // Fewer micro-batches than fill the pipeline: the order of that many, without the others.
  const int filled = std::max(microbatches, 2 * ranks - 1);
  for (int rank = 0; rank < ranks; ++rank) {
    ZbvLine line;
    for (int i = 0; i < 2 * (ranks - rank) - 1; ++i) line.forward(0);
    for (int i = 0; i < rank; ++i) {
      line.forward(1);
      line.forward(0);
    }
    for (int i = 0; i < ranks - rank; ++i) {
      line.forward(1);
      line.backward(1);
    }
    while (line.forwards[1] < line.forwards[0] || line.forwards[0] < filled) {
      if (line.forwards[0] < filled) line.forward(0);
      line.backward(0);
      line.forward(1);
      line.backward(1);
    }
    // The weight gradients of these wait until nothing else is left to send.
    for (int i = 0; i < rank; ++i) {
      line.input(0);
      line.input(1);
    }
    for (int i = 0; i < ranks - rank; ++i) {
      line.input(0);
      line.weight(0);
    }
    while (line.weights[1] < filled) line.weight(1);
    while (line.weights[0] < filled) line.weight(0);

    std::erase_if(line.actions, [&](const Action& a) { return a.microbatch >= microbatches; });
    order.ranks[static_cast<std::size_t>(rank)] = std::move(line.actions);
  }
  return order;
}

}  // namespace parallelarium
