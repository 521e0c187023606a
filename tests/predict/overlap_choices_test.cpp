// SPDX-License-Identifier: Apache-2.0
// What overlaps with computing by choice, and what that costs the computing.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

parallelarium::Setup gpt2(std::initializer_list<std::pair<const char*, const char*>> fields) {
  parallelarium::Setup setup = default_setup();
  setup.model = *find_model("gpt2-124m");
  setup.mesh.pp = 1;
  setup.precision = precision_recipes().front();
  setup.attention = Attention::kFused;
  for (const auto& [field, value] : fields) {
    const Result<void> set = set_field(setup, field, value);
    EXPECT_TRUE(set.ok()) << set.error().text;
  }
  return setup;
}

Prediction predicted(const parallelarium::Setup& setup, const Machine& machine) {
  Result<Prediction> prediction = predict(setup, machine, true);
  EXPECT_TRUE(prediction.ok()) << prediction.error().text;
  for (const Message& wrong : check(prediction->program)) ADD_FAILURE() << wrong.text;
  return std::move(*prediction);
}
double step(const parallelarium::Setup& setup, const Machine& machine) {
  return predicted(setup, machine).step.seconds;
}

// Transfers that nothing hides take their time on the way of every micro-batch.
TEST(OverlapOfThePipeline, HidesTransfers) {
  Machine machine = *find_machine("dgx-a100-80g");
  machine.intra_node.bytes_per_second.value /= 50;
  for (const char* schedule : {"1f1b", "zb-h1", "gpipe"}) {
    for (const char* m : {"8", "16"}) {
      parallelarium::Setup setup = gpt2({{"pp", "4"}, {"schedule", schedule}, {"microbatches", m}});
      const double hidden = step(setup, machine);
      setup.overlap_pipeline = false;
      EXPECT_GT(step(setup, machine), hidden) << schedule << " " << m;
    }
  }
  parallelarium::Setup one = gpt2({});
  const double alone = step(one, machine);
  one.overlap_pipeline = false;
  EXPECT_EQ(step(one, machine), alone) << "one stage sends nothing";
}

// Half of the sums of a layer, those of input gradients, hide behind weight gradients that take
// longer.
TEST(OverlapOfTensorParallelism, HidesTheSumsOfInputGradients) {
  const Machine machine = *find_machine("dgx-a100-80g");
  parallelarium::Setup setup = gpt2({{"tp", "2"}, {"micro-batch", "4"}});
  const Prediction exposed = predicted(setup, machine);
  setup.overlap_tensor = true;
  const Prediction hidden = predicted(setup, machine);
  const auto sums = [](const Prediction& of, Phase phase) {
    double seconds = 0;
    const RankProgram& rank = of.program.ranks[0];
    for (std::size_t i = 0; i < rank.ops.size(); ++i)
      if (rank.ops[i].kind == OpKind::kCollective && rank.ops[i].phase == phase &&
          rank.ops[i].lane != Lane::kData) {
        const Span span = of.timeline.ranks[0].spans[i];
        seconds += std::chrono::duration<double>(span.end - span.begin).count();
      }
    return seconds;
  };
  const double all = sums(exposed, Phase::kInputGrad);
  EXPECT_GT(all, 0);
  EXPECT_NEAR((exposed.step.seconds - hidden.step.seconds) / all, 1, 0.02);
  EXPECT_EQ(exposed.traffic.front().sent_bytes, hidden.traffic.front().sent_bytes);
}

// A slowdown only ever slows, by at most itself, and only where something overlaps.
TEST(OverlapSlowdown, LiesBetweenNothingAndItself) {
  for (const auto& fields :
       std::initializer_list<std::initializer_list<std::pair<const char*, const char*>>>{
           {{"dp", "8"}, {"zero", "3"}},
           {{"dp", "4"}, {"pp", "2"}, {"microbatches", "6"}},
           {{"tp", "2"}, {"overlap-tensor", "true"}},
           {{"cp", "2"}}}) {
    Machine machine = *find_machine("dgx-a100-80g");
    const parallelarium::Setup setup = gpt2(fields);
    const double before = step(setup, machine);
    double last = before;
    for (const double factor : {1.1, 1.3, 2.0}) {
      machine.overlap_slowdown.value = factor;
      const double now = step(setup, machine);
      EXPECT_GT(now, last);
      EXPECT_LT(now, factor * before);
      last = now;
    }
  }
  Machine machine = *find_machine("dgx-a100-80g");
  for (const parallelarium::Setup& setup :
       {gpt2({}), gpt2({{"tp", "4"}}), gpt2({{"dp", "4"}, {"overlap-gradients", "false"}})}) {
    machine.overlap_slowdown.value = 1;
    const double before = step(setup, machine);
    machine.overlap_slowdown.value = 1.5;
    EXPECT_NEAR(step(setup, machine) / before, 1, 1e-6) << "nothing overlaps";
  }
}

TEST(OverlapSlowdown, IsReadFromAMachineWithItsOrigin) {
  Machine machine = *find_machine("dgx-h100");
  machine.overlap_slowdown = {1.2, "published in a test"};
  EXPECT_EQ(machine_from_json(to_json(machine))->overlap_slowdown, machine.overlap_slowdown);
  machine.overlap_slowdown.value = 0.5;
  EXPECT_EQ(machine_from_json(to_json(machine)).error().kind, "slowdown-range");
}

}  // namespace
}  // namespace parallelarium
