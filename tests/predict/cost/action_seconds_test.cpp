// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/action_seconds.h"

#include <gtest/gtest.h>

#include "engine/predict/predict.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {
namespace {

// From the first begin to the last end of compute that belongs to an action of the Order.
double seconds_of_actions(const Prediction& prediction) {
  Nanoseconds begin = Nanoseconds::max(), end = Nanoseconds::min();
  for (std::size_t rank = 0; rank < prediction.program.ranks.size(); ++rank) {
    const RankProgram& program = prediction.program.ranks[rank];
    for (std::size_t index = 0; index < program.ops.size(); ++index) {
      if (program.ops[index].action < 0 || program.ops[index].lane != Lane::kCompute) continue;
      begin = std::min(begin, prediction.timeline.ranks[rank].spans[index].begin);
      end = std::max(end, prediction.timeline.ranks[rank].spans[index].end);
    }
  }
  return seconds_of(end - begin);
}

struct OnMachine {
  const char* machine;
  int tp, pp;
  const char* schedule;
  int chunks, microbatches;
};

class ActionSeconds : public testing::TestWithParam<OnMachine> {};

// Timed with them, an order takes what the whole Program is predicted to take.
TEST_P(ActionSeconds, TimeAnOrderAsThePredictionDoes) {
  const OnMachine& one = GetParam();
  parallelarium::Setup setup = default_setup();
  setup.model = *find_model("gpt2-124m");
  setup.precision = precision_recipes().front();
  setup.attention = Attention::kFused;
  setup.mesh.tp = one.tp;
  setup.mesh.pp = one.pp;
  setup.schedule = one.schedule;
  setup.chunks = one.chunks;
  setup.microbatches = one.microbatches;
  const Machine machine = *find_machine(one.machine);
  const Result<Prediction> made = predict(setup, machine);
  ASSERT_TRUE(made.ok()) << made.error().text;
  const Prediction& prediction = *made;
  const Result<std::vector<Durations>> found = action_seconds(setup, machine, prediction.order);
  ASSERT_TRUE(found.ok()) << found.error().text;
  const std::vector<Durations>& stages = *found;
  ASSERT_EQ(stages.size(), static_cast<std::size_t>(prediction.order.stages));
  const double timed = time_by_stage(prediction.order, stages).makespan;
  // Messages queue in their lane, which the times of an Order do not know.
  EXPECT_NEAR(timed, seconds_of_actions(prediction), 0.07 * timed);
  for (const Durations& stage : stages) {
    EXPECT_GT(stage.forward, 0);
    EXPECT_GT(stage.weight_grad, 0);
    // Two parts need not be exactly the whole: some buffers are read twice.
    EXPECT_NEAR(stage.input_grad + stage.weight_grad, stage.backward, 0.1 * stage.backward);
  }
}

INSTANTIATE_TEST_SUITE_P(Setups, ActionSeconds,
                         testing::Values(OnMachine{"dgx-h100", 1, 4, "1f1b", 1, 8},
                                         OnMachine{"dgx-h100", 2, 4, "gpipe", 1, 6},
                                         OnMachine{"dgx-a100-80g", 1, 4, "zb-h1", 1, 8},
                                         OnMachine{"dgx-h100", 1, 4, "interleaved", 3, 8},
                                         OnMachine{"dgx-h100", 1, 2, "zb-v", 2, 8},
                                         OnMachine{"dgx-h100", 1, 3, "1f1b", 1, 5}));

}  // namespace
}  // namespace parallelarium
