// SPDX-License-Identifier: Apache-2.0
// What communication stands on, against the traffic of the same prediction and the machine's file.
#include "engine/predict/rates/axis_rates.h"

#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>

#include "engine/predict/repeats/step_prediction.h"

namespace parallelarium {
namespace {

using testing::HasSubstr;

Setup three_axes() {
  Setup setup = default_setup();
  setup.model = *find_model("llama3-70b");
  setup.model.layers = 8;
  setup.machine = "dgx-h100";
  setup.precision = *find_precision("mixed-16");
  setup.attention = Attention::kFused;
  setup.mesh = Mesh();
  setup.mesh.dp = 2;
  setup.mesh.tp = 8;
  setup.mesh.pp = 2;
  setup.microbatches = 48;
  setup.micro_batch = 1;
  return setup;
}

TEST(AxisRates, AreTheLinksAndTheTrafficOfEachAxis) {
  const Machine machine = *find_machine("dgx-h100");
  const Result<Prediction> prediction = predict(three_axes(), machine);
  ASSERT_TRUE(prediction.ok()) << prediction.error().text;
  std::map<Axis, std::int64_t> sent;
  for (const TrafficRow& row : prediction->traffic) sent[row.axis] += row.sent_bytes;
  const std::vector<AxisRate> rates = axis_rates(*prediction);
  ASSERT_EQ(rates.size(), 3u);
  for (const AxisRate& rate : rates) {
    EXPECT_EQ(rate.sent_bytes, sent[rate.axis]) << name_of(rate.axis);
    EXPECT_EQ(rate.between, rate.axis != Axis::kTp) << name_of(rate.axis);
    const Link& link = rate.between ? machine.inter_node : machine.intra_node;
    EXPECT_EQ(rate.link, link);
    EXPECT_DOUBLE_EQ(rate.bytes_per_second(), link.bytes_per_second.value * link.sustained.value);
  }
  const std::string tp = said_of(rates[0]).text;
  EXPECT_THAT(tp, HasSubstr("TP: a rank sends "));
  EXPECT_THAT(tp, HasSubstr("over NVLink at 185 GB/s at most: 50.0 % (fitted on Llama Team"));
  EXPECT_THAT(tp, HasSubstr("of 370 GB/s (published in NVIDIA/nccl-tests"));
  const nlohmann::json json = to_json(rates);
  EXPECT_EQ(json[0].at("sustained"), 0.5);
  EXPECT_EQ(json[0].at("sentence"), tp);
}

// A plan that is told by fewer micro-batches sends what all of them send.
TEST(AxisRates, CountWhatComesAgain) {
  const auto setup = three_axes();
  const Machine machine = *find_machine("dgx-h100");
  const Result<StepPrediction> step = predict_step(setup, machine);
  ASSERT_TRUE(step.ok()) << step.error().text;
  ASSERT_GT(step->repeats.times, 0);
  const Result<Prediction> whole = predict(setup, machine);
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(to_json(axis_rates(step->prediction, step->repeats)), to_json(axis_rates(*whole)));
}

TEST(AxisRates, SayHowManyLinksATorusGives) {
  auto setup = three_axes();
  setup.machine = "tpu-v5p-4x4x4";
  setup.mesh.tp = 4;
  setup.mesh.pp = 1;
  setup.mesh.dp = 16;
  const Result<Prediction> prediction = predict(setup, *find_machine("tpu-v5p-4x4x4"));
  ASSERT_TRUE(prediction.ok()) << prediction.error().text;
  const std::vector<AxisRate> rates = axis_rates(*prediction);
  ASSERT_EQ(rates.size(), 2u);
  EXPECT_EQ(rates[0].links, 2);
  EXPECT_EQ(rates[1].links, 4);
  EXPECT_THAT(said_of(rates[1]).text, HasSubstr("at 400 GB/s at most: 4 links of 100 GB/s ("));
}

// Eight ranks of a node send over its eight cards, where one alone has one, and one ring has one.
TEST(AxisRates, CountTheCardsOfANode) {
  auto setup = three_axes();
  setup.mesh.dp = 16;
  setup.mesh.tp = 1;
  setup.mesh.pp = 1;
  setup.zero = 3;
  const Machine machine = *find_machine("dgx-h100");
  const auto rate_of = [&](const parallelarium::Setup& of) {
    const Result<Prediction> prediction = predict(of, machine);
    EXPECT_TRUE(prediction.ok()) << prediction.error().text;
    return prediction ? axis_rates(*prediction).at(0) : AxisRate();
  };
  const double card =
      machine.inter_node.bytes_per_second.value * machine.inter_node.sustained.value;
  const double inside =
      machine.intra_node.bytes_per_second.value * machine.intra_node.sustained.value;
  const AxisRate rate = rate_of(setup);
  EXPECT_TRUE(rate.between);
  EXPECT_DOUBLE_EQ(rate.bytes_per_second(), std::min(8 * card, inside));
  // Where the node is what is slower, the network is named beside it.
  ASSERT_TRUE(rate.network);
  EXPECT_EQ(*rate.network, machine.inter_node);
  EXPECT_EQ(rate.cards, 8);
  // Rates of a node and of a GPU are not taken for the same thing.
  EXPECT_THAT(
      said_of(rate).text,
      HasSubstr("Between nodes its whole node sends over InfiniBand at 280 GB/s (8 links of "
                "35.0 GB/s) at most. In the node all of that passes through each GPU, over "
                "NVLink at 185 GB/s at most, which limits it: "));
  EXPECT_DOUBLE_EQ(to_json({rate})[0].at("network_bytes_per_second").get<double>(), 8 * card);
  setup.collectives = "one-ring";
  EXPECT_DOUBLE_EQ(rate_of(setup).bytes_per_second(), std::min(card, inside));
  EXPECT_FALSE(rate_of(setup).network) << "it is the slower one itself";
}

// Cards that devices share, what leaves a leaf group, and switches that add up are said.
TEST(AxisRates, SayWhatNodesShareOfTheNetwork) {
  auto setup = three_axes();
  setup.mesh.tp = 2;
  setup.mesh.dp = 8;
  setup.mesh.order = RankOrder::kTpCpEpPpDp;
  Machine machine = *find_machine("dgx-h100");
  const auto rate_of = [&](Axis axis) {
    const Result<Prediction> prediction = predict(setup, machine);
    EXPECT_TRUE(prediction.ok()) << prediction.error().text;
    for (const AxisRate& rate : axis_rates(*prediction))
      if (rate.axis == axis) return rate;
    ADD_FAILURE();
    return AxisRate();
  };
  const double card =
      machine.inter_node.bytes_per_second.value * machine.inter_node.sustained.value;
  EXPECT_DOUBLE_EQ(rate_of(Axis::kDp).bytes_per_second(), 2 * card);
  machine.nics_per_node.value = 2;
  EXPECT_DOUBLE_EQ(rate_of(Axis::kDp).bytes_per_second(), card / 2);
  EXPECT_THAT(said_of(rate_of(Axis::kDp)).text, HasSubstr("0.500 links of 50.0 GB/s"));
  machine.nics_per_node.value = 0;
  machine.nodes_per_leaf.value = 2;
  machine.oversubscription.value = 8;
  // Of four ranks in two nodes of a leaf group, 4 / 8 of a card.
  const AxisRate leaf = rate_of(Axis::kDp);
  EXPECT_DOUBLE_EQ(leaf.bytes_per_second(), card / 2);
  EXPECT_THAT(said_of(leaf).text,
              HasSubstr("; what leaves a leaf group of 2 nodes gets 1/8 of its network cards'"));
  EXPECT_EQ(to_json({leaf})[0].at("oversubscription"), 8);
  machine.oversubscription.value = 1;
  EXPECT_FALSE(to_json({rate_of(Axis::kDp)})[0].contains("oversubscription"));
  machine.in_network_reduction = true;
  EXPECT_THAT(said_of(rate_of(Axis::kDp)).text, HasSubstr("once and not almost twice"));
  EXPECT_FALSE(rate_of(Axis::kTp).reduced) << "within a node";
}

TEST(AxisRates, AreNoneOfThisComputer) {
  auto setup = default_setup();
  const Result<Prediction> prediction = predict(setup, uncalibrated_local_machine());
  ASSERT_TRUE(prediction.ok()) << prediction.error().text;
  EXPECT_TRUE(axis_rates(*prediction).empty());
}

}  // namespace
}  // namespace parallelarium
