// SPDX-License-Identifier: Apache-2.0
// `plan`, `sweep` and `compare`.
#include <gmock/gmock.h>

#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::vector<std::string> small_plan(std::initializer_list<const char*> more) {
  std::vector<std::string> words = {
      "plan",          "--model", "llama3-8b",           "--machine", "dgx-h100",
      "--gpus",        "4",       "--global-batch",      "8",         "--fix",
      "micro-batch=1", "--allow", "schedules=1f1b,zb-h1"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Plan, FindsASetupThatPredictKnows) {
  const Folder folder;
  const Reply reply = command(small_plan({"--json"}));
  ASSERT_EQ(reply.status, 0) << reply.err;
  const json plan = reply.json();
  std::int64_t sum = 0;
  for (const json& count : plan.at("classes")) sum += count.get<std::int64_t>();
  EXPECT_EQ(sum, plan.at("candidates"));
  EXPECT_TRUE(plan.contains("tie_threshold"));
  const json& best = plan.at("best");
  ASSERT_FALSE(best.empty());
  for (std::size_t at = 1; at < best.size(); ++at)
    EXPECT_LE(best[at - 1].at("step").at("seconds"), best[at].at("step").at("seconds"));
  const std::string file = folder.file("best.json", best[0].at("setup").dump());
  const json again = command({"predict", "--setup", file, "--json"}).json();
  EXPECT_EQ(again.at("step").at("seconds"), best[0].at("step").at("seconds"));
  EXPECT_EQ(again.at("memory").at("needed_bytes"), best[0].at("memory").at("needed_bytes"));
  EXPECT_EQ(again.at("setup"), best[0].at("setup"));
  EXPECT_FALSE(best[0].at("why").empty());
  const json told =
      command(small_plan({"--explain", file.c_str(), "--json"})).json().at("explained");
  EXPECT_EQ(told.at("class"), "simulated");
  EXPECT_THAT(told.at("sentence").get<std::string>(), HasSubstr("no plan's takes less"));
  EXPECT_TRUE(told.at("change").is_null());  // no single change of the best is faster
  EXPECT_THAT(command(small_plan({})).out, HasSubstr("Neighbours of 1"));
}

TEST(Plan, SaysWhatWouldFitInPlaceOfWhatDoesNot) {
  const Folder folder;
  const std::string file = folder.file(
      "large.json",
      R"({"model": "llama3-8b", "machine": "dgx-h100", "mesh": {"dp": 4}, "microbatches": 2})");
  const Reply reply = command(small_plan({"--explain", file.c_str(), "--json"}));
  ASSERT_EQ(reply.status, 0) << reply.err;
  const json told = reply.json().at("explained");
  EXPECT_EQ(told.at("class"), "does_not_fit");
  const json& memory = told.at("memory");
  EXPECT_EQ(memory.at("stage"), 0);
  EXPECT_EQ(memory.at("over_bytes").get<std::int64_t>(),
            memory.at("needed_bytes").get<std::int64_t>() -
                memory.at("capacity_bytes").get<std::int64_t>());
  const json& change = told.at("change");
  EXPECT_LE(change.at("needed_bytes"), memory.at("capacity_bytes"));
  EXPECT_THAT(change.at("sentence").get<std::string>(),
              HasSubstr(change.at("change").get<std::string>()));
  const std::string fits = folder.file("fits.json", change.at("setup").dump());
  const json again = command({"predict", "--setup", fits, "--json"}).json();
  EXPECT_EQ(again.at("step").at("seconds"), change.at("seconds"));
  EXPECT_EQ(again.at("memory").at("needed_bytes"), change.at("needed_bytes"));
  EXPECT_THAT(command(small_plan({"--explain", file.c_str()})).out,
              HasSubstr("cheapest single change"));
}

