// SPDX-License-Identifier: Apache-2.0
// Planning problems: what the planner finds has the names that lessons use, its rejections are what
// predictions of them say, and a student's plan is judged by figures of its own.
#include "engine/lesson/problem/problem.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "engine/lesson/play.h"
#include "engine/lesson/teaching/grading/report.h"
#include "engine/plan/placement/resolve.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/planner/search.h"
#include "engine/predict/predict.h"
#include "tests/lesson/teaching/hand_in.h"

namespace parallelarium {
namespace {

using nlohmann::json;

const char* const kCapstone = "defend-your-plan";

// One for all cases of the process, since a lesson remembers the plans that it has searched for.
const Lesson& capstone() {
  static const Lesson lesson = shipped(kCapstone);
  return lesson;
}

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
  setup.schedule = std::string(kScheduleRules.at(std::size_t(at("schedule"))).name);
  setup.chunks = at("chunks");
  setup.recompute =
      std::array{Recompute::kNone, Recompute::kSelective, Recompute::kFull}[at("recompute")];
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
  const Lesson& lesson_ = capstone();
};

// The table of the task says of machine and model what the Setup has.
void expect_the_facts(const Symbols& drawn) {
  const Settings start = *settings_at(capstone(), 0, drawn);
  const Result<Situation> here = situation_of(start.setup, Computer());
  ASSERT_TRUE(here) << here.error().text;
  const Machine& machine = here->machine;
  const Model& model = here->setup.model;
  Context context;
  context.settings = start;
  context.drawn = drawn;
  const Result<std::string> text =
      fill_in(capstone().text("en").steps.at("the-task").body, context.symbols());
  ASSERT_TRUE(text) << text.error().text;
  const auto rate = [](double of) { return fmt::format("{:g}", of / 1e9); };
  EXPECT_THAT(*text, testing::HasSubstr(rate(machine.intra_node.bytes_per_second.value) + " and " +
                                        rate(machine.inter_node.bytes_per_second.value) + " GB/s"));
  EXPECT_THAT(*text,
              testing::HasSubstr(fmt::format("| {:g} GB", machine.memory_bytes.value / 1e9)));
  EXPECT_THAT(*text, testing::HasSubstr(model.mlp == Mlp::kSwiglu ? "SwiGLU" : "GELU"));
  EXPECT_THAT(*text, testing::HasSubstr(model.tied ? "head shared" : "head apart"));
  EXPECT_THAT(*text, testing::HasSubstr(
                         fmt::format("{}, {}, {} |", model.layers, model.hidden, model.ffn)));
  EXPECT_TRUE(here->setup.overlap_gradients);
  EXPECT_TRUE(here->setup.stage_layers.empty());
}

// That each has a plan is told by the check of the shipped course (check_test.cpp).
TEST(ProblemNumbers, AreManyAndTheTaskTellsTheFactsOfEach) {
  std::set<Symbols> all;
  for (std::uint64_t seed = 0; seed < 200; ++seed) all.insert(draw_numbers(capstone(), seed));
  EXPECT_GE(all.size(), 8u);
  std::set<double> models, clusters, batches, rules;
  std::map<std::pair<double, double>, int> changes;  // by change and cluster
  for (const Symbols& drawn : all) {
    expect_the_facts(drawn);
    models.insert(drawn.at("llm"));
    clusters.insert(drawn.at("cluster"));
    batches.insert(drawn.at("batch"));
    rules.insert(drawn.at("rule"));
    ++changes[{drawn.at("change"), drawn.at("cluster")}];
  }
  EXPECT_EQ(models.size(), 3u);
  EXPECT_EQ(clusters.size(), 3u);
  EXPECT_EQ(batches.size(), 2u);
  EXPECT_EQ(rules.size(), 3u);
  // A lost node and a slow network come about equally often, on every cluster.
  EXPECT_EQ(changes.size(), 6u);
  int of_change[2] = {};
  for (const auto& [which, count] : changes) of_change[which.first == 1] += count;
  EXPECT_LE(std::max(of_change[0], of_change[1]), 1.5 * std::min(of_change[0], of_change[1]));
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
  const int stages = stages_of(refused);
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

// What the lesson lets a student set and commit, tried one by one: every schedule that the window
// offers, on the meshes and with the sharings that are likely to pay.
TEST_P(Problems, NoPlanThatAStudentMayChooseBeatsTheBest) {
  const Symbols drawn = draw(lesson_, static_cast<std::uint64_t>(GetParam()));
  const parallelarium::Setup start = settings_at(lesson_, 1, drawn)->setup;
  const Machine machine = situation_of(start, Computer())->machine;
  const auto batch = static_cast<int>(drawn.at("batch")), rule = static_cast<int>(drawn.at("rule"));
  const double device_bytes = drawn.at("cluster") == 2 ? 96e9 : 80e9;
  const double most_bytes = device_bytes - (rule == 2 ? 40e9 : 0);
  const std::vector<int> shared = rule == 0 ? std::vector{1} : std::vector{1, 3};
  int tried = 0;
  const auto try_one = [&](parallelarium::Setup setup, const ScheduleRule& schedule) {
    const int replicas = setup.mesh.dp * setup.micro_batch;
    if (setup.mesh.ranks() != 24 || batch % replicas != 0 || (rule == 1 && setup.mesh.dp > 4))
      return;
    setup.schedule = std::string(schedule.name);
    setup.chunks = schedule.chunks == 0 ? 2 : 1;
    setup.microbatches = batch / replicas;
    if (!validate(setup).empty()) return;
    const Result<Tried> one = try_setup(setup, machine, false);
    if (!one) return;
    ++tried;
    if (static_cast<double>(one->plan.needed_bytes) > most_bytes) return;
    EXPECT_GE(one->plan.step.seconds, drawn.at("plan_seconds") * (1 - 1e-6))
        << schedule.name << " TP " << setup.mesh.tp << " PP " << setup.mesh.pp << " ZeRO "
        << setup.zero << " micro-batch " << setup.micro_batch << " recompute "
        << (setup.recompute == Recompute::kFull);
  };
  for (const int tp : {1, 2, 4, 8})
    for (const int pp : {1, 2, 3, 4, 6})
      for (const int zero : shared)
        for (const Recompute recompute : {Recompute::kNone, Recompute::kFull})
          for (const ScheduleRule& schedule : kScheduleRules) {
            parallelarium::Setup setup = start;
            setup.mesh.tp = tp;
            setup.mesh.pp = pp;
            setup.mesh.dp = 24 / (tp * pp);
            setup.sequence_parallel = tp > 1;
            setup.zero = zero;
            setup.recompute = recompute;
            setup.micro_batch = 1;
            try_one(setup, schedule);
          }
  EXPECT_GT(tried, 50);
}

// Conditions name all ranks and the whole batch, whatever else is set.
TEST(Conditions, OfASetupKnowItsRanksAndItsBatch) {
  Context context;
  context.settings.setup.mesh.dp = 3;
  context.settings.setup.mesh.tp = 2;
  context.settings.setup.micro_batch = 2;
  context.settings.setup.microbatches = 5;
  Step step;
  step.kind = StepKind::kGoal;
  Check ranks, batch;
  ranks.of = batch.of = "setup";
  ranks.op = batch.op = "==";
  ranks.key = "ranks";
  ranks.value = "6";
  batch.key = "global_batch";
  batch.value = "30";
  step.checks = {ranks, batch};
  const Result<Judgement> judged = judge(step, {}, context);
  ASSERT_TRUE(judged) << judged.error().text;
  EXPECT_EQ(judged->verdict, Verdict::kRight);
}

// Whatever schedule a student has chosen, the small copy is one that can be.
TEST(SmallCopies, KeepFewMicrobatchesThatTheScheduleTakes) {
  const Lesson& lesson = capstone();
  const Symbols drawn = draw(lesson, 1);
  const Step& copies = *lesson.find("a-small-copy");
  int made = 0;
  for (const ScheduleRule& rule : kScheduleRules) {
    Settings plan = *settings_at(lesson, 1, drawn);
    plan.setup.mesh.tp = 2;
    plan.setup.mesh.pp = 4;
    plan.setup.mesh.dp = 3;
    plan.setup.schedule = std::string(rule.name);
    plan.setup.chunks = rule.chunks == 0 ? 2 : 1;
    plan.setup.microbatches = 24;
    if (!validate(plan.setup).empty()) continue;
    const Result<Settings> copy = entered(copies, plan, drawn);
    ASSERT_TRUE(copy) << rule.name << ": " << copy.error().text;
    EXPECT_TRUE(validate(copy->setup).empty()) << rule.name;
    EXPECT_GE(copy->setup.microbatches, 4) << rule.name;
    EXPECT_LE(copy->setup.microbatches, 2 * copy->setup.mesh.pp + 2) << rule.name;
    ++made;
  }
  EXPECT_GT(made, 8);
}

TEST_P(Problems, AStudentsPlanIsJudgedByFiguresOfItsOwn) {
  const auto seed = static_cast<std::uint64_t>(GetParam());
  const json play = played(kCapstone, seed);
  std::vector<std::string> files = {write_hand_in("plan.json", play)};
  const auto add = [&](const json& file) {
    files.push_back(write_hand_in(fmt::format("plan{}.json", files.size()), file));
  };

  // Its edges: 10 % of memory, 3 points of bubble, 25 % of the step.
  struct Edge {
    const char* part;
    double factor, more, points;
  };
  const Edge edges[] = {{"memory", 1.09, 0, 0},  {"memory", 1.12, 0, -2},  {"memory", 0.88, 0, -2},
                        {"bubble", 1, 0.029, 0}, {"bubble", 1, 0.031, -1}, {"seconds", 1.24, 0, 0},
                        {"seconds", 1.26, 0, -1}};
  for (const Edge& edge : edges) {
    json other = play;
    json& number = other["steps"][1]["parts"][edge.part];
    number = number.get<double>() * edge.factor + edge.more;
    add(other);
  }
  json half = play;
  half["steps"][1]["settings"]["mesh.dp"] = "1";
  add(half);
  json silent = play;
  silent["steps"].erase(1);
  add(silent);

  // All at once, so that the best plan is searched for once.
  const std::vector<HandIn> marked = report_on(files, shipped_lessons(), {}).hand_ins;
  ASSERT_EQ(marked.size(), files.size());
  const HandIn& all = marked[0];
  EXPECT_TRUE(all.faults.empty()) << all.faults[0].text;
  EXPECT_EQ(all.points_most(false) + all.points_most(true), 20);
  EXPECT_DOUBLE_EQ(all.points_given(), all.points_most(false));
  for (std::size_t at = 0; at < std::size(edges); ++at)
    EXPECT_EQ(marked[1 + at].points_given() - all.points_given(), edges[at].points)
        << edges[at].part << " times " << edges[at].factor << " plus " << edges[at].more;
  // The same figures of another plan are not right, and a plan of half the GPUs is none.
  EXPECT_LE(marked[marked.size() - 2].points_given(), all.points_given() - 3);
  EXPECT_LE(marked.back().points_given(), all.points_given() - 8);
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
