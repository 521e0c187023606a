// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/predict.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/predict/built.h"

namespace parallelarium {
namespace {

Prediction predicted(const Setup& setup, bool all_ranks = false) {
  const auto machine = machine_of(setup.machine);
  EXPECT_TRUE(machine.ok());
  auto prediction = predict(setup, *machine, all_ranks);
  EXPECT_TRUE(prediction.ok()) << prediction.error().text;
  return *prediction;
}

TEST(Predict, HasTheKeysOfTheCommand) {
  const Prediction prediction = predicted(small_setup("1f1b", 3, 2, 4));
  const nlohmann::json json = to_json(prediction, 5);
  for (const char* key :
       {"setup", "machine", "ranks", "model", "memory", "traffic", "bubble", "step", "formulas"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json["ranks"], 6);
  EXPECT_EQ(json["source"], "predicted");
  for (const char* key : {"parameters", "active_parameters", "step_flops"}) {
    EXPECT_GT(json["model"][key], 0) << key;
  }
  ASSERT_EQ(json["memory"]["ranks"].size(), 3u) << "one row per stage";
  for (const char* key : {"rank", "stage", "parameters_bytes", "gradients_bytes", "optimizer_bytes",
                          "activations_bytes", "buffers_bytes", "peak_bytes"}) {
    EXPECT_TRUE(json["memory"]["ranks"][0].contains(key)) << key;
  }
  for (const char* key : {"seconds", "compute_seconds", "exposed_communication_seconds",
                          "tokens_per_second", "model_flops_per_second_per_rank", "mfu"}) {
    EXPECT_TRUE(json["step"].contains(key)) << key;
  }
  for (const auto& formula : json["formulas"]) {
    for (const char* key : {"name", "expression", "value", "unit", "source"}) {
      EXPECT_TRUE(formula.contains(key)) << key;
    }
  }
}

TEST(Predict, GivesTrafficOfTheRankThatIsAskedFor) {
  const Prediction prediction = predicted(small_setup("1f1b", 3, 2, 4));
  // b s h elements of 4 bytes per micro-batch, boundary and direction.
  const std::int64_t boundary = 4 * prediction.setup.model.sequence *
                                prediction.setup.model.hidden * prediction.setup.micro_batch * 4;
  const auto transfers = [&](int rank) {
    std::int64_t sent = 0, received = 0;
    const nlohmann::json json = to_json(prediction, rank);
    for (const auto& row : json["traffic"]) {
      if (row["operation"] != "send_recv") continue;
      EXPECT_EQ(row["group"], "pp");
      sent += row["sent_bytes"].get<std::int64_t>();
      received += row["received_bytes"].get<std::int64_t>();
    }
    return std::pair{sent, received};
  };
  for (int rank = 0; rank < 6; ++rank) {
    const int stage = coordinates_of(prediction.setup.mesh, rank).pp;
    const int boundaries = stage == 1 ? 2 : 1;
    EXPECT_EQ(transfers(rank), (std::pair{boundaries * boundary, boundaries * boundary})) << rank;
  }
}

TEST(Predict, SaysTheFirstThingThatIsWrong) {
  auto setup = small_setup("1f1b", 3, 1, 4);
  setup.mesh.pp = 0;
  const auto prediction = predict(setup, *find_machine("local"));
  ASSERT_FALSE(prediction.ok());
  EXPECT_EQ(prediction.error().text, validate(setup).front().text);
  setup = small_setup("zigzag", 3, 1, 4);
  EXPECT_FALSE(predict(setup, *find_machine("local")).ok());
}

// One representative of each stage stands for its replicas.
TEST(Predict, OfRepresentativesIsThatOfAllRanks) {
  auto setup = small_setup("1f1b", 4, 20, 6);
  setup.machine = "dgx-h100";
  const Prediction few = predicted(setup), all = predicted(setup, true);
  ASSERT_TRUE(few.program.representatives);
  ASSERT_FALSE(all.program.representatives);
  EXPECT_EQ(few.program.ranks.size(), 4u);
  EXPECT_EQ(all.program.ranks.size(), 80u);
  EXPECT_NEAR(few.step.seconds, all.step.seconds, 1e-9);
  EXPECT_NEAR(few.bubble.of_total, all.bubble.of_total, 1e-6);
  ASSERT_EQ(few.memory.size(), all.memory.size());
  for (std::size_t stage = 0; stage < few.memory.size(); ++stage) {
    EXPECT_EQ(few.memory[stage].peak_bytes, all.memory[stage].peak_bytes);
    EXPECT_EQ(few.memory[stage].rank, all.memory[stage].rank);
  }
  EXPECT_EQ(few.traffic, all.traffic);
}

// On equal stages without a head the pipeline's bubble is the textbook's; here the head and the
// embedding make the stages unequal, so it may only be larger.
TEST(Predict, BubbleIsAtLeastTheTextbooks) {
  for (const char* schedule : {"gpipe", "1f1b"}) {
    const Prediction prediction = predicted(small_setup(schedule, 4, 1, 8, 8));
    EXPECT_GE(prediction.bubble.over_ideal, 3.0 / 8 - 1e-9);
    EXPECT_LT(prediction.bubble.over_ideal, 2 * 3.0 / 8);
  }
}

TEST(Predict, AFasterLinkNeverMakesTheStepSlower) {
  auto setup = small_setup("1f1b", 4, 2, 8);
  Machine machine = *find_machine("dgx-h100");
  double before = 1e9;
  for (const double rate : {1e8, 1e9, 1e10, 1e12}) {
    machine.intra_node.bytes_per_second.value = rate;
    const auto prediction = predict(setup, machine);
    ASSERT_TRUE(prediction.ok());
    EXPECT_LE(prediction->step.seconds, before);
    before = prediction->step.seconds;
  }
}

TEST(Predict, SaysWhenTheDevicesAreTooSmall) {
  auto setup = small_setup("1f1b", 2, 1, 4);
  Machine machine = *find_machine("dgx-h100");
  const auto roomy = predict(setup, machine);
  ASSERT_TRUE(roomy.ok());
  EXPECT_TRUE(roomy->fits());
  machine.memory_bytes.value = static_cast<double>(roomy->memory[0].peak_bytes - 1);
  EXPECT_FALSE(predict(setup, machine)->fits());
}

// Ranks that outnumber the cores still share one memory.
TEST(Predict, RanksOfOneComputerShareItsMemory) {
  auto setup = small_setup("1f1b", 4, 1, 4);
  Machine machine = uncalibrated_local_machine();
  machine.devices_per_node = machine.cores = 2;
  const auto roomy = predict(setup, machine, true);
  ASSERT_TRUE(roomy.ok());
  std::int64_t together = 0;
  for (const MemoryRow& row : memory_of(roomy->program)) together += row.peak_bytes;
  EXPECT_EQ(roomy->needed_bytes, together);
  machine.memory_bytes.value = static_cast<double>((together + 1) / 2);
  EXPECT_TRUE(predict(setup, machine)->fits());
  machine.memory_bytes.value = static_cast<double>((together - 2) / 2);
  EXPECT_FALSE(predict(setup, machine)->fits());
  setup.mesh.dp = 3;
  EXPECT_EQ(predict(setup, machine)->needed_bytes, predict(setup, machine, true)->needed_bytes);
}

}  // namespace
}  // namespace parallelarium