TEST(Plan, SaysTheBestChangeOfWhatIsSlow) {
  const Folder folder;
  const std::string file = folder.file(
      "slow.json", R"({"model": "llama3-8b", "machine": "dgx-h100", "mesh": {"tp": 2, "dp": 2},
                       "zero": 3, "microbatches": 4, "recompute": "full"})");
  const json told =
      command(small_plan({"--explain", file.c_str(), "--json"})).json().at("explained");
  const double seconds = told.at("step").at("seconds");
  const json& change = told.at("change");
  EXPECT_LT(change.at("seconds").get<double>(), seconds);
  EXPECT_THAT(change.at("message").at("id"), "plan-faster-change");
  // It is what `predict` says, and each single change that can be typed is no faster.
  const std::string changed = folder.file("changed.json", change.at("setup").dump());
  EXPECT_EQ(command({"predict", "--setup", changed, "--json"}).json().at("step").at("seconds"),
            change.at("seconds"));
  for (const std::vector<std::string>& typed : {std::vector<std::string>{"--recompute", "none"},
                                                {"--recompute", "selective"},
                                                {"--zero", "2"},
                                                {"--zero", "1"},
                                                {"--tp", "4", "--dp", "1", "--microbatches", "8"},
                                                {"--tp", "1", "--dp", "4", "--microbatches", "2"},
                                                {"--micro-batch", "2", "--microbatches", "2"}}) {
    std::vector<std::string> words = {"predict", "--setup", file, "--json"};
    words.insert(words.end(), typed.begin(), typed.end());
    const json other = command(words).json();
    if (!other.at("memory").at("fits").get<bool>()) continue;
    EXPECT_GE(other.at("step").at("seconds").get<double>(),
              change.at("seconds").get<double>() * (1 - 1e-9))
        << typed[0] << typed[1];
  }
}

TEST(Plan, TakesGroupsCutsAndOrdersByTheirNames) {
  const auto setups = [](std::initializer_list<const char*> more) {
    const Reply reply = command(small_plan(more));
    EXPECT_EQ(reply.status, 0) << reply.err;
    std::vector<json> all;
    for (const json& plan : reply.json().at("best")) all.push_back(plan.at("setup"));
    return all;
  };
  for (const json& setup :
       setups({"--fix", "pp=2,dp=2,zero=3,zero-group=1,order=tp-cp-ep-pp-dp", "--json"})) {
    EXPECT_EQ(setup.at("zero_group"), 1);
    EXPECT_EQ(setup.at("mesh").at("order"), "tp-cp-ep-pp-dp");
  }
  for (const json& setup : setups({"--fix", "pp=2,stage-layers=17,15", "--json"}))
    EXPECT_EQ(setup.at("stage_layers"), json({17, 15}));
  for (const json& setup : setups({"--fix", "pp=4,stage-layers=balanced", "--json"}))
    EXPECT_EQ(setup.at("stage_layers"), json({8, 8, 9, 7}));
  EXPECT_EQ(command(small_plan({"--allow", "stage-layers=heavy"})).status, 2);
  EXPECT_EQ(command(small_plan({"--fix", "order=pp-first"})).status, 2);
}

TEST(Plan, AnswersNastyWishesInASentence) {
  const Folder folder;
  const auto said = [](std::initializer_list<const char*> more) {
    std::vector<std::string> words = {"plan", "--model", "llama3-8b", "--machine", "dgx-h100"};
    words.insert(words.end(), more.begin(), more.end());
    const Reply reply = command(words);
    EXPECT_EQ(reply.status, 2);
    EXPECT_EQ(reply.out, "");
    EXPECT_EQ(std::count(reply.err.begin(), reply.err.end(), '\n'), 1) << reply.err;
    return reply.err;
  };
  EXPECT_THAT(said({}), HasSubstr("--gpus"));
  EXPECT_THAT(said({"--gpus", "0", "--global-batch", "8"}), HasSubstr("1 to 131072 GPUs"));
  EXPECT_THAT(said({"--gpus", "1000000", "--global-batch", "8"}), HasSubstr("GPUs"));
  EXPECT_THAT(said({"--gpus", "8..4", "--global-batch", "8"}), HasSubstr("GPUs"));
  EXPECT_THAT(said({"--gpus", "many", "--global-batch", "8"}), HasSubstr("whole number"));
  EXPECT_THAT(said({"--gpus", "8", "--global-batch", "7", "--fix", "dp=2"}),
              HasSubstr("No combination"));
  EXPECT_THAT(said({"--gpus", "8", "--global-batch", "8", "--fix", "tq=2"}), HasSubstr("tq"));
  EXPECT_THAT(said({"--gpus", "8", "--global-batch", "8", "--allow", "tq=2"}), HasSubstr("tq"));
  EXPECT_THAT(said({"--gpus", "8", "--global-batch", "8", "--objective", "joy"}),
              HasSubstr("tokens-per-gpu"));
}

