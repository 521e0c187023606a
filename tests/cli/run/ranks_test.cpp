// SPDX-License-Identifier: Apache-2.0
// What `run` tells rank by rank: what each held, one that is slow, and orders that hang.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(RanksOfARun, TellsOfEveryRankWhatItHadAndHolds) {
  const Folder folder;
  folder.pretend_calibrated();
  const auto words = small_run({"--pp", "2", "--dp", "2", "--backend", "paced", "--json"});
  const json ranks = command(words).json().at("ranks_state");
  ASSERT_EQ(ranks.size(), 4u);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const json& state = ranks[rank];
    EXPECT_EQ(state.at("rank"), rank);
    const json& original = ranks.at(state.at("replica_of").get<std::size_t>());
    EXPECT_EQ(original.at("weights_after"), state.at("weights_after"));
    EXPECT_EQ(state.at("copy_of"), state.at("replica_of"));
    EXPECT_EQ(state.at("copy_after"), state.at("weights_after"));
    EXPECT_GT(state.at("gradient_norm").get<double>(), 0);
    EXPECT_GT(state.at("gradient_norm_reduced").get<double>(), 0);
  }
  EXPECT_NE(ranks[0].at("weights_after"), ranks[3].at("weights_after"));
  EXPECT_EQ(std::count_if(ranks.begin(), ranks.end(),
                          [](const json& state) { return state.at("loss").is_null(); }),
            2)
      << "only the last stage has losses";
  const Reply text = command(small_run({"--pp", "2", "--dp", "2", "--backend", "paced"}));
  EXPECT_THAT(text.out, HasSubstr("Ranks in the last step"));
  EXPECT_THAT(text.out, HasSubstr(ranks[0].at("weights_after").get<std::string>()));
}

TEST(RanksOfARun, ASlowRankIsPredictedAndRehearsed) {
  const Folder folder;
  folder.pretend_calibrated();
  const auto run = [](const char* factor) {
    return command(small_run({"--pp", "1", "--dp", "2", "--backend", "paced", "--slow-rank", "1",
                              "--slow-factor", factor, "--json"}))
        .json();
  };
  const json equal = run("1"), slow = run("4");
  const double predicted = slow.at("predicted").at("step").at("seconds");
  EXPECT_GT(predicted, 2 * equal.at("predicted").at("step").at("seconds").get<double>());
  EXPECT_GE(slow.at("step").at("seconds").get<double>(), 0.98 * predicted);
  EXPECT_EQ(slow.at("losses"), equal.at("losses"));
  EXPECT_EQ(slow.at("setup").at("run").at("slow_rank"), json({{"rank", 1}, {"factor", 4.0}}));
  const Reply refused = command(
      small_run({"--pp", "1", "--dp", "2", "--slow-rank", "2", "--slow-factor", "2", "--json"}));
  EXPECT_EQ(refused.status, kInvalid);
  EXPECT_THAT(refused.err, HasSubstr("ranks 0 to 1"));
}

TEST(RanksOfARun, AnOrderThatWaitsForEverHangsWhereItIsAllowed) {
  const Folder folder;
  folder.pretend_calibrated();
  const std::string circle =
      folder.file("circle.txt", "F0 B0 F1 B1 F2 B2 F3 B3\nF0 F1 B0 B1 F2 F3 B2 B3\n");
  const auto hang = [&](std::vector<std::string> more) {
    auto words = small_run({"--pp", "2", "--schedule", circle.c_str()});
    words.insert(words.end(), more.begin(), more.end());
    return command(words);
  };
  EXPECT_EQ(hang({"--backend", "paced"}).status, kInvalid) << "without being asked for";
  for (const char* backend : {"paced", "cpu"}) {
    const Reply hung = hang({"--backend", backend, "--let-it-hang", "0.5s", "--json"});
    ASSERT_EQ(hung.status, kDone) << hung.err;
    const json report = hung.json().at("hang");
    EXPECT_EQ(report.at("seconds"), 0.5);
    ASSERT_EQ(report.at("ranks").size(), 2u);
    EXPECT_EQ(report.at("ranks")[0].at("for_rank"), 1);
    EXPECT_EQ(report.at("ranks")[0].at("needs"), "sending gradients of micro-batch 0 to rank 0");
    EXPECT_EQ(hung.json().at("backend"), backend);
  }
  const Reply text = hang({"--backend", "paced", "--let-it-hang", "0.5"});
  EXPECT_EQ(text.status, kDone);
  EXPECT_THAT(text.out, HasSubstr("It hangs, as it was allowed to"));
  EXPECT_THAT(text.out, HasSubstr("Rank 1 waits in receiving activations of micro-batch 1"));
  for (const char* wrong : {"soon", "0", "5m", "1e9"})
    EXPECT_EQ(hang({"--let-it-hang", wrong}).status, kInvalid) << wrong;
}

