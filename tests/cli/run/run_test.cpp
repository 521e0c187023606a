// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "engine/cli/commands/command.h"
#include "engine/cli/training.h"
#include "engine/plan/placement/cores.h"
#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(Run, JsonHasTheKeysOfAPredictionAndThoseOfARun) {
  const Folder folder;
  folder.pretend_calibrated();
  const Reply answer = command(small_run({"--pp", "2", "--backend", "paced", "--json"}));
  ASSERT_EQ(answer.status, kDone) << answer.err;
  const json run = answer.json();
  for (const char* key : {"setup", "machine", "ranks", "model", "memory", "traffic", "bubble",
                          "step", "source", "losses", "gradient_norms", "predicted", "compare"})
    EXPECT_TRUE(run.contains(key)) << key;
  EXPECT_EQ(run.at("source"), "paced");
  EXPECT_EQ(run.at("backend"), "paced");
  EXPECT_GE(run.at("stretch"), 1);
  EXPECT_EQ(run.at("losses").size(), 4u);  // warm-up and timed steps
  EXPECT_EQ(run.at("gradient_norms").size(), 4u);
  // Before anything is learned every byte is about as likely.
  EXPECT_NEAR(run.at("losses").at(0), std::log(256.0), 0.5);
  const json& step = run.at("step");
  EXPECT_LE(step.at("seconds_min"), step.at("seconds"));
  EXPECT_LE(step.at("seconds"), step.at("seconds_max"));
  std::set<std::string> metrics;
  for (const json& row : run.at("compare")) {
    metrics.insert(row.at("metric"));
    const double predicted = row.at("predicted"), measured = row.at("measured");
    if (row.at("error").is_null())
      EXPECT_EQ(measured, 0) << row;
    else
      EXPECT_DOUBLE_EQ(row.at("error"), predicted / measured - 1) << row;
  }
  for (const char* metric : {"step.seconds", "bubble.of_total", "bubble.over_ideal",
                             "memory.ranks.1.peak_bytes", "step.tokens_per_second"})
    EXPECT_TRUE(metrics.count(metric)) << metric;
  // Where durations are set no share of a peak means anything.
  EXPECT_TRUE(run.at("step").at("mfu").is_null());
  for (const char* key : {"formulas", "rates"})
    EXPECT_EQ(run.at(key), run.at("predicted").at(key)) << key;
  for (const char* share : {"measured", "interpolated", "assumed", "largest_assumed"})
    EXPECT_TRUE(run.at("rates").contains(share)) << share;
  EXPECT_EQ(run.at("explain").at("ranks").size(), 2u);
  EXPECT_EQ(run.at("predicted").at("source"), "predicted");
  EXPECT_FALSE(run.contains("wall_seconds")) << "a clock's time that is not the machine's";
}

TEST(Run, BytesAreCountedAsPredicted) {
  const Folder folder;
  folder.pretend_calibrated();
  const json run =
      command(small_run({"--pp", "2", "--dp", "2", "--backend", "paced", "--json"})).json();
  ASSERT_FALSE(run.is_discarded());
  EXPECT_EQ(run.at("traffic"), run.at("predicted").at("traffic"));
  EXPECT_EQ(run.at("memory").at("ranks"), run.at("predicted").at("memory").at("ranks"));
  EXPECT_EQ(run.at("memory").at("all_ranks").size(), 4u);
}

// One unit of time: how far a rehearsal is stretched changes nothing but how long it takes.
TEST(Run, AllTimesOfARehearsalAreTheMachines) {
  const Folder folder;
  folder.pretend_calibrated();
  const json alone =
      command({"predict", "--layers", "4", "--hidden", "32", "--heads", "2", "--sequence", "16",
               "--microbatches", "4", "--pp", "2", "--backend", "paced", "--json"})
          .json();
  double least = 1;
  for (const char* wished : {"1", "2000"}) {
    const auto begin = std::chrono::steady_clock::now();
    const json run =
        command(small_run({"--pp", "2", "--backend", "paced", "--stretch", wished, "--json"}))
            .json();
    const std::chrono::duration<double> clock = std::chrono::steady_clock::now() - begin;
    ASSERT_FALSE(run.is_discarded());
    const double stretch = run.at("stretch"), step = run.at("step").at("seconds");
    EXPECT_GE(stretch, least);
    least = 2000;  // --stretch is the least
    EXPECT_EQ(run.at("predicted").at("step"), alone.at("step")) << "predictions carry no stretch";
    EXPECT_NEAR(alone.at("step").at("seconds").get<double>() / step, 1, 0.25) << wished;
    EXPECT_DOUBLE_EQ(run.at("clock_seconds"), step * stretch);
    EXPECT_GE(clock.count(), 0.9 * 4 * step * stretch) << "warm-up and timed steps";
    for (const json& row : run.at("compare")) {
      if (row.at("metric") != "step.seconds") continue;
      EXPECT_EQ(row.at("measured"), step);
    }
  }
}

