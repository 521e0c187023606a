// SPDX-License-Identifier: Apache-2.0
// `predict`, as text for people and as JSON.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "engine/cli/computer/probe.h"
#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(Predict, PrintsWhatItPromises) {
  const Folder folder;
  const Reply text = command({"predict"});
  EXPECT_EQ(text.status, kDone);
  EXPECT_EQ(text.err, "");
  EXPECT_THAT(text.out,
              testing::AllOf(HasSubstr("predicted"), HasSubstr("of whole step"),
                             HasSubstr("over ideal time"), HasSubstr("activations"),
                             HasSubstr("send_recv"), HasSubstr("Formulas"), HasSubstr("Source:")));
  const json answer = command({"predict", "--json"}).json();
  for (const char* key :
       {"setup", "machine", "ranks", "model", "memory", "traffic", "bubble", "step", "formulas"})
    EXPECT_TRUE(answer.contains(key)) << key;
  EXPECT_EQ(answer.at("ranks"), 4);
  EXPECT_EQ(answer.at("memory").at("ranks").size(), 4u);
  EXPECT_GT(answer.at("step").at("seconds"), 0);
}

TEST(Predict, SaysThatACalibrationCannotBeUsed) {
  const Folder folder;
  const auto remarks = [] { return command({"predict", "--json"}).json().at("remarks").dump(); };
  EXPECT_THAT(remarks(), testing::Not(HasSubstr("cannot be used")));
  std::filesystem::create_directories(std::filesystem::path(local_machine_path()).parent_path());
  std::ofstream(local_machine_path()) << "{broken";
  EXPECT_THAT(remarks(), HasSubstr("cannot be used"));
}

TEST(Predict, SaysOnWhichNodesRanksStandAndWhichGroupsCross) {
  const Folder folder;
  const std::vector<std::string> asked{
      "predict", "--model", "llama3-8b", "--machine", "dgx-h100",       "--tp", "1",
      "--pp",    "4",       "--dp",      "4",         "--microbatches", "8"};
  const json nodes = command([&] {
                       auto with = asked;
                       with.push_back("--json");
                       return with;
                     }())
                         .json()
                         .at("nodes");
  EXPECT_EQ(nodes.at("count"), 2);
  int ranks = 0;
  for (const json& node : nodes.at("each")) {
    EXPECT_EQ(node.at("first_rank"), ranks);
    ranks = node.at("last_rank").get<int>() + 1;
  }
  EXPECT_EQ(ranks, 16);
  ASSERT_EQ(nodes.at("axes").size(), 2u);
  const json &replicas = nodes.at("axes").at(0), &stages = nodes.at("axes").at(1);
  // Four replicas lie side by side: two stages to a node.
  EXPECT_EQ(replicas.at("axis"), "dp");
  EXPECT_EQ(replicas.at("inside"), 4);
  EXPECT_EQ(replicas.at("links"), json::array({"inside"}));
  // Each of the four pipelines leaves its node once on three ways.
  EXPECT_EQ(stages.at("axis"), "pp");
  EXPECT_EQ(stages.at("crossing"), 4);
  EXPECT_EQ(stages.at("ways"), 12);
  EXPECT_EQ(stages.at("ways_between"), 4);
  EXPECT_EQ(stages.at("links"), json::array({"inside", "between"}));
  EXPECT_EQ(nodes.at("links").at("between").at("wire"), "InfiniBand");
  EXPECT_THAT(command(asked).out,
              HasSubstr("\n2 nodes of 8 ranks: DP 4 inside a node (NVLink), PP 4 across 2 nodes "
                        "(NVLink and InfiniBand)\n"));
  EXPECT_THAT(command({"predict"}).out, HasSubstr("\none node of 4 ranks: PP 4 inside a node ("));
}

// A calibration outlives its GPUs.
TEST(Predict, AutoIsOfTheCoresWhereThereAreNoGpus) {
  if (has_nvidia_driver()) GTEST_SKIP() << "this computer may have GPUs";
  const Folder folder;
  Machine gpus = *find_machine("dgx-h100");
  gpus.name = kLocalGpus;
  gpus.calibrated = "2026-11-21 for a test";
  ASSERT_TRUE(save_local_machine(gpus).ok());
  const auto machine = [](const char* backend) {
    const Reply answer = command({"predict", "--pp", "2", "--backend", backend, "--json"});
    EXPECT_EQ(answer.status, kDone) << answer.err;
    return answer.json().at("machine").at("name");
  };
  EXPECT_EQ(machine("auto"), "local");
  EXPECT_EQ(machine("cuda"), kLocalGpus);
}

