// SPDX-License-Identifier: Apache-2.0
// Planning problems: what the planner finds has the names that lessons use, its rejections are what
// predictions of them say, and a student's plan is judged by figures of its own.
#include "engine/lesson/problem/problem.h"

#include <gmock/gmock.h>

#include <set>

#include "engine/lesson/teaching/report.h"
#include "engine/plan/placement/resolve.h"
#include "engine/predict/predict.h"
#include "tests/lesson/hand_in.h"

namespace parallelarium {
namespace {

using nlohmann::json;

const char* const kCapstone = "defend-your-plan";

// The Setup that the symbols before `name` tell of, as the lesson's first step has the rest.
Setup named_setup(const Lesson& lesson, const Symbols& drawn, const std::string& name) {
  parallelarium::Setup setup = settings_at(lesson, 0, drawn)->setup;
  const auto at = [&](const char* what) { return static_cast<int>(drawn.at(name + "_" + what)); };
  setup.mesh.tp = at("tp");
  setup.mesh.pp = at("pp");
  setup.mesh.dp = at("dp");
  setup.zero = at("zero");
  setup.micro_batch = at("micro_batch");
  setup.microbatches = at("microbatches");
  setup.schedule = at("interleaved") == 1 ? "interleaved" : "1f1b";
  setup.chunks = at("chunks");
  setup.recompute = at("recompute") == 1 ? Recompute::kFull : Recompute::kNone;
  setup.sequence_parallel = at("sp") == 1;
  return setup;
}

Prediction predicted(const parallelarium::Setup& setup) {
  const Result<Situation> here = situation_of(setup, Computer());
  EXPECT_TRUE(here) << here.error().text;
  Result<Prediction> prediction = predict(here->setup, here->machine, true);
  EXPECT_TRUE(prediction) << prediction.error().text;
  return std::move(*prediction);
}

class Problems : public testing::TestWithParam<int> {
 protected:
  Lesson lesson_ = shipped(kCapstone);
};

TEST(ProblemNumbers, AreManyAndEachHasAPlan) {
  const Lesson lesson = shipped(kCapstone);
  std::set<double> models, clusters, batches, rules, changes;
  const std::vector<Symbols> all = draws(lesson);
  EXPECT_GE(all.size(), 8u);
  for (const Symbols& drawn : all) {
    EXPECT_EQ(drawn.count("plan_seconds"), 1u);
    models.insert(drawn.at("llm"));
    clusters.insert(drawn.at("cluster"));
    batches.insert(drawn.at("batch"));
    rules.insert(drawn.at("rule"));
    changes.insert(drawn.at("change"));
  }
  EXPECT_EQ(models.size(), 3u);
  EXPECT_EQ(clusters.size(), 3u);
  EXPECT_EQ(batches.size(), 2u);
  EXPECT_EQ(rules.size(), 3u);
  EXPECT_EQ(changes.size(), 2u);
}

TEST_P(Problems, RejectionsAreWhatAPredictionOfEachSays) {
  const Symbols drawn = draw(lesson_, static_cast<std::uint64_t>(GetParam()));
  const parallelarium::Setup plan = named_setup(lesson_, drawn, "plan");
  const Prediction best = predicted(plan);
  EXPECT_NEAR(best.step.seconds, drawn.at("plan_seconds"), 1e-6);
  EXPECT_EQ(plan.mesh.ranks(), 24);
  EXPECT_EQ(plan.global_batch(), static_cast<std::int64_t>(drawn.at("batch")));

  // Refused: by hand, layers over stages or heads over TP leave so many.
  const parallelarium::Setup refused = named_setup(lesson_, drawn, "refused");
  EXPECT_FALSE(validate(refused).empty());
  const int stages = refused.mesh.pp * refused.chunks;
  const int left[] = {refused.model.layers % stages, refused.model.heads % refused.mesh.tp};
  const auto cause = static_cast<std::size_t>(drawn.at("refused_cause"));
  ASSERT_LE(cause, 1u);
  EXPECT_EQ(drawn.at("refused_number"), left[cause]);
  EXPECT_GT(left[cause], 0);

  // Too large: more bytes than the task gives, most of them of the cause.
  const Prediction large = predicted(named_setup(lesson_, drawn, "large"));
  std::int64_t most = 0, states = 0, activations = 0;
  for (const MemoryRow& row : large.memory)
    if (row.peak_bytes > most) {
      most = row.peak_bytes;
      states = row.bytes[0] + row.bytes[1] + row.bytes[2];
      activations = row.bytes[3];
    }
  EXPECT_NEAR(drawn.at("large_number"), static_cast<double>(most), 1);
  const double given = drawn.at("rule") == 2 ? (drawn.at("cluster") == 2 ? 56e9 : 40e9)
                                             : (drawn.at("cluster") == 2 ? 96e9 : 80e9);
  EXPECT_GT(static_cast<double>(most), given);
  EXPECT_EQ(kRejectionCauses[std::size_t(drawn.at("large_cause"))],
            states > activations ? "states" : "activations");

  // Slower: by that share, and by one axis.
  const parallelarium::Setup slow = named_setup(lesson_, drawn, "slow");
  EXPECT_NEAR(predicted(slow).step.seconds / best.step.seconds - 1, drawn.at("slow_number"), 1e-6);
  EXPECT_GT(drawn.at("slow_number"), 0.04);
}

TEST_P(Problems, AStudentsPlanIsJudgedByFiguresOfItsOwn) {
  const auto seed = static_cast<std::uint64_t>(GetParam());
  const json play = played(kCapstone, seed);
  const auto marked = [&](const json& file) {
    return report_on({write_hand_in("plan.json", file)}, shipped_lessons(), {}).hand_ins[0];
  };
  const HandIn all = marked(play);
  EXPECT_TRUE(all.faults.empty()) << all.faults[0].text;
  EXPECT_EQ(all.points_most(false) + all.points_most(true), 20);
  EXPECT_DOUBLE_EQ(all.points_given(), all.points_most(false));

  // Its edges: 10 % of memory, 3 points of bubble, 25 % of the step.
  const auto with = [&](const char* part, double factor, double more) {
    json other = play;
    json& number = other["steps"][1]["parts"][part];
    number = number.get<double>() * factor + more;
    return marked(other).points_given() - all.points_given();
  };
  EXPECT_EQ(with("memory", 1.09, 0), 0);
  EXPECT_EQ(with("memory", 1.12, 0), -2);
  EXPECT_EQ(with("memory", 0.88, 0), -2);
  EXPECT_EQ(with("bubble", 1, 0.029), 0);
  EXPECT_EQ(with("bubble", 1, 0.031), -1);
  EXPECT_EQ(with("seconds", 1.24, 0), 0);
  EXPECT_EQ(with("seconds", 1.26, 0), -1);

  // The same figures of another plan are not right, and a plan of half the GPUs is none.
  json half = play;
  half["steps"][1]["settings"]["mesh.dp"] = "1";
  EXPECT_LE(marked(half).points_given(), all.points_given() - 3);
  json silent = play;
  silent["steps"].erase(1);
  EXPECT_LE(marked(silent).points_given(), all.points_given() - 8);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Problems, testing::Values(1, 4, 7));

TEST(Alternatives, ArePickedByAnExpression) {
  const Symbols symbols = {{"kind", 1}};
  EXPECT_EQ(*picked("=kind | a | b c", symbols), "b c");
  EXPECT_EQ(*picked("=kind - 1 | a | b", symbols), "a");
  EXPECT_EQ(*picked("=2 * kind", symbols), "2");
  EXPECT_EQ(*picked("plain | text", symbols), "plain | text");
  EXPECT_EQ(picked("=kind + 1 | a | b", symbols).error().id, "lesson-alternative");
  EXPECT_FALSE(picked("=kind / 2 | a | b", symbols));
  EXPECT_EQ(*fill_in("{{kind | one | two}} of {{kind}}", symbols), "two of 1");
}

TEST(PlanProblems, ThatHaveNoPlanAreToldByTheCheck) {
  LessonCopy copy(kCapstone);
  copy.object["constraint"] = "llm == 1 && cluster == 0 && rule == 0 && batch == 48 && change == 0";
  copy.object["problems"][0]["memory_bytes"] = 1000000000;
  copy.write();
  const LessonReport report = check_lesson(copy.folder().string());
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.faults[0].field, "problems");
}

}  // namespace
}  // namespace parallelarium
