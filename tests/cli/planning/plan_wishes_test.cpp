// SPDX-License-Identifier: Apache-2.0
// `plan`: limits, tokens, wishes that cannot be, and questions about its answer.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/cli/planning/small_plan.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// As `predict --tokens` has them.
TEST(Plan, SaysWhatAWholeTrainingTakes) {
  const Folder folder;
  const json plan =
      command(small_plan({"--tokens", "15T", "--price", "2.5", "--json"})).json().at("best").at(0);
  const double seconds = 15e12 / plan.at("step").at("tokens_per_second").get<double>();
  EXPECT_NEAR(plan.at("days").get<double>(), seconds / 86'400, 1e-6 * seconds / 86'400);
  EXPECT_NEAR(plan.at("gpu_hours").get<double>(), seconds / 900, 1e-6 * seconds);
  EXPECT_NEAR(plan.at("cost").get<double>(), 2.5 * plan.at("gpu_hours").get<double>(), 1);
  const std::string file = folder.file("best.json", plan.at("setup").dump());
  const json predicted =
      command({"predict", "--setup", file.c_str(), "--tokens", "15T", "--json"}).json();
  EXPECT_NEAR(predicted.at("days").get<double>(), plan.at("days").get<double>(),
              1e-6 * plan.at("days").get<double>());
  const std::string text = command(small_plan({"--tokens", "15T", "--top", "2"})).out;
  EXPECT_THAT(text, HasSubstr("Plan 1: 15.0 T tokens take "));
  EXPECT_THAT(text, HasSubstr("Plan 2: 15.0 T tokens take "));
  const json all = command(small_plan({"--tokens", "15T", "--price", "2.5", "--json"})).json();
  for (const char* plans : {"best", "pareto"})
    for (const json& each : all.at(plans))
      for (const char* key : {"days", "gpu_hours", "cost"}) EXPECT_GT(each.at(key), 0) << plans;
  EXPECT_EQ(command(small_plan({"--price", "2"})).status, 2);
}

// Every reason is told to its end, with the change that would make its example fit.
TEST(Plan, TellsReasonsWhole) {
  const json answer = command(small_plan({"--json"})).json();
  std::string text;  // in one line
  for (const char letter : command(small_plan({})).out)
    if (letter != ' ' && letter != '\n') text += letter;
  int changes = 0;
  for (const json& reason : answer.at("reasons")) {
    if (reason.at("class") == "bounded") continue;
    std::string said = reason.at("sentence");
    if (reason.contains("change") && !reason.at("change").is_null()) {
      said += reason.at("change").at("sentence").get<std::string>();
      ++changes;
    }
    std::erase(said, ' ');
    EXPECT_THAT(text, HasSubstr(said));
  }
  EXPECT_GT(changes, 0);
}

TEST(Plan, RefusesOptionsThatContradictEachOther) {
  EXPECT_THAT(command(small_plan({"--fix", "tp=2", "--allow", "tp=4"})).err,
              HasSubstr("tp is fixed to 2"));
  EXPECT_THAT(command(small_plan({"--fix", "tp=2", "--fix", "tp=4"})).err,
              HasSubstr("cannot be fixed to both 2 and 4"));
  EXPECT_THAT(command(small_plan({"--allow", "tp="})).err, HasSubstr("names no value"));
  for (const auto& [fixed, said] :
       {std::pair("machine=dgx-a100-80g", "--machine says dgx-h200, and --fix machine says"),
        {"model=gpt2-124m", "leave one out"},
        {"gpus=4", "write --gpus 4 in place of it"},
        {"dropout=0,dropout=0.1", "--fix dropout says 0, and --fix dropout says 0.1"}}) {
    const Reply reply = command(small_plan({"--fix", fixed}));
    EXPECT_EQ(reply.status, 2) << fixed;
    EXPECT_THAT(reply.err, HasSubstr(said));
  }
  EXPECT_EQ(command(small_plan({"--fix", "machine=dgx-h200", "--top", "1"})).status, 0);
  EXPECT_THAT(command(small_plan({"--memory", "0"})).err, HasSubstr("above 0, not 0"));
  const std::vector<std::string> down = {"plan",      "--model",        "llama3-8b",
                                         "--machine", "dgx-h100",       "--gpus",
                                         "16..8",     "--global-batch", "8"};
  EXPECT_THAT(command(down).err, HasSubstr("A range of GPUs goes up: 8..16"));
  // The Setup that is asked about is read before the search begins.
  EXPECT_EQ(command(small_plan({"--explain", "/nowhere/at-all.json"})).status, 2);
}