TEST(Predict, LeavesOutTheStepsOfTheCriticalPathUnlessAsked) {
  const Folder folder;
  const json answer = command({"predict", "--json"}).json();
  EXPECT_FALSE(answer.at("explain").at("critical_path").contains("steps"));
}

// Where a model or a machine is named, and only there, the answer says what sizes nobody gave.
TEST(Predict, SaysWhichSizesItAssumed) {
  const Folder folder;
  const auto assumed = [](std::vector<std::string> words) {
    words.insert(words.begin(), "predict");
    words.emplace_back("--json");
    const Reply answer = command(words);
    EXPECT_EQ(answer.status, kDone) << answer.err;
    return answer.json().at("assumed");
  };
  EXPECT_EQ(assumed({}), json::object());
  EXPECT_EQ(assumed({"--pp", "2"}), json::object());
  EXPECT_EQ(assumed({"--model", "gpt-small", "--tp", "2"}), (json{{"machine", "local"},
                                                                  {"mesh.dp", 1},
                                                                  {"mesh.pp", 1},
                                                                  {"micro_batch", 1},
                                                                  {"microbatches", 8}}));
  EXPECT_EQ(assumed({"--machine", "dgx-h100", "--model", "gpt2-124m", "--gpus", "8",
                     "--global-batch", "64", "--micro-batch", "2"}),
            (json{{"mesh.pp", 1}, {"mesh.tp", 1}}));
  const std::string file = folder.file(
      "setup.json", R"({"machine": "dgx-h100", "mesh": {"dp": 4, "pp": 1}, "microbatches": 2})");
  const json of_file = assumed({"--setup", file, "--tp", "2"});
  EXPECT_EQ(of_file, (json{{"micro_batch", 1}, {"model", "gpt-tiny"}}));
  EXPECT_THAT(command({"predict", "--model", "gpt-small", "--tp", "2"}).out,
              HasSubstr("Assumed, since nothing says otherwise: --machine local, --dp 1, --pp 1"));
}

TEST(Predict, StartsAModelFromOneRank) {
  const Folder folder;
  const json answer =
      command({"predict", "--model", "llama3-8b", "--machine", "dgx-h100", "--dp", "8", "--json"})
          .json();
  EXPECT_EQ(answer.at("ranks"), 8);
  EXPECT_EQ(answer.at("setup").at("mesh").at("pp"), 1);
  EXPECT_EQ(command({"predict", "--json"}).json().at("ranks"), 4) << "the first lesson";
  const std::string file = folder.file("a.json", R"({"model": "llama-tiny"})");
  EXPECT_EQ(command({"predict", "--setup", file, "--json"}).json().at("ranks"), 1);
}

TEST(Predict, FillsGpusWithReplicasAndABatchWithMicroBatches) {
  const Folder folder;
  const json answer =
      command({"predict", "--model", "gpt3-175b", "--machine", "dgx-a100-80g", "--tp", "8", "--pp",
               "4", "--gpus", "64", "--global-batch", "96", "--micro-batch", "3", "--json"})
          .json();
  EXPECT_EQ(answer.at("setup").at("mesh").at("dp"), 2);
  EXPECT_EQ(answer.at("setup").at("microbatches"), 16);
  EXPECT_FALSE(answer.at("setup").contains("gpus")) << "a file holds what it came to";
  const Reply odd = command({"predict", "--tp", "2", "--pp", "4", "--gpus", "12"});
  EXPECT_EQ(odd.status, 2);
  EXPECT_THAT(odd.err, HasSubstr("12 GPUs are no multiple of the 8 of one replica"));
  EXPECT_THAT(command({"predict", "--dp", "3", "--global-batch", "8"}).err,
              HasSubstr("A global batch of 8 sequences is no multiple of the 3"));
}