TEST(Run, ARehearsalOfAnotherMachineIsInItsTime) {
  const Folder folder;
  folder.pretend_calibrated();
  const json run =
      command(small_run({"--machine", "dgx-h100", "--pp", "2", "--backend", "paced", "--json"}))
          .json();
  ASSERT_FALSE(run.is_discarded());
  const double predicted = run.at("predicted").at("step").at("seconds");
  EXPECT_LT(predicted, 0.02);
  EXPECT_NEAR(predicted / run.at("step").at("seconds").get<double>(), 1, 0.25);
  EXPECT_GT(run.at("stretch"), 1);
}

// A calibration that promises too much: the run finds out in its second step and begins again with
// a stretch that leaves the cores room.
TEST(Run, ARehearsalBeginsAgainWithTheStretchThatItsWorkNeeds) {
  const Folder folder;
  Machine boast = uncalibrated_local_machine();
  boast.bf16_products = bf16_products_here();
  boast.calibrated = "2026-11-21 for a test";
  boast.fp32_flops_per_second.value = 1e15;
  boast.memory_bytes_per_second.value = 1e13;
  boast.launch_seconds.value = 1e-9;
  ASSERT_TRUE(save_local_machine(boast).ok());
  const std::vector<std::string> sizes = {
      "--layers",   "2",   "--hidden",       "512", "--heads",   "8",     "--pp",  "2",
      "--sequence", "512", "--microbatches", "2",   "--backend", "paced", "--json"};
  std::vector<std::string> words = {"run", "--steps", "1", "--warmup", "1"};
  words.insert(words.end(), sizes.begin(), sizes.end());
  const Reply again = command(words);
  ASSERT_EQ(again.status, kDone) << again.err;
  const json run = again.json();
  EXPECT_EQ(run.at("setup").at("run").at("stretch"), "auto")
      << "the Setup is the one that was asked for";
  EXPECT_EQ(run.at("losses").size(), 2u);
  words = {"predict"};
  words.insert(words.end(), sizes.begin(), sizes.end());
  const json planned = command(words).json().at("run");
  EXPECT_GT(run.at("stretch").get<double>(), 10 * planned.at("stretch").get<double>());
}

TEST(Run, TextShowsPredictedBesideObservedAndTheSource) {
  const Folder folder;
  folder.pretend_calibrated();
  const Reply answer = command(small_run({"--pp", "2", "--backend", "paced", "--verify"}));
  EXPECT_EQ(answer.status, kDone) << answer.err;
  EXPECT_EQ(answer.err, "");  // progress is for terminals
  EXPECT_THAT(answer.out,
              testing::AllOf(HasSubstr("predicted"), HasSubstr("rehearsed"), HasSubstr("step time"),
                             HasSubstr("bubble of whole step"), HasSubstr("warm-up"),
                             HasSubstr("holds"), testing::Not(HasSubstr("MFU"))));
}

TEST(Run, VerifyProvesAgainstOneRank) {
  const Folder folder;
  folder.pretend_calibrated();
  const Reply answer =
      command(small_run({"--pp", "2", "--dp", "2", "--backend", "cpu", "--verify", "--json"}));
  ASSERT_EQ(answer.status, kDone) << answer.err;
  const json proof = answer.json().at("proof");
  EXPECT_EQ(proof.at("holds"), true);
  EXPECT_LE(proof.at("loss_difference"), 1e-6);
  EXPECT_LE(proof.at("gradient_difference"), 5e-6);
  EXPECT_EQ(proof.at("losses_one_rank").size(), 4u);
}

