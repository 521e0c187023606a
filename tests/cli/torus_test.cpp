// SPDX-License-Identifier: Apache-2.0
// A machine whose links are a torus, on the command line.
#include <gmock/gmock.h>

#include <map>
#include <utility>

#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Austin et al. 2025, chapter Training: with ZeRO 3 communication falls against FLOPs as the batch
// grows, with TP it hardly does. So a small global batch wants some TP, and a large one none.
TEST(TorusCommand, SweepsCommunicationOverComputing) {
  const json points = command({"sweep",
                               "--model",
                               "llama3-70b",
                               "--sequence",
                               "512",
                               "--machine",
                               "tpu-v5p-4x4x4",
                               "--gpus",
                               "64",
                               "--zero",
                               "3",
                               "--microbatches",
                               "1",
                               "--vary",
                               "tp=1,4,16",
                               "--vary",
                               "micro-batch=1,4,16,64",
                               "--show",
                               "compute,communication,communication-over-compute",
                               "--json"})
                          .json()
                          .at("points");
  std::map<std::pair<int, int>, double> ratios;
  for (const json& point : points) {
    ASSERT_TRUE(point.at("refused").is_null()) << point.dump();
    const json& figures = point.at("metrics");
    const double ratio = figures.at("communication-over-compute").get<double>();
    EXPECT_NEAR(ratio,
                figures.at("communication").get<double>() / figures.at("compute").get<double>(),
                1e-9);
    ratios[{point.at("values").at("tp"), point.at("values").at("micro-batch")}] = ratio;
  }
  ASSERT_EQ(ratios.size(), 12u);
  EXPECT_GT(ratios.at({1, 1}) / ratios.at({1, 4}), 2.5) << "a step updates weights once";
  EXPECT_GT(ratios.at({16, 64}) / ratios.at({16, 16}), 0.6);
  // 64 sequences, then 1024.
  EXPECT_LT(ratios.at({4, 4}), ratios.at({1, 1}));
  EXPECT_LT(ratios.at({1, 16}), ratios.at({4, 64}));
}

TEST(TorusCommand, SaysWhatATorusIsNotFor) {
  const Reply plan = command({"plan", "--model", "llama3-70b", "--machine", "tpu-v5p-4x4x4",
                              "--gpus", "64", "--global-batch", "64"});
  EXPECT_EQ(plan.status, 2);
  EXPECT_THAT(plan.err, HasSubstr("a torus does not do"));
  const auto collective = [](const char* ranks) {
    return command({"collective", "all_reduce", "--algorithm", "torus", "--machine",
                    "tpu-v5p-4x4x4", "--ranks", ranks, "--bytes", "1600000", "--json"});
  };
  EXPECT_EQ(collective("16").status, 0);
  EXPECT_EQ(collective("4").status, 0);
  for (const char* ranks : {"6", "12", "64"}) {
    EXPECT_EQ(collective(ranks).status, 2) << ranks;
    EXPECT_THAT(collective(ranks).err, HasSubstr("give --ranks 4 or 16")) << ranks;
  }
  EXPECT_THAT(command({"machines", "show", "tpu-v5p-4x4x4"}).out, HasSubstr("4 x 4 x 4"));
}

TEST(Predict, SaysWhatCommunicationStandsOn) {
  const std::vector<std::string> words = {
      "predict", "--model", "llama3-70b", "--machine", "dgx-h100", "--dp", "2", "--tp", "8"};
  const Reply text = command(words);
  EXPECT_THAT(text.out, HasSubstr("Communication stands on\n    TP: a rank sends "));
  EXPECT_THAT(text.out, HasSubstr("50.0 % (fitted on Llama"));
  std::vector<std::string> as_json = words;
  as_json.emplace_back("--json");
  const json rates = command(as_json).json().at("communication");
  ASSERT_EQ(rates.size(), 2u);
  EXPECT_EQ(rates[0].at("axis"), "tp");
  EXPECT_EQ(rates[0].at("sustained"), 0.5);
  EXPECT_EQ(rates[1].at("wire"), "InfiniBand");
}

}  // namespace
}  // namespace parallelarium
