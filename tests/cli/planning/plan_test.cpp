// SPDX-License-Identifier: Apache-2.0
// `plan`: what it finds, and what it says of one Setup.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "engine/predict/cases/cases.h"
#include "tests/cli/planning/small_plan.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// A published row that no rate was fitted on.
struct HeldOut {
  std::string of;    // its case
  json model;        // as its Setup says it
  double ratio = 0;  // what is predicted of its step, over what was published
};

// Those of a machine that say something of the step; the first such figure counts. To predict them
// alone takes a fraction of what `cases` does.
std::vector<HeldOut> held_out_on(const std::string& machine) {
  std::vector<HeldOut> found;
  const Result<std::vector<Case>> cases = all_cases();
  for (const Case& of : cases.value())
    for (const CaseRow& row : of.rows) {
      if (row.fitted || !row.impossible.empty()) continue;
      // Other kernels may have run on the same nodes.
      const json on = row.asked.value("machine", json());
      if (on != machine && on != machine + "-flash-2") continue;
      const auto figure =
          std::find_if(row.figures.begin(), row.figures.end(), [](const CaseFigure& each) {
            return each.metric == "step_seconds" || each.metric == "tokens_per_second_per_rank" ||
                   each.metric == "mfu_causal_percent";
          });
      if (figure == row.figures.end()) continue;
      const double predicted = predict_case(row).value().values.at(
          static_cast<std::size_t>(figure - row.figures.begin()));
      found.push_back({of.name, row.asked.at("model"), predicted / figure->published});
    }
  return found;
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

// The plans to look at first stand before the table, each with what limits it and how far its step
// can be trusted: as far as published rows that no rate was fitted on are missed.
TEST(Plan, RecommendsAndSaysHowFarToTrustAStep) {
  const json plan = command(small_plan({"--json"})).json();
  const json& told = plan.at("recommended");
  ASSERT_FALSE(told.empty());
  const json& ties = plan.at("tie_source");
  const std::vector<HeldOut> rows = held_out_on(kSearchedMachine);
  ASSERT_FALSE(rows.empty());
  double missed = 0;
  for (const HeldOut& row : rows) missed += std::abs(row.ratio - 1);
  EXPECT_EQ(ties.at("held_out"), rows.size());
  EXPECT_NEAR(ties.at("error"), missed / static_cast<double>(rows.size()), 1e-12);
  const double most =
      told[0].at("step").at("seconds").get<double>() * (1 + plan.at("tie_threshold").get<double>());
  std::vector<std::string> merits;
  for (const json& each : told) {
    bool tie = true;
    for (const json& merit : each.at("merits")) {
      merits.push_back(merit);
      tie &= merit != "less-memory" && merit != "simpler";
    }
    if (tie) {
      EXPECT_LE(each.at("step").at("seconds"), most);
    } else {
      EXPECT_GT(each.at("step").at("seconds"), told[0].at("step").at("seconds"));
    }
    EXPECT_LE(each.at("memory").at("held_bytes"), plan.at("memory_limit").at("device_bytes"));
  }
  EXPECT_THAT(merits, testing::UnorderedElementsAre("fastest",
                                                    testing::AnyOf("least-memory", "less-memory"),
                                                    testing::AnyOf("simplest", "simpler")));
  EXPECT_EQ(told.size() == 3, plan.at("recommended_why").empty());
  const std::string text = command(small_plan({})).out;
  EXPECT_THAT(text, HasSubstr("Recommended"));
  EXPECT_THAT(text, HasSubstr(told[0].at("limits").get<std::string>()));
  EXPECT_THAT(text, HasSubstr(" ± "));
  EXPECT_LT(text.find("Recommended"), text.find("\nBest "));
}

// What keeps a Setup out of the search is named.
TEST(Plan, NamesTheAxisThatTheSearchDoesNotTry) {
  const Folder folder;
  const auto said = [&](const char* more, std::initializer_list<const char*> options) {
    const std::string file =
        folder.file("mine.json", std::string(R"({"model": "llama3-8b", "machine": "dgx-h200",
                     "mesh": {"dp": 2, "tp": 2}, )") +
                                     more + "}");
    std::vector<std::string> words = small_plan(options);
    words.insert(words.end(), {"--explain", file, "--json"});
    const json told = command(words).json().at("explained");
    return told.at("candidate").get<bool>() ? std::string()
                                            : told.at("sentence").get<std::string>();
  };
  EXPECT_EQ(said(R"("microbatches": 4)", {}), "");
  EXPECT_THAT(said(R"("microbatches": 4, "recompute": "selective")", {}),
              HasSubstr("recompute selective beside fused attention"));
  EXPECT_THAT(said(R"("microbatches": 2, "micro_batch": 2)", {}), HasSubstr("micro-batch 2"));
  EXPECT_THAT(said(R"("microbatches": 4)", {"--fix", "tp=4"}), HasSubstr("try TP 2"));
  EXPECT_THAT(said(R"("microbatches": 2, "micro_batch": 2, "recompute": "full")",
                   {"--fix", "recompute=none"}),
              HasSubstr("several axes"));
}

TEST(Plan, SaysWhatWouldFitInPlaceOfWhatDoesNot) {
  const Folder folder;
  const std::string file = folder.file(
      "large.json",
      R"({"model": "llama3-8b", "machine": "dgx-h200", "mesh": {"dp": 4}, "microbatches": 2})");
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
      "slow.json", R"({"model": "llama3-8b", "machine": "dgx-h200", "mesh": {"tp": 2, "dp": 2},
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

// Megatron has no zero bubble: those candidates are refused with the exporter's sentence, and the
// best is that of a search without them.
TEST(Plan, KeepsToWhatAFrameworkCanSay) {
  const Folder folder;
  const json all = command(small_plan({"--json"})).json();
  const json kept = command(small_plan({"--for", "megatron", "--json"})).json();
  json alone;
  {
    std::vector<std::string> words = small_plan({"--json"});
    words[12] = "schedules=1f1b";
    alone = command(words).json();
  }
  EXPECT_EQ(kept.at("candidates"), all.at("candidates"));
  const auto count = [](const json& plan, const char* plan_class) {
    return plan.at("classes").at(plan_class).get<std::int64_t>();
  };
  const std::int64_t others =
      all.at("candidates").get<std::int64_t>() - alone.at("candidates").get<std::int64_t>();
  EXPECT_EQ(count(kept, "refused"), count(alone, "refused") + others);
  EXPECT_GT(others, 10);
  ASSERT_FALSE(kept.at("best").empty());
  for (std::size_t at = 0; at < kept.at("best").size(); ++at)
    EXPECT_EQ(kept.at("best")[at].at("setup"), alone.at("best")[at].at("setup"));
  // 1F1B sends while it computes in a Setup, and does not in Megatron: that is no axis, and is
  // said.
  const json& line = kept.at("best")[0].at("as_written");
  const std::string written = folder.file("best.json", kept.at("best")[0].at("setup").dump());
  const std::string text = command({"export", "--as", "megatron", "--setup", written}).out;
  const std::string file_of_line = folder.file("line.sh", text);
  const json read =
      command({"import", "--as", "megatron", file_of_line, "--setup", written, "--json"}).json();
  const std::string again = folder.file("again.json", read.at("setup").dump());
  EXPECT_EQ(command({"predict", "--setup", again, "--json"}).json().at("step").at("seconds"),
            line.at("seconds"));
  std::int64_t said = 0;
  for (const json& reason : kept.at("reasons"))
    if (reason.at("sentence").get<std::string>().find("no flag for zero bubble") !=
        std::string::npos)
      said += reason.at("count").get<std::int64_t>();
  EXPECT_GT(said, 0);
  // What somebody runs today is no plan where the framework cannot say it.
  const std::string file =
      folder.file("today.json", R"({"model": "llama3-8b", "machine": "dgx-h200",
      "mesh": {"pp": 4}, "microbatches": 8, "schedule": "zb-h1"})");
  const json told =
      command(small_plan({"--for", "megatron", "--explain", file.c_str(), "--json"})).json();
  EXPECT_EQ(told.at("explained").at("class"), "refused");
  const Reply unknown = command(small_plan({"--for", "jax"}));
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("megatron"));
}