TEST(Run, VerifyRefusesLocalAttentionAndSaysByHowMuch) {
  const Folder folder;
  folder.pretend_calibrated();
  const Reply answer = command(small_run(
      {"--pp", "1", "--cp", "2", "--context-parallel", "local", "--backend", "cpu", "--verify"}));
  EXPECT_EQ(answer.status, kFailed);
  EXPECT_THAT(answer.err, testing::AllOf(HasSubstr("Local attention is another function"),
                                         HasSubstr("2 CP ranks"), HasSubstr("rounding explains")));
  EXPECT_THAT(answer.out, HasSubstr("DOES NOT HOLD"));
}

// How long attention took on each rank stands beside what the mask leaves it to do.
TEST(Run, OfContextParallelismTellsWorkAndTimeOfAttentionByRank) {
  const Folder folder;
  folder.pretend_calibrated();
  std::vector<std::string> asked = small_run({"--pp", "1", "--cp", "2", "--cp-split", "contiguous",
                                              "--attention", "fused", "--backend", "cpu"});
  EXPECT_THAT(command(asked).out, HasSubstr("Attention of the CP ranks: work 1 : 3, time "));
  asked.push_back("--json");
  const json context = command(asked).json().at("context");
  EXPECT_EQ(context.at("work"), json({0.5, 1.5}));
  for (const char* key : {"seconds", "predicted_seconds"}) {
    ASSERT_EQ(context.at(key).size(), 2u);
    for (const json& seconds : context.at(key)) EXPECT_GT(seconds.get<double>(), 0);
  }
  EXPECT_LT(context.at("predicted_seconds").at(0), context.at("predicted_seconds").at(1));
  EXPECT_FALSE(
      command(small_run({"--pp", "1", "--backend", "cpu", "--json"})).json().contains("context"));
}

TEST(Run, TheSameSeedGivesTheSameLossesToTheLastBit) {
  const Folder folder;
  folder.pretend_calibrated();
  const auto losses = [](const char* seed) {
    return command(small_run({"--pp", "1", "--backend", "cpu", "--seed", seed, "--json"}))
        .json()
        .at("losses");
  };
  const json first = losses("5");
  EXPECT_EQ(first, losses("5"));
  EXPECT_NE(first, losses("6"));
}

TEST(Run, WritesTheStepAsTraceAndTable) {
  const Folder folder;
  folder.pretend_calibrated();
  const std::string trace = folder.path("step.json"), csv = folder.path("step.csv");
  const Reply answer = command(small_run(
      {"--pp", "2", "--backend", "paced", "--trace", trace.c_str(), "--csv", csv.c_str()}));
  ASSERT_EQ(answer.status, kDone) << answer.err;
  const json written = json::parse(folder.read("step.json"), nullptr, false);
  EXPECT_EQ(written.value("source", ""), "paced");
  // What really happened never overlaps on a track either, and its messages are paired.
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> tracks;
  std::map<int, std::string> flows;
  for (const json& event : written.at("traceEvents")) {
    if (event.at("ph") == "X")
      tracks[{event.at("pid"), event.at("tid")}].push_back(
          {event.at("ts"), event.at("ts").get<double>() + event.at("dur").get<double>()});
    if (event.at("ph") == "s" || event.at("ph") == "f")
      flows[event.at("id")] += event.at("ph").get<std::string>();
  }
  EXPECT_FALSE(flows.empty());
  for (const auto& [id, ends] : flows) EXPECT_EQ(ends, "sf") << id;
  for (auto& [track, slices] : tracks) {
    std::sort(slices.begin(), slices.end());
    for (std::size_t at = 1; at < slices.size(); ++at)
      EXPECT_GE(slices[at].first, slices[at - 1].second - 1e-6);
  }
  EXPECT_THAT(folder.read("step.csv"), HasSubstr(",paced\n"));
}