TEST(Predict, SaysHowLongSoManyTokensTake) {
  const Folder folder;
  const std::vector<std::string> words = {"predict",  "--model", "llama3-8b", "--machine",
                                          "dgx-h100", "--dp",    "8",         "--json",
                                          "--tokens", "15T",     "--price",   "2.5"};
  const json answer = command(words).json();
  const double rate = answer.at("step").at("tokens_per_second");
  EXPECT_NEAR(answer.at("days").get<double>(), 15e12 / rate / 86400, 1e-6);
  EXPECT_NEAR(answer.at("gpu_hours").get<double>(), 15e12 / rate / 3600 * 8, 1e-3);
  EXPECT_NEAR(answer.at("cost").get<double>(), 2.5 * answer.at("gpu_hours").get<double>(), 1e-3);
  EXPECT_THAT(command({"predict", "--tokens", "15T"}).out, testing::HasSubstr("15.0 T tokens"));
  EXPECT_EQ(command({"predict", "--tokens", "many"}).status, 2);
  EXPECT_EQ(command({"predict", "--price", "2"}).status, 2);
}

TEST(Predict, SaysWhatItsTimesStandOn) {
  const Folder folder;
  const json rates =
      command({"predict", "--model", "llama3-8b", "--machine", "dgx-a100-80g", "--json"})
          .json()
          .at("rates");
  const double measured = rates.at("measured"), between = rates.at("interpolated"),
               assumed = rates.at("assumed");
  EXPECT_NEAR(measured + between + assumed, 1, 1e-9);
  double last = 1;
  for (const json& each : rates.at("largest_assumed")) {
    EXPECT_LE(each.at("share").get<double>(), last);
    last = each.at("share");
  }
  EXPECT_EQ(rates.at("largest_assumed").size(), 5u);
  // With tables of products, attention and passes next to nothing is assumed.
  const json tabled =
      command({"predict", "--model", "llama3-8b", "--machine", "dgx-h100", "--json"}).json();
  EXPECT_GT(tabled.at("rates").at("interpolated").get<double>(), 0.99);
}

TEST(Predict, ExplainsItsTime) {
  const Folder folder;
  const Reply text = command({"predict", "--pp", "4"});
  EXPECT_THAT(text.out, testing::AllOf(HasSubstr("Explanation (predicted)"), HasSubstr("drain"),
                                       HasSubstr("Critical path"), HasSubstr("waits for the"),
                                       HasSubstr("When memory peaks")));
  const json answer = command({"predict", "--pp", "4", "--json", "--spans"}).json();
  const json& explain = answer.at("explain");
  double shares = 0;
  for (const auto& [kind, share] : explain.at("idle_shares").items()) shares += share.get<double>();
  EXPECT_NEAR(shares, 1, 1e-9);
  // The path is the step from its begin to its end, one thing after the other.
  const json& path = explain.at("critical_path");
  EXPECT_NEAR(path.at("seconds"), answer.at("step").at("seconds"), 1e-9);
  double before = 0;
  for (const json& step : path.at("steps")) {
    EXPECT_GE(step.at("begin_seconds").get<double>(), before - 1e-12) << step;
    before = step.at("end_seconds");
  }
  ASSERT_EQ(explain.at("ranks").size(), 4u);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const json& of_rank = explain.at("ranks").at(rank);
    EXPECT_EQ(of_rank.at("memory_peak").at("bytes"),
              answer.at("memory").at("ranks").at(rank).at("peak_bytes"));
    EXPECT_GT(of_rank.at("waits_most_seconds"), 0);
    EXPECT_FALSE(of_rank.at("waits_most").get<std::string>().empty());
  }
}

// Messages of a ring begin before what they wait for has ended everywhere.
TEST(Predict, TheCriticalPathOfARingIsAsLongAsTheStep) {
  const Folder folder;
  for (const char* split : {"contiguous", "zigzag"}) {
    const json answer = command({"predict", "--model", "gpt2-124m", "--machine", "dgx-h100", "--cp",
                                 "4", "--pp", "1", "--cp-split", split, "--json", "--spans"})
                            .json();
    const json& path = answer.at("explain").at("critical_path");
    const double seconds = path.at("seconds");
    EXPECT_NEAR(seconds, answer.at("step").at("seconds"), 1e-9);
    EXPECT_NEAR(
        path.at("compute_seconds").get<double>() + path.at("transfer_seconds").get<double>(),
        seconds, 1e-9)
        << split;
    double before = 0;
    for (const json& step : path.at("steps")) {
      EXPECT_GE(step.at("begin_seconds").get<double>(), before - 1e-12) << step;
      before = step.at("end_seconds");
    }
  }
}