// Plans that cannot be told apart share rank 1. Those that are best by memory share none.
TEST(Plan, NumbersTheRanks) {
  const Folder folder;
  const auto plan = [](const char* objective) {
    return command({"plan", "--model", "gpt2-124m", "--machine", "dgx-h100", "--gpus", "8",
                    "--global-batch", "64", "--fix", "tp=1,pp=1,cp=1", "--objective", objective})
        .out;
  };
  const std::string by_time = plan("time");
  EXPECT_THAT(by_time, HasSubstr("\n  1 = "));
  EXPECT_THAT(by_time, Not(HasSubstr("2 = ")));
  EXPECT_THAT(plan("memory"), Not(HasSubstr("1 = ")));
}

TEST(Plan, RefusesMoreMemoryThanThereIsInASentence) {
  const Folder folder;
  const Reply refused = command({"plan", "--model", "gpt2-124m", "--machine", "dgx-h100", "--gpus",
                                 "8", "--global-batch", "64", "--memory", "1e300"});
  EXPECT_EQ(refused.status, kInvalid);
  EXPECT_THAT(refused.err, HasSubstr("more than any device has; one of DGX H100 has"));
  EXPECT_THAT(refused.err, Not(HasSubstr("inf")));
}

// The threshold of ties is made of published rows that no rate was fitted on, and `cases` says the
// same of each of them.
TEST(Plan, SaysWhichPublishedRowsTiesStandOn) {
  const Folder folder;
  const char* const machine = "hgx-b200-simumax";
  const auto plan = [](const char* of) {
    return command({"plan", "--model", "gpt2-124m", "--machine", of, "--gpus", "2",
                    "--global-batch", "4", "--fix", "micro-batch=1,pp=1", "--json"})
        .json();
  };
  double sum = 0;
  int pairs = 0;
  std::map<std::pair<std::string, json>, double> last;  // of a case and a model
  for (const HeldOut& row : held_out_on(machine)) {
    const auto [before, first] = last.try_emplace({row.of, row.model}, row.ratio);
    if (!first) {
      sum += std::abs(row.ratio / before->second - 1);
      ++pairs;
    }
    before->second = row.ratio;
  }
  ASSERT_GT(pairs, 0);
  const json told = plan(machine);
  EXPECT_NEAR(told.at("tie_threshold"), sum / pairs, 1e-9);
  const json& source = told.at("tie_source");
  EXPECT_EQ(source.at("pairs"), pairs);
  EXPECT_GT(source.at("rows").size(), static_cast<std::size_t>(pairs));
  EXPECT_THAT(source.at("sentence").get<std::string>(),
              HasSubstr(source.at("rows")[0].at("source").get<std::string>()));
  const json none = plan("hgx-mi300x");
  EXPECT_TRUE(none.at("tie_threshold").is_null());
  EXPECT_THAT(none.at("tie_source").at("sentence").get<std::string>(), HasSubstr("not known"));
}