TEST(Run, SaysOffATerminalEveryFewSecondsHowFarItIs) {
  std::ostringstream err;
  Progress progress(err, false);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(4200);
  while (std::chrono::steady_clock::now() < end) {
    progress.report(0.5, "running: step 2");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(err.str(), " 50 %  running: step 2\n");
}

TEST(Run, AnOutputThatCannotBeWrittenIsSaidBeforeTraining) {
  const Folder folder;
  folder.pretend_calibrated();
  const std::string trace = folder.path("step.json");
  const Reply answer = command(small_run(
      {"--pp", "2", "--backend", "paced", "--trace", trace.c_str(), "--csv", "/proc/none/x.csv"}));
  EXPECT_EQ(answer.status, kFailed);
  EXPECT_THAT(answer.err, HasSubstr("/proc/none/x.csv"));
  EXPECT_EQ(folder.files(), 0);
}

TEST(Run, ATextOfTheUserIsTrainedOn) {
  const Folder folder;
  folder.pretend_calibrated();
  std::string words;
  for (int line = 0; line < 400; ++line) words += "the same line again and again\n";
  const std::string text = folder.file("mine.txt", words);
  const Reply answer =
      command(small_run({"--pp", "1", "--backend", "cpu", "--text", text.c_str(), "--json"}));
  ASSERT_EQ(answer.status, kDone) << answer.err;
  const Reply tiny = command(small_run(
      {"--pp", "1", "--backend", "cpu", "--text", folder.file("tiny.txt", "ab").c_str()}));
  EXPECT_EQ(tiny.status, kInvalid);
  EXPECT_EQ(tiny.out, "");
}

// Its threads begin on one of the computer's cores, as in a container that has no more.
class OneCore {
 public:
  OneCore() {
    available_core_count();  // of the whole computer, for the tests that follow
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (std::size_t unit = 0; CPU_COUNT(&one) == 0 && unit < CPU_SETSIZE; ++unit)
      if (CPU_ISSET(unit, &before_)) CPU_SET(unit, &one);
    EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  }
  ~OneCore() { sched_setaffinity(0, sizeof before_, &before_); }
  OneCore(const OneCore&) = delete;
  OneCore& operator=(const OneCore&) = delete;

 private:
  cpu_set_t before_{};
};

// Measured on one core alone: that takes the least time, and what is measured is another test's.
TEST(Run, GoesOnWithACalibrationThatCannotBeStored) {
  const Folder folder;
  const OneCore alone;
  setenv("XDG_DATA_HOME", "/proc/none", 1);
  const Reply answer = command(small_run({"--pp", "1", "--backend", "cpu", "--json"}));
  ASSERT_EQ(answer.status, kDone) << answer.err;
  EXPECT_THAT(answer.err, HasSubstr("/proc/none"));
  EXPECT_FALSE(
      answer.json().at("predicted").at("machine").at("calibrated").get<std::string>().empty());
}

TEST(Run, ADifferenceIsThatOfTheWindowOrSaysWhyThereIsNone) {
  const Folder folder;
  folder.pretend_calibrated();
  const auto line_of = [](const std::string& text, const std::string& title) {
    const std::size_t at = text.find("  " + title);
    return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
  };
  // Assumed rates are far from those of any computer, so there is a difference to tell.
  const Reply measured = command(small_run({"--pp", "1", "--backend", "cpu"}));
  ASSERT_EQ(measured.status, kDone) << measured.err;
  const Reply paced = command(small_run({"--pp", "2", "--backend", "paced"}));
  ASSERT_EQ(paced.status, kDone) << paced.err;
  for (const char* title : {"step time", "compute, busiest rank", "throughput"}) {
    EXPECT_THAT(line_of(measured.out, title), testing::EndsWith("%")) << measured.out;
    EXPECT_THAT(line_of(paced.out, title), testing::EndsWith(" set")) << paced.out;
  }
  // The step and the throughput of one run differ in opposite directions.
  const auto sign = [&](const char* title) {
    return line_of(measured.out, title).find('+') != std::string::npos;
  };
  EXPECT_NE(sign("step time"), sign("throughput")) << measured.out;
}

TEST(Run, TakesAFileOfOrdersByAPlainName) {
  const Folder folder;
  folder.pretend_calibrated();
  folder.file("o6", "F0 F1 B0 B1\nF0 B0 F1 B1\n");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path(""));
  const std::vector<std::string> setup = {"--pp", "2", "--microbatches", "2", "--schedule", "o6"};
  for (const char* name : {"predict", "run"}) {
    std::vector<std::string> words = {name, "--steps", "1"};
    words.insert(words.end(), setup.begin(), setup.end());
    const Reply answer = command(words);
    EXPECT_EQ(answer.status, kDone) << answer.err;
  }
  EXPECT_EQ(command({"schedule", "o6"}).status, kDone);
  EXPECT_EQ(command({"predict", "--schedule", "o7"}).status, kInvalid);
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace parallelarium
