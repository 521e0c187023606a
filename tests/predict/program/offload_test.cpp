// SPDX-License-Identifier: Apache-2.0
// What waits in the host's memory: bytes over its link, memory of the device, and what cannot be.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

parallelarium::Setup gpt2() {
  parallelarium::Setup setup = default_setup();
  setup.model = *find_model("gpt2-124m");
  setup.machine = "dgx-a100-80g";
  setup.mesh.pp = 1;
  setup.microbatches = 2;
  setup.precision = precision_recipes().front();
  setup.attention = Attention::kFused;
  return setup;
}

Prediction folded(const parallelarium::Setup& setup, const Machine& machine) {
  Result<Prediction> prediction = predict(setup, machine);
  EXPECT_TRUE(prediction.ok()) << prediction.error().text;
  for (const Message& wrong : check(prediction->program)) ADD_FAILURE() << wrong.text;
  return std::move(*prediction);
}

std::int64_t offloaded_bytes(const Prediction& prediction, Phase phase) {
  std::int64_t bytes = 0;
  for (const Op& op : prediction.program.ranks[0].ops)
    if (op.piece == Piece::kOffload && op.phase == phase)
      for (const Work& work : prediction.program.works[static_cast<std::size_t>(op.work)])
        bytes += work.bytes;
  return bytes;
}

std::int64_t held(const Prediction& prediction, Category category) {
  return prediction.memory[0].bytes[static_cast<int>(category)];
}

// What leaves are the activations that the layers keep, as Korthikanti et al. 2022 count them (here
// without dropout masks, of which their 34 s b h have 2, and with the norms' statistics and those
// of fused attention), once for every micro-batch; as much comes back.
TEST(OffloadedActivations, LeaveOnceAndComeBackOnce) {
  parallelarium::Setup setup = gpt2();
  setup.offload_activations = true;
  const Prediction prediction = folded(setup, *find_machine("dgx-a100-80g"));
  const Model& model = setup.model;
  const double tokens = static_cast<double>(model.sequence), h = static_cast<double>(model.hidden);
  const double layer = tokens * h * 32 + 16 * tokens + 4.0 * model.heads * tokens;
  const double all = layer * model.layers * setup.microbatches;
  const auto there = static_cast<double>(offloaded_bytes(prediction, Phase::kForward));
  EXPECT_NEAR(there / all, 1, 2e-3);
  EXPECT_EQ(offloaded_bytes(prediction, Phase::kForward),
            offloaded_bytes(prediction, Phase::kInputGrad));
}

// Two layers' worth and the head's stay, whatever the depth of the model.
TEST(OffloadedActivations, LeaveTheMemoryOfAFewLayers) {
  const Machine machine = *find_machine("dgx-a100-80g");
  const auto activations = [&](int layers, bool offload) {
    parallelarium::Setup setup = gpt2();
    setup.model.layers = layers;
    setup.offload_activations = offload;
    return held(folded(setup, machine), Category::kActivations);
  };
  const std::int64_t layer = (activations(24, false) - activations(12, false)) / 12;
  EXPECT_GT(layer, 0);
  EXPECT_LT(activations(24, true) - activations(12, true), layer / 10);
  EXPECT_LT(activations(24, true), activations(24, false) - 18 * layer);
}

// The step takes at least the time of the link, and with a link without end what it takes else.
TEST(OffloadedActivations, CostTheTimeOfTheHostsLink) {
  Machine machine = *find_machine("dgx-a100-80g");
  parallelarium::Setup setup = gpt2();
  const double alone = folded(setup, machine).step.seconds;
  setup.offload_activations = true;
  const Prediction slow = folded(setup, machine);
  const double link = static_cast<double>(offloaded_bytes(slow, Phase::kForward)) * 2 /
                      machine.host_bytes_per_second.value;
  EXPECT_GT(slow.step.seconds, link);
  EXPECT_GT(slow.step.seconds, alone);
  machine.host_bytes_per_second.value = 1e18;
  EXPECT_NEAR(folded(setup, machine).step.seconds / alone, 1, 1e-6);
}

TEST(OffloadedActivations, PassTheCheckUnderEverySchedule) {
  for (const char* schedule : {"1f1b", "gpipe", "zb-h1", "zb-v", "interleaved", "dualpipe-v"}) {
    for (const int zero : {0, 3}) {
      parallelarium::Setup setup = gpt2();
      setup.mesh = {2, 2, 2, 1, 1};
      setup.model.layers = 8;
      setup.microbatches = 4;
      setup.schedule = schedule;
      if (setup.schedule == "interleaved") setup.chunks = 2;
      setup.zero = zero;
      setup.sequence_parallel = true;
      setup.recompute = Recompute::kNorms;
      setup.offload_activations = true;
      folded(setup, *find_machine("dgx-a100-80g"));
    }
  }
}

// Master weights and moments, 12 bytes a parameter, come and go once a step.
TEST(OffloadedOptimizer, LeavesNoStatesAndStreamsThemOnce) {
  Machine machine = *find_machine("dgx-a100-80g");
  for (const int zero : {0, 1, 3}) {
    parallelarium::Setup setup = gpt2();
    setup.mesh.dp = 4;
    setup.zero = zero;
    const Prediction whole = folded(setup, machine);
    setup.offload_optimizer = true;
    const Prediction away = folded(setup, machine);
    EXPECT_EQ(held(away, Category::kOptimizer), 0);
    const double share = zero > 0 ? 4 : 1;
    const double states = 12.0 * static_cast<double>(count_parameters(setup.model).total) / share;
    EXPECT_NEAR(static_cast<double>(held(whole, Category::kOptimizer)) / states, 1, 1e-4);
    EXPECT_NEAR(static_cast<double>(offloaded_bytes(away, Phase::kUpdate)) / (2 * states), 1, 1e-4);
    EXPECT_NEAR(away.step.seconds - whole.step.seconds,
                2 * states / machine.host_bytes_per_second.value, 1e-5);
  }
}

TEST(Offload, IsRefusedWhereItCannotBe) {
  parallelarium::Setup setup = gpt2();
  setup.offload_optimizer = true;
  EXPECT_TRUE(validate(setup).empty());
  ASSERT_FALSE(can_execute(setup).ok());
  EXPECT_EQ(can_execute(setup).error().field, "offload_optimizer");
  setup.machine = "local";
  ASSERT_FALSE(validate(setup).empty());
  EXPECT_EQ(validate(setup).front().kind, "offload-host");
}

TEST(HostLink, IsKnownOfEveryPresetWithItsOrigin) {
  for (const std::string& name : machine_names()) {
    if (name == "local") continue;
    const Machine machine = *find_machine(name);
    EXPECT_GT(machine.host_bytes_per_second.value, 1e10) << name;
    EXPECT_NE(machine.host_bytes_per_second.origin, Sourced{}.origin) << name;
    EXPECT_EQ(machine_from_json(to_json(machine))->host_bytes_per_second,
              machine.host_bytes_per_second);
  }
}

}  // namespace
}  // namespace parallelarium
