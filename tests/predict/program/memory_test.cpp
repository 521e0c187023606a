// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/memory.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/passes/pieces.h"
#include "engine/schedules/schedule.h"
#include "tests/data/published.h"

namespace parallelarium {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

Precision recipe(const std::string& name) {
  for (const Precision& precision : precision_recipes())
    if (precision.name == name) return precision;
  ADD_FAILURE() << name;
  return {};
}

TEST(PrecisionRecipes, HaveThePublishedSums) {
  EXPECT_EQ(recipe("mixed-16").state_bytes(), 16);
  EXPECT_EQ(recipe("mixed-16-main-grads").state_bytes(), 18);
  EXPECT_EQ(recipe("bf16-states").state_bytes(), 12);
  EXPECT_EQ(recipe("fp32").state_bytes(), 16);
}

class ZeroTable : public testing::TestWithParam<PublishedRow> {};
TEST_P(ZeroTable, IsMet) {
  const PublishedRow& row = GetParam();
  const ModelStates states =
      model_states(row.input("params"), recipe("mixed-16"), row.whole("zero"), row.whole("N"));
  EXPECT_NEAR(states.total() / 1e9, row.value, row.bound);
}
INSTANTIATE_TEST_SUITE_P(Published, ZeroTable, testing::ValuesIn(published("zero_states")));

class LargestModel : public testing::TestWithParam<PublishedRow> {};
TEST_P(LargestModel, IsThePublishedOne) {
  const PublishedRow& row = GetParam();
  const double parameters = row.whole("mp") * largest_parameters(row.input("gpu_mem_GB") * 1e9,
                                                                 recipe(row.inputs.at("recipe")),
                                                                 row.whole("zero"), row.whole("N"));
  EXPECT_NEAR(parameters / 1e9, row.value, row.bound);
}
INSTANTIATE_TEST_SUITE_P(Published, LargestModel, testing::ValuesIn(published("zero_largest")));

class DeepSpeed : public testing::TestWithParam<PublishedRow> {};
TEST_P(DeepSpeed, EstimatesAreMet) {
  const PublishedRow& row = GetParam();
  const std::string offload = row.inputs.at("offload");
  const double unit = row.value > 100 ? kGiB / 1024 : kGiB;  // MiB or GiB
  const double bytes =
      row.whole("stage") == 2
          ? deepspeed_zero2_bytes(row.input("params"), row.whole("N"), offload != "none")
          : deepspeed_zero3_bytes(row.input("params"), row.input("largest"), row.whole("N"),
                                  offload == "none"        ? Offload::kNone
                                  : offload == "optimizer" ? Offload::kOptimizer
                                                           : Offload::kAll);
  EXPECT_NEAR(bytes / unit, row.value, row.bound);
}
INSTANTIATE_TEST_SUITE_P(Published, DeepSpeed, testing::ValuesIn(published("deepspeed")));

LayerShape layer_shape(const PublishedRow& row) {
  LayerShape shape;
  shape.s = row.input("sequence");
  shape.b = row.inputs.value("micro_batch", 1.0);
  shape.h = row.input("hidden");
  shape.a = row.input("heads");
  shape.t = row.input("tp");
  return shape;
}

class FirstStage : public testing::TestWithParam<PublishedRow> {};
TEST_P(FirstStage, HoldsThePublishedActivations) {
  const PublishedRow& row = GetParam();
  LayerShape shape = layer_shape(row);
  shape.sequence_parallel = row.inputs.at("sp_selective");
  const Recompute recompute = shape.sequence_parallel ? Recompute::kSelective : Recompute::kNone;
  const double bytes = first_stage_activation_bytes(shape, recompute, row.whole("layers"),
                                                    row.whole("pp"), row.whole("chunks"));
  EXPECT_NEAR(bytes / kGiB, row.value, row.bound);
}
INSTANTIATE_TEST_SUITE_P(Published, FirstStage,
                         testing::ValuesIn(published("first_stage_activations")));

// Figure 1 counts the layers' matrices, 12 L h^2, at Megatron's 18 bytes.
TEST(ModelStates, MatchFigure1OfKorthikanti) {
  for (const PublishedRow& row : published("stage_states")) {
    const double h = row.input("hidden");
    const double parameters =
        12 * row.input("layers") * h * h / (row.input("tp") * row.input("pp"));
    const double bytes = model_states(parameters, recipe("mixed-16-main-grads"), 0, 1).total();
    EXPECT_NEAR(bytes / kGiB, row.value, row.bound);
  }
}

// 5 a s / h: how much larger the scores are than s b h.
TEST(Activations, ScoresHaveThePublishedShare) {
  for (const PublishedRow& row : published("attention_share")) {
    LayerShape shape;
    shape.s = row.input("s");
    shape.b = 3;
    shape.h = row.input("h");
    shape.a = row.input("a");
    const double share = (layer_activation_bytes(shape, Recompute::kNone) -
                          layer_activation_bytes(shape, Recompute::kSelective)) /
                         (shape.s * shape.b * shape.h);
    EXPECT_NEAR(share, row.value, row.bound);
  }
}

// "70 % and 65 %" for GPT-3 and MT-NLG, section 5.
TEST(Activations, SelectiveRecomputeSavesThePublishedShare) {
  for (const auto& [h, a, percent] : {std::tuple{12288.0, 96.0, 70.0}, {20480.0, 128.0, 65.0}}) {
    LayerShape shape{2048, 1, h, a, 8, true};
    const double saved = 1 - layer_activation_bytes(shape, Recompute::kSelective) /
                                 layer_activation_bytes(shape, Recompute::kNone);
    EXPECT_NEAR(100 * saved, percent, 1);
  }
}

class TensorDegrees : public testing::TestWithParam<int> {};
TEST_P(TensorDegrees, DivideAllOfALayerOnlyWithSequenceParallelism) {
  const double t = GetParam();
  LayerShape one{96, 2, 64, 4, 1, false}, split{96, 2, 64, 4, t, false};
  const double sbh = one.s * one.b * one.h;
  EXPECT_DOUBLE_EQ(layer_activation_bytes(split, Recompute::kNone) - 10 * sbh,
                   (layer_activation_bytes(one, Recompute::kNone) - 10 * sbh) / t);
  split.sequence_parallel = true;
  EXPECT_NEAR(layer_activation_bytes(split, Recompute::kNone) * t,
              layer_activation_bytes(one, Recompute::kNone), 1e-6);
  EXPECT_DOUBLE_EQ(layer_activation_bytes(split, Recompute::kFull), 2 * sbh);
  // What is gathered for QKV and for the MLP stays whole where it is kept: 2 s b h each.
  const double cut = layer_activation_bytes(split, Recompute::kNone);
  split.gathered_kept = true;
  EXPECT_NEAR(layer_activation_bytes(split, Recompute::kNone) - cut, 4 * sbh * (1 - 1 / t), 1e-6);
}
INSTANTIATE_TEST_SUITE_P(Sizes, TensorDegrees, testing::Values(1, 2, 3, 4, 7, 8));

TEST(FirstStageExtra, AddsTheHeadOnlyWhereItIsTheLastStageToo) {
  const LayerShape shape{2048, 1, 12288, 96, 8, true};
  const double sbh = shape.s * shape.b * shape.h;
  EXPECT_DOUBLE_EQ(first_stage_extra_bytes(shape, 51200, 8), sbh / 8 * 8);
  EXPECT_DOUBLE_EQ(first_stage_extra_bytes(shape, 51200, 1),
                   sbh / 8 * (1 + 4 * (1 + 51200 / 12288.0)));
}

TEST(ModelStates, OfAllShardsSumToTheUnsharded) {
  for (const Precision& precision : precision_recipes()) {
    for (const int shards : {1, 2, 3, 7, 64}) {
      const double whole = model_states(1000, precision, 0, shards).total();
      EXPECT_NEAR(model_states(1000, precision, 3, shards).total() * shards, whole, 1e-9);
      double before = whole;
      for (const int stage : {1, 2, 3}) {
        const double now = model_states(1000, precision, stage, shards).total();
        EXPECT_LE(now, before);
        before = now;
      }
    }
  }
}

TEST(Shards, AreTheGroupOrAllReplicas) {
  parallelarium::Setup setup = default_setup();
  setup.mesh.dp = 6;
  setup.mesh.cp = 2;
  EXPECT_EQ(shards_of(setup), 1);
  setup.zero = 3;
  EXPECT_EQ(shards_of(setup), 12);
  setup.zero_group = 3;
  EXPECT_EQ(shards_of(setup), 3);
}

// The most micro-batches between a stage's forwards and backwards in the schedule's own order.
TEST(HeldMicrobatches, CountTheOrdersOfTheSchedules) {
  for (const char* schedule : {"naive", "gpipe", "1f1b"}) {
    for (const int p : {1, 2, 3, 4, 7}) {
      for (const int m : {1, 2, 3, 8, 9}) {
        const Result<Order> order = make_order(schedule, p, m, 1);
        ASSERT_TRUE(order.ok());
        for (int stage = 0; stage < p; ++stage) {
          int held = 0, most = 0;
          for (const Action& action : order->ranks[static_cast<std::size_t>(stage)]) {
            held += action.kind == ActionKind::kForward ? 1 : -1;
            most = std::max(most, held);
          }
          EXPECT_EQ(held_microbatches(schedule, p, m, stage), most)
              << schedule << " " << p << " " << m << " " << stage;
        }
      }
    }
  }
  EXPECT_EQ(held_microbatches("orders.txt", 4, 8, 0), 0);
}

// The builder's table of every rank's parameters is another derivation of the same number.
TEST(StageParameters, EqualTheBuiltLayout) {
  struct Case {
    const char* model;
    int tp, pp, ep, dp;
  };
  for (const Case& c : {Case{"gpt-tiny", 1, 4, 1, 1}, Case{"gpt-tiny", 4, 1, 1, 1},
                        Case{"gpt-tiny", 2, 2, 1, 1}, Case{"gpt2-124m", 4, 3, 1, 1},
                        Case{"llama-tiny", 2, 8, 1, 1}, Case{"llama3-405b", 8, 16, 1, 1},
                        Case{"moe-tiny", 2, 2, 4, 4}, Case{"mixtral-8x7b", 4, 4, 8, 8},
                        Case{"deepseek-v3", 4, 1, 8, 8}, Case{"megatron-1t", 8, 64, 1, 1}}) {
    parallelarium::Setup setup = default_setup();
    setup.model = *find_model(c.model);
    setup.mesh = {c.dp, c.tp, c.pp, 1, c.ep};
    ASSERT_TRUE(validate(setup).empty()) << c.model << validate(setup).front().text;
    const std::vector<int> layers = layers_of_stages(setup);
    int first = 0;
    for (int stage = 0; stage < c.pp; ++stage) {
      Chunk chunk;
      for (int k = 0; k < layers[static_cast<std::size_t>(stage)]; ++k)
        chunk.layers.push_back(first + k);
      first += layers[static_cast<std::size_t>(stage)];
      chunk.first = stage == 0;
      chunk.last = stage == c.pp - 1;
      double built = 0;
      for (const ParameterSlice& slice : parameter_layout(setup, {chunk}))
        built += static_cast<double>(slice.count);
      EXPECT_DOUBLE_EQ(stage_parameters(setup, stage).total(), built)
          << c.model << " stage " << stage;
    }
  }
}

}  // namespace
}  // namespace parallelarium
