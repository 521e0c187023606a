// SPDX-License-Identifier: Apache-2.0
// `collective NAME`: the contract's keys, runs, sweeps and refusals.
#include <gmock/gmock.h>

#include <thread>

#include "engine/run/collective/collective_memory.h"
#include "engine/wire/collective_messages.h"
#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

TEST(CollectiveCommand, AnswersWhatTheContractSays) {
  const Reply reply =
      command({"collective", "all_reduce", "--algorithm", "ring", "--ranks", "4", "--bytes", "4096",
               "--latency", "1e-6", "--bandwidth", "1e9", "--json"});
  ASSERT_EQ(reply.status, kDone) << reply.err;
  const nlohmann::json json = reply.json();
  EXPECT_EQ(json["name"], "all_reduce");
  EXPECT_EQ(json["algorithm"], "ring");
  EXPECT_EQ(json["ranks"], 4);
  EXPECT_EQ(json["bytes"], 4096);
  ASSERT_EQ(json["steps"].size(), 6U);
  std::vector<std::int64_t> sent(4);
  for (const nlohmann::json& step : json["steps"]) {
    ASSERT_EQ(step.size(), 4U);
    for (const nlohmann::json& move : step) {
      EXPECT_EQ(move["to"], (move["from"].get<int>() + 1) % 4);
      EXPECT_EQ(move["bytes"], 1024);
      sent[move["from"].get<std::size_t>()] += move["bytes"].get<std::int64_t>();
    }
    EXPECT_EQ(step[0]["reduce"], &step - &json["steps"][0] < 3);
  }
  EXPECT_EQ(json["sent_bytes"], sent);
  EXPECT_EQ(json["received_bytes"], sent);
  EXPECT_NEAR(json["seconds"], 6 * (1e-6 + 1024 / 1e9), 1e-15);
  EXPECT_NEAR(json["algorithm_bandwidth"], 4096 / json["seconds"].get<double>(), 1);
  EXPECT_NEAR(json["bus_bandwidth"], 1.5 * json["algorithm_bandwidth"].get<double>(), 1);
  EXPECT_FALSE(json.contains("measured"));
}

TEST(CollectiveCommand, RunsAndVerifies) {
  const Reply reply = command({"collective", "reduce_scatter", "--ranks", "3", "--bytes", "1000",
                               "--dtype", "bfloat16", "--op", "max", "--run", "--json"});
  ASSERT_EQ(reply.status, kDone) << reply.err;
  const nlohmann::json json = reply.json();
  EXPECT_EQ(json["correct"], true);
  EXPECT_GT(json["measured"]["seconds"], 0);
  const Result<CollectiveObservation> seen = collective_observation_from_json(json["measured"]);
  ASSERT_TRUE(seen) << seen.error().text;
  EXPECT_EQ(to_json(*seen), json["measured"]);
  EXPECT_EQ(json["measured"]["sent_bytes"], json["sent_bytes"]);
}

TEST(CollectiveCommand, RunsWhereItIsTold) {
  const Reply here = command({"collective", "all_reduce", "--ranks", "2", "--bytes", "4096",
                              "--run", "--backend", "cpu", "--json"});
  ASSERT_EQ(here.status, kDone) << here.err;
  EXPECT_THAT(std::string(here.json()["measured"]["ranks_on"]), testing::StartsWith("2 ranks on "));
  EXPECT_EQ(here.json()["measured"]["transport"], "shared memory");
  const auto refused = [](std::vector<std::string> more, const std::string& sentence) {
    std::vector<std::string> words = {"collective", "all_reduce", "--ranks", "2"};
    words.insert(words.end(), more.begin(), more.end());
    const Reply reply = command(words);
    EXPECT_EQ(reply.status, kInvalid) << reply.out;
    EXPECT_THAT(reply.err, testing::HasSubstr(sentence));
  };
  refused({"--run", "--backend", "paced"}, "is not rehearsed; use --backend auto, cpu or cuda.");
  refused({"--run", "--backend", "tpu"}, "auto, cpu, paced or cuda");
  refused({"--run", "--devices", "0,0"}, "is no list of GPUs");
  refused({"--backend", "cpu"}, "add --run");
  refused({"--sweep", "--devices", "0"}, "add --run");
  // The same sentence as `run`.
  const Reply training = command({"run", "--backend", "cuda", "--pp", "2"});
  if (training.status == kDone) GTEST_SKIP() << "there is a GPU";
  refused({"--run", "--backend", "cuda"}, training.err);
  refused({"--run", "--sweep", "--backend", "cuda"}, training.err);
}