// A Setup of other GPUs is told about, and is no candidate.
TEST(Plan, SaysThatASetupIsNoCandidate) {
  const Folder folder;
  json setup = command(small_plan({"--json"})).json().at("best").at(0).at("setup");
  setup["mesh"]["dp"] = setup["mesh"]["dp"].get<int>() * 2;
  const std::string file = folder.file("larger.json", setup.dump());
  const json told =
      command(small_plan({"--explain", file.c_str(), "--json"})).json().at("explained");
  EXPECT_EQ(told.at("candidate"), false);
  EXPECT_THAT(told.at("sentence").get<std::string>(), HasSubstr("it has 8 GPUs, and the search 4"));
  // Nor is one that cannot be.
  setup["mesh"]["tp"] = 7;
  const std::string wrong = folder.file("wrong.json", setup.dump());
  const json refused =
      command(small_plan({"--explain", wrong.c_str(), "--json"})).json().at("explained");
  EXPECT_EQ(refused.at("class"), "refused");
  EXPECT_EQ(refused.at("candidate"), false);
}

// Rules of thumb stand beside the plans, with what they cost by the search itself.
TEST(Plan, TellsRulesOfThumb) {
  const Folder folder;
  const json plan = command(small_plan({"--top", "1", "--json"})).json();
  const double best = plan.at("best")[0].at("step").at("seconds").get<double>();
  ASSERT_EQ(plan.at("rules").size(), 7u);
  for (const json& rule : plan.at("rules")) {
    EXPECT_THAT(rule.at("source").get<std::string>(), testing::Not(testing::IsEmpty()));
    if (rule.at("id") == "critical-batch") {
      EXPECT_TRUE(rule.at("setup").is_null());
      EXPECT_GT(rule.at("critical_batch").at("tokens").get<double>(), 1e6);
      continue;
    }
    if (rule.at("holds")) {
      EXPECT_EQ(rule.at("seconds"), 0);
    }
    ASSERT_EQ(rule.at("setup").is_null(), rule.at("seconds").is_null());
    if (!rule.at("setup").is_null()) {
      const std::string kept = folder.file("kept.json", rule.at("setup").dump());
      const json predicted = command({"predict", "--setup", kept.c_str(), "--json"}).json();
      EXPECT_NEAR(predicted.at("step").at("seconds").get<double>() - best,
                  rule.at("seconds").get<double>(), 1e-9);
    }
    if (rule.at("id") != "no-full-recompute" || rule.at("seconds").is_null()) continue;
    const json fixed =
        command(small_plan({"--top", "1", "--fix", "recompute=none", "--json"})).json();
    EXPECT_NEAR(rule.at("seconds").get<double>(),
                fixed.at("best")[0].at("step").at("seconds").get<double>() - best, 1e-12);
  }
  EXPECT_THAT(command(small_plan({})).out, HasSubstr("Rules of thumb\n  TP stays inside a node: "));
}

