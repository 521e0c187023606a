// SPDX-License-Identifier: Apache-2.0
// Collectives in lessons: settings, figures, symbols, checks on what is predicted and on runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/lesson/check/check.h"
#include "engine/lesson/play.h"
#include "tests/lesson/lesson_copy.h"
#include "tests/lesson/teaching/hand_in.h"

namespace parallelarium {
namespace {

const char* const kRing = "why-the-ring-wins";

std::size_t index_of(const Lesson& lesson, const std::string& step) {
  return static_cast<std::size_t>(lesson.find(step) - lesson.steps.data());
}

CollectivePlan planned(const CollectiveChoice& choice) {
  Result<CollectivePlan> plan = plan_collective(choice, this_computer());
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().text);
  return std::move(*plan);
}

// A run that sends exactly what is predicted.
CollectiveObservation as_planned(const CollectivePlan& plan) {
  CollectiveObservation seen;
  seen.seconds = plan.cost.seconds;
  seen.bus_bandwidth = plan.cost.bus_bandwidth;
  seen.correct = true;
  seen.sent_bytes = plan.cost.sent_bytes;
  seen.received_bytes = plan.cost.received_bytes;
  return seen;
}

Context context_at_step(const Lesson& lesson, const std::string& step) {
  Context context;
  context.drawn = draw(lesson, 7);
  const Result<Settings> settings =
      settings_at(lesson, index_of(lesson, step), context.drawn, true);
  EXPECT_TRUE(settings);
  context.settings = *settings;
  context.collective_predicted = facts_of(planned(settings->collective));
  return context;
}

TEST(LessonCollective, SettingsFollowTheSteps) {
  const Lesson lesson = shipped(kRing);
  const auto algorithm = [&](const std::string& step, bool revealed) {
    const Result<Settings> settings =
        settings_at(lesson, index_of(lesson, step), draw(lesson, 7), revealed);
    EXPECT_TRUE(settings);
    EXPECT_EQ(settings->collective.spec.ranks, 8);
    EXPECT_EQ(settings->setup, default_setup()) << "nothing of the training step is set";
    return settings->collective.spec.algorithm;
  };
  EXPECT_EQ(algorithm("round-the-ring", false), "direct");
  EXPECT_EQ(algorithm("round-the-ring", true), "ring");
  EXPECT_EQ(algorithm("through-one-rank", true), "root");
  EXPECT_EQ(algorithm("take-away", true), "ring");
}

TEST(LessonCollective, FieldsTakeNumbersWordsAndExpressions) {
  const auto with = [](const Fields& fields) {
    return with_fields({default_setup(), {}}, fields, {{"many", 12}});
  };
  const Result<Settings> settings = with({{"collective.name", "all_to_all"},
                                          {"collective.algorithm", "bruck"},
                                          {"collective.ranks", "=many + 1"},
                                          {"collective.bytes", "4096"},
                                          {"collective.type", "bfloat16"},
                                          {"collective.topology", "torus"},
                                          {"microbatches", "=many"}});
  ASSERT_TRUE(settings) << settings.error().text;
  EXPECT_EQ(settings->collective.spec.kind, CollectiveKind::kAllToAll);
  EXPECT_EQ(settings->collective.spec.ranks, 13);
  EXPECT_EQ(settings->collective.spec.type, DataType::kBf16);
  EXPECT_EQ(settings->collective.topology, Topology::kTorus);
  EXPECT_EQ(settings->setup.microbatches, 12);
  for (const auto& [key, value] : {std::pair{"collective.gears", "5"},
                                   {"collective.ranks", "many"},
                                   {"collective.ranks", "2.5"},
                                   {"collective.name", "all_hands"},
                                   {"collective.topology", "moebius"},
                                   {"collective.type", "int7"}})
    EXPECT_FALSE(with({{key, value}})) << key << value;
  EXPECT_THAT(with({{"collective.gears", "5"}}).error().text,
              testing::HasSubstr("collective.algorithm"));
}

TEST(LessonCollective, SymbolsGiveTheClosedFormOfTheRing) {
  for (const int ranks : {2, 3, 7, 16}) {
    CollectiveChoice choice;
    choice.topology = Topology::kSwitch;
    choice.spec.ranks = ranks;
    choice.spec.bytes = 840 * ranks;
    const Result<double> seconds =
        evaluate("2 * (n - 1) * alpha + 2 * (n - 1) / n * S * beta", symbols_of(choice));
    ASSERT_TRUE(seconds);
    EXPECT_NEAR(*seconds, planned(choice).cost.seconds, 1e-9) << ranks;
  }
}

TEST(LessonCollective, FiguresAreThoseOfThePlan) {
  const CollectivePlan plan = planned({});
  Context context;
  context.collective_predicted = facts_of(plan);
  context.collective_observed = facts_of(as_planned(plan), plan);
  EXPECT_EQ(context.predicted_figure("collective.steps"), 6);
  EXPECT_EQ(context.observed_figure("collective.steps"), 6);
  EXPECT_EQ(context.predicted_figure("collective.sent_bytes.*"), 6 << 20);
  EXPECT_EQ(context.observed_figure("collective.sent_bytes.0"), 6 << 20);
  EXPECT_EQ(context.observed_figure("collective.correct"), 1);
  EXPECT_EQ(context.predicted_figure("collective.colour"), std::nullopt);
  EXPECT_EQ(context.predicted_figure("seconds"), std::nullopt) << "of the training step";
}

TEST(LessonCollective, RunsAreTriedAgainUntilTheyShowWhatIsClaimed) {
  const Lesson lesson = shipped(kRing);
  const Step& step = *lesson.find("run-the-ring");
  EXPECT_TRUE(step.runs_collective());
  Context context = context_at_step(lesson, "run-the-ring");
  const CollectivePlan plan = planned(context.settings.collective);
  const auto judged = [&] {
    const Result<Judgement> judgement = judge(step, {}, context);
    EXPECT_TRUE(judgement);
    return *judgement;
  };
  EXPECT_EQ(judged().verdict, Verdict::kAgain);
  EXPECT_EQ(judged().reasons.at(0).kind, "lesson-no-run");
  CollectiveObservation seen = as_planned(plan);
  context.collective_observed = facts_of(seen, plan);
  EXPECT_EQ(judged().verdict, Verdict::kRight);
  seen.sent_bytes[3] += 4;
  context.collective_observed = facts_of(seen, plan);
  EXPECT_EQ(judged().verdict, Verdict::kAgain);
  seen = as_planned(plan);
  seen.correct = false;
  context.collective_observed = facts_of(seen, plan);
  EXPECT_EQ(judged().verdict, Verdict::kAgain);
}

TEST(LessonCollective, OversubscribedTimesSayNothing) {
  Step step;
  step.kind = StepKind::kRun;
  step.checks = {{"collective-run", "bus_bandwidth", ">", "0", {}, false}};
  const CollectivePlan plan = planned({});
  CollectiveObservation seen = as_planned(plan);
  Context context;
  context.collective_predicted = facts_of(plan);
  context.collective_observed = facts_of(seen, plan);
  EXPECT_EQ(judge(step, {}, context)->verdict, Verdict::kRight);
  seen.source = Source::kOversubscribed;
  context.collective_observed = facts_of(seen, plan);
  const Result<Judgement> judgement = judge(step, {}, context);
  EXPECT_EQ(judgement->verdict, Verdict::kAgain);
  ASSERT_EQ(judgement->reasons.size(), 1u);
  EXPECT_EQ(judgement->reasons[0].kind, "lesson-source");
}

TEST(LessonCollective, EveryOperationOccursInTheCourse) {
  const Result<Course> course = read_course(shipped_lessons());
  ASSERT_TRUE(course);
  std::set<CollectiveKind> kinds;
  for (const CourseEntry& entry : course->lessons) {
    const Lesson lesson = shipped(entry.id);
    for (std::size_t step = 0; step < lesson.steps.size(); ++step)
      if (lesson.steps[step].tab == "collectives")
        for (const bool revealed : {false, true})
          kinds.insert(settings_at(lesson, step, draw(lesson, 7), revealed)->collective.spec.kind);
  }
  EXPECT_EQ(kinds.size(), static_cast<std::size_t>(kCollectiveKinds));
}

TEST(LessonCollective, RunsAreMadeAndMustShowWhatIsClaimed) {
  const std::string folder = shipped_lessons() + "/" + kRing;
  const auto rules = [&](const auto& run) {
    CheckOptions options;
    options.run_collective = run;
    const LessonReport report = check_lesson(folder, options);
    EXPECT_EQ(report.runs, 1u);
    std::vector<std::string> all;
    for (const Message& fault : report.faults) all.push_back(fault.kind);
    return all;
  };
  const auto seen_of = [](const CollectiveSpec& spec) {
    return as_planned(planned({spec, Topology::kMemory}));
  };
  EXPECT_TRUE(rules([&](const CollectiveSpec& spec) -> Result<CollectiveObservation> {
                return seen_of(spec);
              }).empty());
  EXPECT_THAT(rules([&](const CollectiveSpec& spec) -> Result<CollectiveObservation> {
                CollectiveObservation seen = seen_of(spec);
                seen.sent_bytes[0] *= 2;
                return seen;
              }),
              testing::ElementsAre("run-missed"));
  EXPECT_THAT(rules([](const CollectiveSpec&) -> Result<CollectiveObservation> {
                return message("cancelled", "Cancelled.");
              }),
              testing::ElementsAre("run-failed"));
}

class PlantedCollectiveFault : public testing::TestWithParam<Planted> {};

TEST_P(PlantedCollectiveFault, IsFound) {
  LessonCopy copy(kRing);
  GetParam().plant(copy);
  copy.write();
  std::vector<std::string> rules;
  std::string told;
  CheckOptions options;
  options.most_samples = 8;  // a few draws have to tell
  for (const Message& fault : check_lesson(copy.folder().string(), options).faults) {
    rules.push_back(fault.kind);
    told += "[" + fault.kind + "] " + fault.text + "\n";
  }
  EXPECT_THAT(rules, testing::Contains(GetParam().rule)) << told;
}

using C = LessonCopy;

const std::vector<Planted>& planted_in_collectives() {
  static const std::vector<Planted> all = {
      {"UnknownSetting", "step-setup", [](C& c) { c.object["start"]["collective.gears"] = 5; }},
      {"NoSuchAlgorithm", "step-setup",
       [](C& c) { c.step("run-the-ring")["setup"]["collective.algorithm"] = "square"; }},
      {"TooManyRanks", "step-setup", [](C& c) { c.object["start"]["collective.ranks"] = 17; }},
      {"AllowNoSetting", "step-allow",
       [](C& c) { c.step("as-few-bytes")["allow"].push_back("collective.gears"); }},
      {"HideUnknown", "step-hide",
       [](C& c) { c.step("all-pairs")["hide"].push_back("collective.gears"); }},
      {"AnswerOnScreen", "answer-shown", [](C& c) { c.step("all-pairs")["hide"] = {"formulas"}; }},
      {"WrongAnswer", "answer-prediction",
       [](C& c) { c.step("round-the-ring")["ask"]["answer"] = "3 * S"; }},
      {"NoSuchFigure", "answer-metric",
       [](C& c) {
         c.step("all-pairs")["ask"]["metric"] = "collective.sent_bytes.total";
         c.step("all-pairs")["hide"] = {"collective.sent_bytes"};
       }},
      {"WrongOptionOfAChoice", "answer-prediction",
       [](C& c) { c.step("only-neighbours")["options"][2]["value"] = "4 * S * beta"; }},
      {"RightOptionIsTheLongest", "text-options",
       [](C& c) {
         c.replace(
             "Three times as long: its messages share links.",
             "Three times as long: its messages share links, and each of them waits for others.");
       }},
      {"CardsReadAlike", "option-too-near",
       [](C& c) {
         c.step("only-neighbours")["options"][0]["value"] =
             c.step("only-neighbours")["options"][2]["value"];
       }},
      {"SolutionFails", "goal-solution",
       [](C& c) { c.step("as-few-bytes")["solution"]["collective.algorithm"] = "tree"; }},
      {"LimitDoesNotBind", "goal-limit",
       [](C& c) { c.step("as-few-bytes")["checks"][1]["value"] = 14; }},
      {"GoalOnNoFigure", "step-judge",
       [](C& c) { c.step("as-few-bytes")["checks"][0]["key"] = "colour"; }},
      {"TwoKindsOfRun", "lesson-form",
       [](C& c) { c.step("run-the-ring")["checks"][0]["of"] = "run"; }},
      {"ParameterNamedAsSymbol", "parameter-name",
       [](C& c) {
         c.object["parameters"]["alpha"] = {{"list", {1}}};
       }},
  };
  return all;
}

TEST(OptionsOfACollective, ARightOneAsLongAsAWrongOneGivesNothingAway) {
  LessonCopy copy(kRing);
  copy.replace("Three times as long: its messages share links.",
               "Three times as long: its messages share links, and each of them waits for others.");
  copy.replace("About as long: it sends as many bytes in all.",
               "About as long: it sends as many bytes in all, and nothing else counts on its way.");
  copy.write();
  for (const Message& fault : check_lesson(copy.folder().string()).faults)
    EXPECT_NE(fault.kind, "text-options") << fault.text;
}

INSTANTIATE_TEST_SUITE_P(Rules, PlantedCollectiveFault, testing::ValuesIn(planted_in_collectives()),
                         [](const auto& fault) { return fault.param.name; });

}  // namespace
}  // namespace parallelarium