TEST(CollectiveCommand, ComparesTheBitsOfTwoAlgorithms) {
  const Reply reply =
      command({"collective", "all_reduce", "--ranks", "4", "--bytes", "4096", "--dtype", "bfloat16",
               "--run", "--repeats", "1", "--rounding", "tree", "--json"});
  ASSERT_EQ(reply.status, kDone) << reply.err;
  const Result<CollectiveObservation> seen =
      collective_observation_from_json(reply.json()["measured"]);
  ASSERT_TRUE(seen) << seen.error().text;
  ASSERT_TRUE(seen->rounding);
  EXPECT_GT(seen->rounding->differing, 0);
  EXPECT_EQ(to_json(*seen), reply.json()["measured"]);
  EXPECT_EQ(command({"collective", "all_reduce", "--rounding", "tree"}).status, kInvalid);
  EXPECT_EQ(command({"collective", "all_gather", "--run", "--rounding", "ring"}).status, kInvalid);
  EXPECT_EQ(command({"collective", "all_reduce", "--run", "--rounding", "trees"}).status, kInvalid);
}

TEST(CollectiveCommand, HelpListsEveryAlgorithm) {
  const Reply reply = command({"collective", "--help"});
  ASSERT_EQ(reply.status, kDone);
  for (const AlgorithmInfo& info : collective_algorithms())
    EXPECT_THAT(reply.out, testing::HasSubstr(info.name + " ")) << info.name;
}

TEST(CollectiveCommand, TellsTheSizeAtWhichAnotherAlgorithmTakesOver) {
  const Reply reply =
      command({"collective", "all_reduce", "--ranks", "8", "--algorithm", "ring", "--against",
               "recursive-doubling", "--latency", "1e-5", "--bandwidth", "1e9", "--json"});
  ASSERT_EQ(reply.status, kDone) << reply.err;
  EXPECT_NEAR(reply.json()["crossover_bytes"], 88000, 64);
}

TEST(CollectiveCommand, SweepsOverSizesAndAlgorithms) {
  const Reply reply =
      command({"collective", "all_gather", "--ranks", "2", "--algorithm", "ring,direct", "--bytes",
               "256KiB", "--sweep", "--run", "--repeats", "3", "--csv"});
  ASSERT_EQ(reply.status, kDone) << reply.err;
  EXPECT_EQ(std::count(reply.out.begin(), reply.out.end(), '\n'), 1 + 2 * 4);
  EXPECT_THAT(reply.out, testing::HasSubstr("all_gather,direct,2,float32,262144,"));
  EXPECT_THAT(reply.out, testing::Not(testing::HasSubstr("false")));
}

TEST(CollectiveCommand, RefusesWhatWouldBeIgnored) {
  const auto refused = [](std::vector<std::string> more, const char* sentence) {
    std::vector<std::string> words = {"collective"};
    words.insert(words.end(), more.begin(), more.end());
    const Reply reply = command(words);
    EXPECT_EQ(reply.status, kInvalid) << reply.out;
    EXPECT_THAT(reply.err, testing::HasSubstr(sentence));
  };
  refused({"all_to_all", "--ranks", "2", "--counts", "1,2,3,4", "--sweep"},
          "no sizes to sweep over");
  refused({"all_reduce", "--ranks", "2", "--calibrate", "--topology", "ring"}, "leave --machine");
  refused({"all_reduce", "--ranks", "2", "--calibrate", "--machine", "dgx-h100"},
          "leave --machine");
  refused({"all_reduce", "--ranks", "64", "--calibrate"}, "a core each");
  refused({"all_reduce", "--combine-bandwidth", "-5"}, "0 or more bytes per second");
  refused({"all_reduce", "--root", "0"}, "all_reduce has none");
  refused({"all_gather", "--op", "max"}, "all_gather does not");
  refused({"all_reduce", "--repeats", "3"}, "add --run");
  refused({"all_to_all", "--ranks", "2", "--counts", "1,2,3,4", "--bytes", "100"},
          "--bytes is left out");
  refused({"all_reduce", "--against", "tree", "--sweep"}, "leave one out");
  refused({"all_reduce", "--sweep", "--csv", "--json"}, "--csv and --json");
  EXPECT_EQ(command({"collective", "broadcast", "--root", "1"}).status, kDone);
}

TEST(CollectiveCommand, RefusesARunThatDoesNotFitBeforeItStarts) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--sweep"}, {"--rounding", "tree"}}) {
    std::vector<std::string> words = {"collective", "all_reduce", "--algorithm", "ring", "--ranks",
                                      "64",         "--bytes",    "1TiB",        "--run"};
    words.insert(words.end(), more.begin(), more.end());
    const Reply reply = command(words);
    EXPECT_EQ(reply.status, kFailed);
    EXPECT_THAT(reply.err, testing::AllOf(testing::HasSubstr("TiB together"),
                                          testing::HasSubstr(" free; a smaller array")));
    EXPECT_EQ(reply.out, "");
  }
  // Nothing is run: nothing is needed.
  EXPECT_EQ(command({"collective", "all_reduce", "--ranks", "64", "--bytes", "1TiB"}).status,
            kDone);
}