TEST(Predict, OptionsOverrideTheFileAndTheFileTheDefaults) {
  const Folder folder;
  const std::string file =
      folder.file("setup.json", R"({"mesh": {"pp": 2}, "microbatches": 5, "schedule": "gpipe"})");
  const json answer = command({"predict", "--setup", file, "--microbatches", "6", "--json"}).json();
  EXPECT_EQ(answer.at("setup").at("mesh").at("pp"), 2);
  EXPECT_EQ(answer.at("setup").at("microbatches"), 6);
  EXPECT_EQ(answer.at("setup").at("schedule"), "gpipe");
  // The model first, wherever it stands.
  const json model =
      command({"predict", "--layers", "12", "--model", "llama-tiny", "--json"}).json();
  EXPECT_EQ(model.at("setup").at("model").is_object() ? model.at("setup").at("model").at("layers")
                                                      : json(model.at("setup").at("model")),
            12);
}

TEST(Predict, ASwitchMayStandAlone) {
  const json on = command({"predict", "--tp", "2", "--sequence-parallel", "--json"}).json();
  EXPECT_EQ(on.at("setup").at("sequence_parallel"), true);
  const json off =
      command({"predict", "--tp", "2", "--sequence-parallel", "false", "--json"}).json();
  EXPECT_EQ(off.at("setup").at("sequence_parallel"), false);
}

TEST(Predict, WhatItPrintsAsASetupPredictsTheSame) {
  const Folder folder;
  const json first = command({"predict", "--pp", "2", "--dp", "2", "--zero", "1", "--json"}).json();
  const std::string file = folder.file("again.json", first.at("setup").dump());
  EXPECT_EQ(command({"predict", "--setup", file, "--json"}).json(), first);
}

TEST(Predict, TrafficIsOfTheRankAskedFor) {
  const Folder folder;
  const auto sent = [](const char* rank, const char* purpose) {
    std::int64_t bytes = 0;
    const json traffic = command({"predict", "--rank", rank, "--json"}).json().at("traffic");
    for (const json& row : traffic)
      if (row.at("purpose") == purpose) bytes += row.at("sent_bytes").get<std::int64_t>();
    return bytes;
  };
  EXPECT_GT(sent("0", "activations"), 0);
  EXPECT_EQ(sent("0", "gradients"), 0);
  EXPECT_EQ(sent("3", "activations"), 0);
  EXPECT_GT(sent("3", "gradients"), 0);
}

TEST(Predict, FoldsRanksThatWouldSayTheSame) {
  const Folder folder;
  const Reply text =
      command({"predict", "--model", "llama3-8b", "--machine", "dgx-h100", "--dp", "8"});
  EXPECT_THAT(text.out, HasSubstr("  0 to 7  "));
  EXPECT_THAT(text.out, HasSubstr("waits during the all-reduce of gradients ("));
  EXPECT_THAT(text.out, testing::Not(HasSubstr("waits for the all-reduce of loss")));
}

// As inner width and key/value heads follow a model: for who types, never in a file.
TEST(Predict, GivesADenseModelTheExpertsThatWereTyped) {
  const Folder folder;
  const Reply text = command({"predict", "--experts", "8"});
  EXPECT_EQ(text.status, kDone) << text.err;
  EXPECT_THAT(text.out, HasSubstr("--top-k 2"));
  EXPECT_THAT(text.out, HasSubstr("--expert-ffn 256"));
  const json one = command({"predict", "--experts", "1", "--expert-ffn", "32", "--json"}).json();
  EXPECT_EQ(one.at("setup").at("model").at("experts").at("top_k"), 1);
  EXPECT_EQ(one.at("setup").at("model").at("experts").at("ffn"), 32);
  EXPECT_EQ(one.at("assumed"), json({{"model.experts.top_k", 1}}));
  const std::string file =
      folder.file("dense.json", R"({"model": {"layers": 4, "hidden": 64, "heads": 4, "vocab": 256,
                                  "sequence": 32, "experts": {"count": 8}}})");
  EXPECT_EQ(command({"predict", "--setup", file}).status, kInvalid);
  EXPECT_FALSE(command({"predict", "--model", "moe-tiny", "--experts", "4", "--json"})
                   .json()
                   .at("assumed")
                   .contains("model.experts.top_k"));
}

