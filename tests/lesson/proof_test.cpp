// SPDX-License-Identifier: Apache-2.0
// A run step that asks for the proof of its run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/lesson/check/check.h"
#include "engine/lesson/play.h"
#include "tests/lesson/lesson_copy.h"

namespace parallelarium {
namespace {

nlohmann::json proof(double loss, double gradient, bool holds) {
  return {{"holds", holds},         {"loss_difference", loss},
          {"loss_bound", 1e-6},     {"gradient_difference", gradient},
          {"gradient_bound", 5e-6}, {"worst_parameter", "embedding"}};
}

// Asks for it beside what is checked already, or alone.
LessonCopy& asking(LessonCopy& copy, bool alone) {
  nlohmann::json& checks = copy.step("run-it")["checks"];
  if (alone) checks = nlohmann::json::array();
  checks.push_back(
      {{"of", "run"}, {"key", "proof.largest_difference"}, {"op", "<="}, {"value", 1e-5}});
  checks.push_back({{"of", "run"}, {"key", "proof.holds"}, {"op", "=="}, {"value", 1}});
  copy.write();
  return copy;
}

TEST(ProofOfARun, ItsFactsHaveTheLargestDifference) {
  EXPECT_TRUE(proof_facts(nullptr).is_null());
  const nlohmann::json facts = proof_facts(proof(2e-7, 3e-6, true));
  EXPECT_EQ(facts["holds"], 1);
  EXPECT_EQ(facts["largest_difference"], 3e-6);
  EXPECT_EQ(proof_facts(proof(4e-6, 3e-6, false))["largest_difference"], 4e-6);
  EXPECT_EQ(proof_facts(proof(4e-6, 3e-6, false))["holds"], 0);
}

TEST(ProofOfARun, ARunWithoutOneIsAskedForIt) {
  LessonCopy copy;
  const Result<Lesson> lesson = read_lesson(asking(copy, true).folder().string());
  ASSERT_TRUE(lesson.ok()) << lesson.error().text;
  const Step& step = *lesson->find("run-it");
  EXPECT_TRUE(step.wants_proof());
  EXPECT_FALSE(lesson->find("fill-it")->wants_proof());
  Context context;
  context.drawn = draw(*lesson, 7);
  context.settings = *settings_at(*lesson, 2, context.drawn);
  context.observed = {{"source", "measured"}, {"losses", {5.0}}};
  Result<Judgement> judged = judge(step, {}, context);
  ASSERT_TRUE(judged.ok()) << judged.error().text;
  EXPECT_EQ(judged->verdict, Verdict::kAgain);
  ASSERT_THAT(judged->reasons, testing::SizeIs(1));
  EXPECT_EQ(judged->reasons[0].id, "lesson-no-proof");
  context.observed["proof"] = proof_facts(proof(2e-7, 3e-6, true));
  judged = judge(step, {}, context);
  ASSERT_TRUE(judged.ok()) << judged.error().text;
  EXPECT_EQ(judged->verdict, Verdict::kRight);
  EXPECT_EQ(judged->symbols.at("observed"), 3e-6) << "texts may name it";
  context.observed["proof"] = proof_facts(proof(2e-7, 3e-4, false));
  judged = judge(step, {}, context);
  EXPECT_EQ(judged->verdict, Verdict::kAgain);
}

TEST(ProofOfARun, OnlyARunStepMayAskForIt) {
  LessonCopy copy;
  copy.step("fill-it")["checks"].push_back(
      {{"of", "run"}, {"key", "proof.holds"}, {"op", "=="}, {"value", 1}});
  copy.write();
  const Result<Lesson> lesson = read_lesson(copy.folder().string());
  ASSERT_FALSE(lesson.ok());
  EXPECT_THAT(lesson.error().text, testing::HasSubstr("proved"));
}

TEST(ProofOfARun, LessonCheckProvesIt) {
  LessonCopy copy;
  asking(copy, false);
  int proved = 0;
  double difference = 3e-6;
  CheckOptions options;
  options.most_samples = 1;
  options.run = [](const parallelarium::Setup&) -> Result<Observation> {
    return message("not-asked", "This run is to be proved.");
  };
  options.prove = [&](const parallelarium::Setup& setup) -> Result<ProvedRun> {
    const Result<Prediction> prediction = predict(setup, uncalibrated_local_machine(), true);
    if (!prediction) return prediction.error();
    ++proved;
    Observation seen;
    seen.setup = setup;
    seen.source = Source::kPaced;
    seen.timeline = prediction->timeline;
    seen.step = prediction->step;
    seen.bubble = prediction->bubble;
    return ProvedRun{seen, proof(1e-7, difference, difference < 5e-6)};
  };
  const auto rules = [&] {
    std::vector<std::string> ids;
    for (const Message& fault : check_lesson(copy.folder().string(), options).faults)
      if (fault.field == "run-it") ids.push_back(fault.kind);
    return ids;
  };
  EXPECT_THAT(rules(), testing::Not(testing::Contains(testing::StartsWith("run-"))));
  EXPECT_GE(proved, 1);
  difference = 1e-3;
  EXPECT_THAT(rules(), testing::Contains("run-missed"));
}

// Five puzzles: of each the very lines of the solution are run and proved.
TEST(ProofOfARun, TheOrderThatSolvesAPuzzleIsRunAndProved) {
  const std::string folder = shipped_lessons() + "/orders-by-hand";
  const Result<Lesson> lesson = read_lesson(folder);
  ASSERT_TRUE(lesson.ok()) << lesson.error().text;
  std::vector<std::vector<std::string>> wanted, ran;
  for (const Step& step : lesson->steps)
    if (step.builds_order()) wanted.push_back(step.order.solution);
  ASSERT_THAT(wanted, testing::SizeIs(5));
  bool holds = true;
  CheckOptions options;
  options.most_samples = 1;
  options.prove = [&](const parallelarium::Setup& setup) -> Result<ProvedRun> {
    EXPECT_TRUE(setup.schedule.order());
    if (setup.schedule.order()) ran.push_back(to_lines(*setup.schedule.order()));
    return ProvedRun{{}, proof(1e-7, 1e-7, holds)};
  };
  const LessonReport good = check_lesson(folder, options);
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(good.runs, 5U);
  EXPECT_EQ(ran, wanted);
  holds = false;
  std::vector<std::string> missed;
  for (const Message& fault : check_lesson(folder, options).faults)
    if (fault.kind == "run-proof") missed.push_back(fault.field);
  EXPECT_THAT(missed, testing::ElementsAre("first-steps", "gpipe", "the-memory-wall",
                                           "one-forward-one-backward", "unequal-stages"));
}

}  // namespace
}  // namespace parallelarium