// What somebody trains today has the figures that `predict` tells, beside the best plan's.
TEST(Plan, SetsTodayBesideTheBest) {
  const Folder folder;
  const std::string file = folder.file(
      "today.json", R"({"model": "llama3-8b", "machine": "dgx-h200", "mesh": {"tp": 2, "pp": 2},
                        "sequence_parallel": true, "microbatches": 8, "recompute": "full"})");
  const json told =
      command(small_plan({"--explain", file.c_str(), "--json"})).json().at("explained").at("plan");
  const json alone = command({"predict", "--setup", file, "--json"}).json();
  EXPECT_EQ(told.at("step").at("seconds"), alone.at("step").at("seconds"));
  EXPECT_EQ(told.at("step").at("mfu"), alone.at("step").at("mfu"));
  EXPECT_EQ(told.at("bubble").at("of_total"), alone.at("bubble").at("of_total"));
  EXPECT_EQ(told.at("memory").at("needed_bytes"), alone.at("memory").at("needed_bytes"));
  EXPECT_GT(told.at("exposed_seconds").at("tp"), 0);
  const std::string text = command(small_plan({"--explain", file.c_str()})).out;
  EXPECT_THAT(text, HasSubstr("memory, fullest stage"));
  EXPECT_THAT(text, HasSubstr("the best"));
  EXPECT_THAT(
      text, HasSubstr("today.json fits, and is none of the best that are listed. Its step takes"));
}

TEST(Plan, SaysThatASetupWasMadeForAnotherMachine) {
  const Folder folder;
  const std::string file = folder.file("other.json", R"({"model": "llama3-8b", "mesh": {"tp": 4},
      "machine": "dgx-a100-80g", "microbatches": 8})");
  EXPECT_THAT(command(small_plan({"--explain", file.c_str()})).out,
              HasSubstr("It was made for DGX A100 80 GB, and stands here on"));
  const std::string none =
      folder.file("none.json", R"({"model": "llama3-8b", "mesh": {"tp": 4}, "microbatches": 8})");
  EXPECT_THAT(command(small_plan({"--explain", none.c_str()})).out,
              Not(HasSubstr("It was made for")));
}

TEST(Plan, HasHeadingsInWords) {
  const Folder folder;
  EXPECT_THAT(command(small_plan({"--objective", "tokens-per-gpu"})).out,
              HasSubstr(" by tokens per GPU and second (predicted"));
  EXPECT_THAT(command(small_plan({"--for", "megatron"})).out,
              HasSubstr("As Megatron-LM writes plan 1"));
  const std::string one = command({"plan", "--model", "gpt-tiny", "--machine", "dgx-h100", "--gpus",
                                   "1", "--global-batch", "1", "--tokens", "1G"})
                              .out;
  EXPECT_THAT(one, HasSubstr("on 1 GPU of DGX H100, 1 sequence of"));
  EXPECT_THAT(one, HasSubstr("days on this device"));
}

}  // namespace
}  // namespace parallelarium