TEST(Predict, JoinsStagesThatNeedTheSameMemory) {
  const Folder folder;
  const std::string text = command({"predict", "--pp", "8", "--schedule", "gpipe"}).out;
  EXPECT_THAT(text, HasSubstr("1 to 6  1 to 6"));
  EXPECT_THAT(command({"predict", "--pp", "8"}).out, testing::Not(HasSubstr("1 to 6  1 to 6")));
}

// A remark that says so in its own words stands alone.
TEST(Predict, SaysOnceWhatDoesNothing) {
  const Folder folder;
  const auto remarks = [](std::vector<std::string> words) {
    words.insert(words.begin(), "predict");
    words.emplace_back("--json");
    return command(words).json().at("remarks");
  };
  const std::size_t usual = remarks({}).size();
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--recompute-layers", "3"},
        {"--zero-accumulate", "true"},
        {"--scatter-gather", "true"},
        {"--recompute", "full", "--recompute-layers", "99"}})
    EXPECT_EQ(remarks(words).size(), usual + 1) << words[0];
  EXPECT_THAT(remarks({"--recompute", "full", "--recompute-layers", "99"}).dump(),
              HasSubstr("which is all of them: no stage has more than 2"));
}

TEST(Predict, NamesWhatWasTypedForNothing) {
  const Folder folder;
  EXPECT_THAT(command({"predict", "--skew", "0.5"}).out,
              HasSubstr("Note: --skew 0.5 changes nothing here: it needs experts.\n"));
  const json told = command({"predict", "--skew", "0.5", "--json"}).json();
  EXPECT_THAT(told.at("remarks").dump(), HasSubstr("--skew 0.5 changes nothing"));
  EXPECT_THAT(
      command({"predict", "--model", "moe-tiny", "--dp", "4", "--ep", "4", "--skew", "0.5"}).out,
      testing::Not(HasSubstr("changes nothing")));
  EXPECT_THAT(command({"predict", "--tp", "1", "--chunks", "1"}).out,
              testing::Not(HasSubstr("changes nothing")));
}

// The best of a plan is predicted as the plan says it.
TEST(Predict, TakesTheBestOfAPlan) {
  const Folder folder;
  const Reply plan = command({"plan", "--model", "gpt2-124m", "--machine", "dgx-h100", "--gpus",
                              "2", "--global-batch", "8", "--top", "1", "--json"});
  ASSERT_EQ(plan.status, kDone) << plan.err;
  const std::string file = folder.file("plan.json", plan.out);
  const json told = command({"predict", "--setup", file, "--json"}).json();
  EXPECT_EQ(told.at("step").at("seconds"), plan.json().at("best")[0].at("step").at("seconds"));
  EXPECT_TRUE(told.at("assumed").empty()) << told.at("assumed");
}

TEST(Predict, ALargePresetFitsOnALargeMachineOnly) {
  const std::vector<std::string> large = {"predict",      "--model",     "gpt3-175b", "--machine",
                                          "dgx-a100-80g", "--precision", "mixed-16",  "--json"};
  auto spread = large;
  for (const char* word :
       {"--tp", "8", "--pp", "16", "--sequence-parallel", "--recompute", "selective"})
    spread.push_back(word);
  const Reply fits = command(spread);
  ASSERT_EQ(fits.status, kDone) << fits.err;
  EXPECT_EQ(fits.json().at("memory").at("fits"), true);
  const Reply alone = command(large);
  ASSERT_EQ(alone.status, kDone) << alone.err;
  EXPECT_EQ(alone.json().at("memory").at("fits"), false);
}

}  // namespace
}  // namespace parallelarium