TEST(Sweep, SaysFiguresOfPredictionsAndWhyThereAreNone) {
  const Folder folder;
  const json points = command({"sweep", "--vary", "pp=1,2,3", "--show", "step,bubble.of_total",
                               "--layers", "4", "--backend", "paced", "--json"})
                          .json()
                          .at("points");
  ASSERT_EQ(points.size(), 3u);
  const json alone =
      command({"predict", "--pp", "2", "--layers", "4", "--backend", "paced", "--json"}).json();
  EXPECT_EQ(points[1].at("metrics").at("step"), alone.at("step").at("seconds"));
  EXPECT_EQ(points[1].at("metrics").at("bubble.of_total"), alone.at("bubble").at("of_total"));
  EXPECT_EQ(points[1].at("values").at("pp"), 2);
  EXPECT_THAT(points[2].at("refused").get<std::string>(), HasSubstr("PP 3 does not divide 4"));
  // DP fills the GPUs at every point.
  const json filled =
      command({"sweep", "--model", "llama3-8b", "--machine", "dgx-h100", "--gpus", "8",
               "--global-batch", "8", "--vary", "tp=1,8", "--show", "resolved.mesh.dp", "--json"})
          .json()
          .at("points");
  EXPECT_EQ(filled[0].at("metrics").at("resolved.mesh.dp"), 8);
  EXPECT_EQ(filled[1].at("metrics").at("resolved.mesh.dp"), 1);
  EXPECT_EQ(command({"sweep"}).status, 2);
  EXPECT_EQ(command({"sweep", "--vary", "nothing=1"}).status, 2);
}

TEST(Compare, TellsTheDifferenceByCauses) {
  const Folder folder;
  const std::string a =
      folder.file("a.json", R"({"model": "llama3-8b", "machine": "dgx-h100", "mesh": {"tp": 8}})");
  const std::string b =
      folder.file("b.json", R"({"model": "llama3-8b", "machine": "dgx-h100", "mesh": {"pp": 8}})");
  const json beside = command({"compare", a, b, "--json"}).json();
  ASSERT_EQ(beside.at("columns").size(), 2u);
  const auto row = [&](const std::string& metric) {
    for (const json& each : beside.at("rows"))
      if (each.at("metric") == metric) return each.at("values");
    return json();
  };
  double sum = 0;
  for (const json& cause : beside.at("causes")) sum += cause.at("seconds").get<double>();
  const json step = row("step.seconds");
  EXPECT_NEAR(sum, step[1].get<double>() - step[0].get<double>(), 1e-9);
  // A run's times do not stand beside those of another machine.
  json run = command({"predict", "--setup", a, "--json"}).json();
  run["source"] = "paced";
  run["machine"] = "Another machine";
  const std::string file = folder.file("run.json", run.dump());
  const json honest = command({"compare", a, file, "--json"}).json();
  for (const json& each : honest.at("rows"))
    if (each.at("metric") == "step.seconds") {
      EXPECT_TRUE(each.at("values")[1].is_null());
      EXPECT_THAT(each.at("why")[1].get<std::string>(), HasSubstr("rehearsal"));
    }
  EXPECT_TRUE(honest.at("causes").empty());
  EXPECT_THAT(command({"compare", "korthikanti-2022-table-5/1", "korthikanti-2022-table-5/2"}).out,
              HasSubstr("recompute"));
  EXPECT_EQ(command({"compare", a}).status, 2);
  EXPECT_EQ(command({"compare", a, "nothing"}).status, 2);
}

}  // namespace
}  // namespace parallelarium