TEST(RanksOfARun, AnOrderThatMayHangAndDoesNotEndsByItself) {
  const Folder folder;
  folder.pretend_calibrated();
  const Reply json_reply =
      command(small_run({"--pp", "2", "--backend", "paced", "--let-it-hang", "5s", "--json"}));
  ASSERT_EQ(json_reply.status, kDone) << json_reply.err;
  EXPECT_TRUE(json_reply.json().at("hang").is_null());
  EXPECT_EQ(json_reply.json().at("losses").size(), 4u);
  const Reply text = command(small_run({"--pp", "2", "--backend", "paced", "--let-it-hang", "5s"}));
  EXPECT_THAT(text.out, HasSubstr("It did not hang: it ended by itself."));
}

// Each seed is a run of its own; the first is the run that is told, and by its two norms one can
// work the figure out by hand (McCandlish et al. 2018, appendix A.1, with 4 and 8 sequences).
TEST(NoiseOfSeeds, IsToldWithItsSpread) {
  const Folder folder;
  folder.pretend_calibrated();
  const json run = command(small_run({"--pp", "1", "--dp", "2", "--micro-batch", "1", "--backend",
                                      "paced", "--seeds", "3", "--json"}))
                       .json();
  const json& noise = run.at("noise_scale");
  ASSERT_EQ(noise.at("runs").size(), 3u);
  double own = 0;
  for (const json& rank : run.at("ranks_state"))
    own += 2 * std::pow(rank.at("gradient_norm").get<double>(), 2);
  const double all = std::pow(run.at("gradient_norms").back().get<double>(), 2);
  EXPECT_NEAR(noise.at("runs").at(0).get<double>(), 8 * (own - all) / (2 * all - own), 1e-5);
  EXPECT_NE(noise.at("runs").at(0), noise.at("runs").at(1)) << "another seed, other gradients";
  EXPECT_LE(noise.at("least"), noise.at("sequences"));
  EXPECT_GE(noise.at("most"), noise.at("sequences"));
  EXPECT_DOUBLE_EQ(noise.at("tokens").get<double>(),
                   noise.at("sequences").get<double>() *
                       run.at("resolved").at("model").at("sequence").get<double>());
}

TEST(NoiseOfSeeds, IsNullAndSaidWhereRanksHoldParts) {
  const Folder folder;
  folder.pretend_calibrated();
  const Reply stages =
      command(small_run({"--pp", "2", "--backend", "paced", "--seeds", "2", "--json"}));
  EXPECT_TRUE(stages.json().at("noise_scale").is_null());
  EXPECT_THAT(stages.err, HasSubstr("data-parallel ranks alone"));
  for (const char* wrong : {"0", "101", "-3"}) {
    const Reply refused = command(small_run({"--pp", "1", "--dp", "2", "--seeds", wrong}));
    EXPECT_EQ(refused.status, kInvalid);
    EXPECT_THAT(refused.err, HasSubstr("--seeds takes 1 to 100 runs"));
  }
}

}  // namespace
}  // namespace parallelarium