TEST(CollectiveMemory, CountsWhatAllRanksHoldAtOnce) {
  CollectiveSpec spec;
  spec.algorithm = "ring";
  spec.ranks = 4;
  spec.bytes = 1 << 20;
  const Result<Collective> made = make_collective(spec);
  ASSERT_TRUE(made);
  const std::int64_t run = bytes_of_run(*made, {});
  EXPECT_GE(run, 4 << 20);
  EXPECT_GE(bytes_of_run(*made, "tree"), run + (4 << 20));
  EXPECT_TRUE(fits_memory(*made, {}, run));
  const Result<void> short_of = fits_memory(*made, {}, run - 1);
  ASSERT_FALSE(short_of);
  EXPECT_EQ(short_of.error().kind, "memory-short");
}

TEST(CollectiveCommand, SaysWhereRanksShareCores) {
  const Reply reply = command({"collective", "all_reduce", "--ranks", "64", "--algorithm", "ring",
                               "--bytes", "4KiB", "--sweep", "--run", "--repeats", "1", "--csv"});
  if (std::thread::hardware_concurrency() >= 64) GTEST_SKIP() << "a core for every rank";
  EXPECT_THAT(reply.out, testing::HasSubstr(",true,oversubscribed\r\n"));
}

TEST(CollectiveCommand, NextTorusIsOneThatCanBe) {
  for (const char* ranks : {"2", "3", "5", "7", "13"}) {
    const Reply reply =
        command({"collective", "all_reduce", "--ranks", ranks, "--algorithm", "torus"});
    ASSERT_EQ(reply.status, kInvalid);
    const std::size_t end = reply.err.find(" would do");
    ASSERT_NE(end, std::string::npos) << reply.err;
    const std::size_t begin = reply.err.rfind(' ', end - 1) + 1;
    const std::string next = reply.err.substr(begin, end - begin);
    EXPECT_EQ(command({"collective", "all_reduce", "--ranks", next, "--algorithm", "torus"}).status,
              kDone)
        << next;
  }
}

TEST(CollectiveCommand, TakesUnevenCounts) {
  const Reply reply = command({"collective", "all_to_all", "--ranks", "2", "--counts", "1,2,3,4",
                               "--algorithm", "pairwise", "--run", "--json"});
  ASSERT_EQ(reply.status, kDone) << reply.err;
  EXPECT_EQ(reply.json()["sent_bytes"], (std::vector<std::int64_t>{8, 12}));
  EXPECT_EQ(reply.json()["correct"], true);
}

TEST(CollectiveCommand, ReadsItsSpecBack) {
  CollectiveSpec spec;
  spec.kind = CollectiveKind::kAllToAll;
  spec.algorithm = "bruck";
  spec.ranks = 2;
  spec.counts = {1, 2, 3, 4};
  spec.type = DataType::kBf16;
  spec.reduction = Reduction::kMin;
  const Result<CollectiveSpec> read = collective_spec_from_json(to_json(spec));
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(*read, spec);
  EXPECT_FALSE(collective_spec_from_json({{"name", "all_ruduce"}}));
  EXPECT_FALSE(collective_spec_from_json({{"ranks", "four"}}));
  EXPECT_FALSE(collective_request_from_json({{"repeats", 0}}));
  // A window that says no backend means cores.
  EXPECT_EQ(collective_request_from_json({{"repeats", 1}})->backend, Backend::kCpu);
  CollectiveRequest request;
  request.spec = spec;
  request.backend = Backend::kCuda;
  request.devices = "2,0";
  const Result<CollectiveRequest> sent = collective_request_from_json(to_json(request));
  ASSERT_TRUE(sent) << sent.error().text;
  EXPECT_EQ(sent->backend, Backend::kCuda);
  EXPECT_EQ(sent->devices, "2,0");
  EXPECT_FALSE(collective_request_from_json({{"backend", "tpu"}}));
  CollectiveChoice choice{spec, Topology::kTwoLevel, {2e-6, {}, 7e-6, 25e9}};
  const Result<CollectiveChoice> again = collective_choice_from_json(to_json(choice));
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_EQ(*again, choice);
  EXPECT_FALSE(collective_choice_from_json({{"latency_seconds", "fast"}}));
}

}  // namespace
}  // namespace parallelarium