// A limit of one's own is no limit of the device.
TEST(Plan, SaysWhoseLimitIsExceeded) {
  const Folder folder;
  const json limited = command(small_plan({"--memory", "40", "--json"})).json();
  for (const json& plan : limited.at("best")) {
    EXPECT_EQ(plan.at("memory").at("capacity_bytes"), std::int64_t{40} << 30);
    EXPECT_LE(plan.at("memory").at("needed_bytes"), std::int64_t{40} << 30);
  }
  const auto sentences = [](const json& plan) {
    std::string all;
    for (const json& reason : plan.at("reasons"))
      if (reason.at("class") == "does_not_fit")
        all += reason.at("sentence").get<std::string>() + "\n";
    return all;
  };
  EXPECT_THAT(sentences(limited), HasSubstr("the limit that was set, 40.0 GiB of a device's"));
  EXPECT_THAT(sentences(limited), testing::Not(HasSubstr("more than a device has")));
  EXPECT_THAT(sentences(command(small_plan({"--json"})).json()),
              HasSubstr("more than a device has"));
  EXPECT_EQ(command(small_plan({"--memory", "-3"})).status, 2);
  // More than a device has is no limit at all.
  const Reply more = command(small_plan({"--memory", "200", "--json"}));
  EXPECT_EQ(more.status, 2);
  EXPECT_THAT(more.err + more.out, HasSubstr("200 GiB is more than a device of"));
  EXPECT_EQ(command(small_plan({"--memory", "131", "--top", "1"})).status, 0);
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

// What a value of an axis costs is what a search with that value fixed says.
TEST(Plan, SaysWhyNotAValueOfAnAxis) {
  const Reply reply = command(small_plan({"--why", "tp=4", "--why", "pp=3", "--json"}));
  ASSERT_EQ(reply.status, 0) << reply.err;
  const json plan = reply.json();
  const json& told = plan.at("why_not");
  ASSERT_EQ(told.size(), 2u);
  const json fixed = command(small_plan({"--fix", "tp=4", "--json"})).json();
  EXPECT_EQ(told[0].at("plan").at("setup"), fixed.at("best")[0].at("setup"));
  EXPECT_EQ(told[0].at("candidates"), fixed.at("candidates"));
  const double best = plan.at("best")[0].at("step").at("seconds");
  EXPECT_NEAR(told[0].at("seconds").get<double>(),
              fixed.at("best")[0].at("step").at("seconds").get<double>() - best, 1e-12);
  EXPECT_EQ(told[1].at("candidates"), 0);
  EXPECT_TRUE(told[1].at("plan").is_null());
  EXPECT_THAT(told[1].at("sentence").get<std::string>(), HasSubstr("No candidate has PP 3"));
  EXPECT_THAT(command(small_plan({"--why", "tp=4"})).out, HasSubstr("Why not tp 4? "));
  EXPECT_EQ(command(small_plan({"--why", "colour=4"})).status, 2);
  // No search comes before what cannot be.
  const Reply none = command(small_plan({"--why", "tp=0"}));
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, testing::Not(HasSubstr("Simulating")));
  EXPECT_EQ(command(small_plan({"--why", "tp"})).status, 2);
  EXPECT_THAT(command(small_plan({"--allow", "ep=1,2"})).err, HasSubstr("not for this model"));
}

// Every plan of the front says by how much it is slower; the tie says how many it has, and the
// limit what it counts.
TEST(Plan, SaysWhyEachPlanOfTheFrontIsNotTheFastest) {
  const json plan = command(small_plan({"--top", "2", "--memory", "70", "--json"})).json();
  const json& best = plan.at("best")[0];
  const double seconds = best.at("step").at("seconds");
  int others = 0;
  for (const json& other : plan.at("pareto")) {
    double parts = 0;
    for (const char* key : {"parts_seconds", "exposed_seconds"})
      for (const json& part : other.at(key)) parts += part.get<double>();
    EXPECT_NEAR(parts, other.at("step").at("seconds").get<double>(), 1e-6);
    if (other.at("setup") == best.at("setup")) continue;
    ++others;
    ASSERT_EQ(other.at("why").size(), 1u);
    EXPECT_NEAR(other.at("why")[0].at("seconds").get<double>(),
                other.at("step").at("seconds").get<double>() - seconds, 1e-12);
    EXPECT_THAT(other.at("why")[0].at("sentence").get<std::string>(), HasSubstr("longer"));
  }
  EXPECT_GT(others, 0);
  const double most = seconds * (1 + plan.at("tie_threshold").get<double>());
  std::int64_t tied = 0;
  for (const json& point : plan.at("points")) tied += point.at("seconds").get<double>() <= most;
  EXPECT_EQ(plan.at("tie_source").at("plans"), tied);
  const json& limit = plan.at("memory_limit");
  EXPECT_EQ(limit.at("capacity_bytes").get<std::int64_t>(), std::int64_t{70} << 30);
  EXPECT_EQ(limit.at("device_bytes").get<std::int64_t>(), 141'000'000'000);
  EXPECT_THAT(limit.at("sentence").get<std::string>(), HasSubstr("70.0 GiB"));
  EXPECT_THAT(command(small_plan({"--top", "2"})).out, HasSubstr("CUDA context"));
}

}  // namespace
}  // namespace parallelarium
