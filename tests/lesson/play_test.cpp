// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/play.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/lesson/lesson.h"
#include "engine/predict/cases/figure_at.h"
#include "engine/schedules/schedule.h"
#include "tests/lesson/lesson_copy.h"
#include "tests/lesson/teaching/hand_in.h"

namespace parallelarium {
namespace {

using nlohmann::json;

// --- drawing ---

TEST(Draw, IsTheSameForASeedAndMeetsTheConstraint) {
  Lesson lesson;
  lesson.parameters = {{"stages", {2, 4, 8}}, {"batches", {4, 8, 16, 32}}};
  lesson.constraint = "batches > stages";
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Symbols drawn = draw(lesson, seed);
    EXPECT_EQ(drawn, draw(lesson, seed));
    EXPECT_GT(drawn.at("batches"), drawn.at("stages"));
  }
  const std::vector<Symbols> all = draws(lesson);
  EXPECT_EQ(all.size(), 9u);  // of 12 combinations three are refused
  EXPECT_EQ(draws(lesson, 5).size(), 5u);
  EXPECT_NE(draw(lesson, 1), draw(lesson, 4));
}

// --- figures and judgements ---

TEST(Figure, FollowsKeysIndicesAndStars) {
  const json facts = {
      {"bubble", {{"of_total", 0.25}, {"ranks", {0.1, 0.4, 0.3}}}},
      {"memory", {{"fits", true}, {"ranks", {{{"peak_bytes", 7}}, {{"peak_bytes", 9}}}}}},
      {"name", "x"}};
  EXPECT_EQ(figure_at(facts, "bubble.of_total"), 0.25);
  EXPECT_EQ(figure_at(facts, "bubble.ranks.2"), 0.3);
  EXPECT_EQ(figure_at(facts, "bubble.ranks.*"), 0.4);
  EXPECT_EQ(figure_at(facts, "memory.ranks.*.peak_bytes"), 9);
  EXPECT_EQ(figure_at(facts, "memory.fits"), 1);
  for (const char* key :
       {"name", "bubble", "bubble.ranks.7", "bubble.ranks.x", "", "a.b", "bubble."})
    EXPECT_EQ(figure_at(facts, key), std::nullopt) << key;
}

TEST(Figure, AWordTakesRowsAndAColumnAddsUp) {
  const json facts = {{"traffic",
                       {{{"group", "dp"}, {"purpose", "gradients"}, {"sent_bytes", 7}},
                        {{"group", "tp"}, {"purpose", "activations"}, {"sent_bytes", 20}},
                        {{"group", "dp"}, {"purpose", "parameters"}, {"sent_bytes", 100}}}}};
  EXPECT_EQ(figure_at(facts, "traffic.sent_bytes"), 127);
  EXPECT_EQ(figure_at(facts, "traffic.dp.sent_bytes"), 107);
  EXPECT_EQ(figure_at(facts, "traffic.dp.parameters.sent_bytes"), 100);
  EXPECT_EQ(figure_at(facts, "traffic.gradients.sent_bytes"), 7);
  EXPECT_EQ(figure_at(facts, "traffic.*.sent_bytes"), 100);
  EXPECT_EQ(figure_at(facts, "traffic.pp.sent_bytes"), 0) << "a group that sends nothing";
  EXPECT_EQ(figure_at(facts, "traffic.pp.sent"), std::nullopt);
  EXPECT_EQ(figure_at(json::object(), "traffic.pp.sent_bytes"), std::nullopt);
  EXPECT_EQ(figure_at(facts, "traffic.dp"), std::nullopt);
}

// Training ends with it; the timeline is of another step, chosen by its duration.
TEST(Facts, OfExpertsInARunAreThoseOfTheLastStep) {
  parallelarium::Setup setup;
  for (const auto& [key, value] :
       std::map<std::string, std::string>{{"model", "moe-tiny"}, {"mesh.pp", "1"}})
    ASSERT_TRUE(set_field(setup, key, value)) << key;
  setup.microbatches = 1;
  setup.run.warmup = 0;
  const Model& model = setup.model;
  const std::int64_t tokens = std::int64_t(setup.micro_batch) * model.sequence;
  const auto E = static_cast<std::size_t>(model.experts.count);
  // Of each step, how many experts have all tokens.
  const auto step = [&](std::size_t favourites) {
    Routing routing;
    for (int layer = 0; layer < model.layers; ++layer) {
      RoutedMicrobatch& one = routing.entries.emplace_back();
      one.layer = layer;
      one.load.chosen.assign(E, 0);
      for (std::size_t expert = 0; expert < favourites; ++expert)
        one.load.chosen[expert] =
            tokens * model.experts.top_k / static_cast<std::int64_t>(favourites);
      one.load.kept = one.load.chosen;
    }
    return routing;
  };
  const Result<Prediction> prediction = predict(setup, *machine_of(setup.machine), true);
  ASSERT_TRUE(prediction);
  Observation seen;
  seen.setup = setup;
  seen.timeline.step = 1;
  const auto k = static_cast<std::size_t>(model.experts.top_k);
  seen.routing = {step(k), step(E)};
  EXPECT_DOUBLE_EQ(facts_of(seen, prediction->program)["experts"]["fullest_expert"], 1);
  std::swap(seen.routing[0], seen.routing[1]);
  EXPECT_DOUBLE_EQ(facts_of(seen, prediction->program)["experts"]["fullest_expert"],
                   static_cast<double>(E / k));
}

Context context_of(const Setup& setup) {
  Context context;
  context.settings.setup = setup;
  const Result<Machine> machine = machine_of(setup.machine);
  const Result<Prediction> prediction = predict(setup, *machine, true);
  EXPECT_TRUE(prediction);
  context.predicted = facts_of(*prediction);
  return context;
}

TEST(Judge, NumbersMeetTheirMistakes) {
  const Lesson lesson = shipped("filling-the-bubble");
  const Symbols drawn = {{"more", 8}};
  const auto settings = settings_at(lesson, 1, drawn, true);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->setup.microbatches, 8);
  Context context = context_of(settings->setup);
  context.drawn = drawn;
  const auto judged = [&](double guess) {
    Answer answer;
    answer.number = guess;
    const Result<Judgement> judgement = judge(lesson.steps[1], answer, context);
    EXPECT_TRUE(judgement);
    return *judgement;
  };
  EXPECT_EQ(judged(3.0 / 11).verdict, Verdict::kRight);
  EXPECT_EQ(judged(0.30).verdict, Verdict::kRight);
  EXPECT_EQ(judged(3.0 / 8).feedback, "over-ideal");
  EXPECT_EQ(judged(3.0 / 7).feedback, "stays");
  EXPECT_EQ(judged(0.9).feedback, "wrong");
  EXPECT_DOUBLE_EQ(judged(0.9).symbols.at("guess"), 0.9);
  EXPECT_DOUBLE_EQ(judged(0.9).symbols.at("answer"), 3.0 / 11);
  EXPECT_NEAR(judged(0.9).symbols.at("predicted"), 3.0 / 11, 0.05);
  const Result<Judgement> nothing = judge(lesson.steps[1], {}, context);
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->verdict, Verdict::kWrong);
}

TEST(Judge, RunsAreTriedAgainAndOversubscribedTimesSayNothing) {
  const Lesson lesson = shipped("filling-the-bubble");
  const Step& step = *lesson.find("run-it");
  const auto settings = settings_at(lesson, 2, {{"more", 8}});
  ASSERT_TRUE(settings);
  Context context = context_of(settings->setup);
  const auto verdict = [&] {
    const Result<Judgement> judgement = judge(step, {}, context);
    EXPECT_TRUE(judgement);
    return *judgement;
  };
  EXPECT_EQ(verdict().verdict, Verdict::kAgain);
  EXPECT_EQ(verdict().reasons.at(0).kind, "lesson-no-run");
  context.observed = context.predicted.json();
  context.observed["source"] = "paced";
  EXPECT_EQ(verdict().verdict, Verdict::kRight);
  context.observed["bubble"]["of_total"] = 0.9;
  EXPECT_EQ(verdict().verdict, Verdict::kAgain);
  // A rehearsal really waits, and its speed is set.
  context.observed = context.predicted.json();
  Step timed = step;
  for (Check& check : timed.checks) check.key = "step.seconds";
  for (const char* source : {"paced", "measured"}) {
    context.observed["source"] = source;
    const Result<Judgement> judgement = judge(timed, {}, context);
    ASSERT_TRUE(judgement);
    EXPECT_EQ(judgement->reasons.empty(), source == std::string("measured"));
  }
  context.observed = context.predicted.json();
  context.observed["source"] = "oversubscribed";
  EXPECT_EQ(verdict().verdict, Verdict::kAgain);
  EXPECT_EQ(verdict().reasons.at(0).kind, "lesson-source");
}

TEST(Judge, OrdersAreReadCheckedAndTimed) {
  const Lesson lesson = shipped("same-bubble-less-memory");
  const Step& step = *lesson.find("write-it");
  const auto settings =
      settings_at(lesson, std::size_t(&step - lesson.steps.data()), draw(lesson, 7));
  ASSERT_TRUE(settings);
  const Context context = context_of(settings->setup);
  const auto judged = [&](const std::vector<std::string>& lines) {
    Answer answer;
    answer.order = lines;
    const Result<Judgement> judgement = judge(step, answer, context);
    EXPECT_TRUE(judgement);
    return *judgement;
  };
  EXPECT_EQ(judged(to_lines(one_f_one_b_order(2, 4))).verdict, Verdict::kRight);
  EXPECT_EQ(judged(to_lines(gpipe_order(2, 4))).verdict, Verdict::kWrong);
  EXPECT_EQ(judged(to_lines(naive_order(2, 4))).verdict, Verdict::kWrong);
  EXPECT_FALSE(judged(to_lines(one_f_one_b_order(2, 5))).reasons.empty());
  EXPECT_FALSE(judged(to_lines(one_f_one_b_order(3, 4))).reasons.empty());
  EXPECT_FALSE(judged({"B0 F0 F1 B1 F2 B2 F3 B3", "F0 B0 F1 B1 F2 B2 F3 B3"}).reasons.empty());
  EXPECT_FALSE(judged({"F0 F1", "Q"}).reasons.empty());
  EXPECT_FALSE(judged({}).reasons.empty());
  EXPECT_FALSE(judged(std::vector<std::string>(1000, std::string(1000, 'F'))).reasons.empty());
}

TEST(Judge, MarksOfADrawingMustBeItsFaultsAndNoOthers) {
  const Lesson lesson = shipped("naive-and-gpipe");
  const Step& step = *lesson.find("a-picture-to-distrust");
  const auto judged = [&](const std::set<std::pair<int, int>>& marks) {
    Answer answer;
    answer.marks = marks;
    const Result<Judgement> judgement = judge(step, answer, context_of(default_setup()));
    EXPECT_TRUE(judgement);
    return *judgement;
  };
  const std::set<std::pair<int, int>> faults = {{2, 6}, {2, 7}, {2, 8}, {2, 9}};
  const Judgement right = judged(faults);
  EXPECT_EQ(right.verdict, Verdict::kRight);
  EXPECT_EQ(right.symbols.at("faults"), 4);
  ASSERT_EQ(right.reasons.size(), 4u);
  EXPECT_EQ(right.reasons[0].text,
            "B3 of stage 2 begins in slot 6, but needs B3 of stage 3, which ends with slot 7.");
  const Judgement some = judged({{2, 6}, {0, 1}, {0, 4}, {7, 7}});
  EXPECT_EQ(some.verdict, Verdict::kWrong);
  EXPECT_EQ(some.symbols.at("found"), 1);
  EXPECT_EQ(some.symbols.at("missed"), 3);
  ASSERT_EQ(some.reasons.size(), 3u) << "a mark outside of the drawing is none";
  EXPECT_EQ(some.reasons[1].id, "drawing-sound");
  EXPECT_EQ(some.reasons[2].id, "drawing-idle");
  auto more = faults;
  more.insert({3, 7});
  EXPECT_EQ(judged(more).verdict, Verdict::kWrong);
  EXPECT_EQ(judged({}).verdict, Verdict::kWrong);
}

TEST(Judge, ARunIsComparedWithOneThatWasKept) {
  Step step;
  step.kind = StepKind::kRun;
  Check check;
  check.of = "run";
  check.key = "bubble.of_total";
  check.op = ">";
  check.value = "kept + 0.1";
  check.than = "before";
  step.checks = {check};
  Context context = context_of(default_setup());
  context.observed = context.predicted.json();
  context.observed["source"] = "measured";
  const double bubble = context.observed["bubble"]["of_total"];
  const auto verdict = [&] {
    const Result<Judgement> judgement = judge(step, {}, context);
    EXPECT_TRUE(judgement);
    return *judgement;
  };
  EXPECT_EQ(verdict().reasons.at(0).id, "lesson-kept");
  EXPECT_EQ(verdict().verdict, Verdict::kAgain);
  context.kept["before"] = context.observed;
  EXPECT_EQ(verdict().verdict, Verdict::kAgain);
  EXPECT_NEAR(verdict().symbols.at("difference"), 0, 1e-12);
  context.kept["before"]["bubble"]["of_total"] = bubble - 0.2;
  EXPECT_EQ(verdict().verdict, Verdict::kRight);
  EXPECT_NEAR(verdict().symbols.at("kept"), bubble - 0.2, 1e-12);
  EXPECT_NEAR(verdict().symbols.at("difference"), 0.2, 1e-12);
}

TEST(Play, HeldMicroBatchesFollowTheSchedule) {
  for (const auto& [schedule, held] : {std::pair{"gpipe", 8}, {"1f1b", 4}, {"naive", 1}}) {
    parallelarium::Setup setup = default_setup();
    setup.schedule = schedule;
    const Context context = context_of(setup);
    EXPECT_EQ(figure_at(context.predicted.json(), "held.peak"), held) << schedule;
  }
}

TEST(Play, NeedsAreToldInASentence) {
  const auto with_cores = [](int cores) {
    Computer computer;
    computer.cores = cores;
    return computer;
  };
  Lesson lesson = shipped("filling-the-bubble");
  EXPECT_TRUE(can_play(lesson, with_cores(1)));  // paced will do
  lesson.requirements.sources = {"measured"};
  EXPECT_FALSE(can_play(lesson, with_cores(2)));
  EXPECT_TRUE(can_play(lesson, with_cores(4)));
  lesson.requirements.gpu = true;
  EXPECT_FALSE(can_play(lesson, with_cores(4)));
  Computer with_gpu = with_cores(4);
  with_gpu.gpus.emplace_back();
  EXPECT_TRUE(can_play(lesson, with_gpu));
  with_gpu.gpus.front().unusable = message("gpu-old", "It is too old.");
  EXPECT_FALSE(can_play(lesson, with_gpu));
}

TEST(Read, StaysInItsFolderAndWithinItsBounds) {
  LessonCopy copy;
  std::filesystem::rename(copy.folder() / "text.en.md", copy.root() / "outside.md");
  std::filesystem::create_symlink(copy.root() / "outside.md", copy.folder() / "text.en.md");
  EXPECT_FALSE(read_lesson(copy.folder().string()));
  std::filesystem::remove(copy.folder() / "text.en.md");
  copy.add("text.en.md", "# T\n" + std::string(300 * 1024, 'x'));
  EXPECT_FALSE(read_lesson(copy.folder().string()));
  copy.add("text.en.md", copy.text);
  EXPECT_TRUE(read_lesson(copy.folder().string()));
  copy.add("lesson.json", std::string(100000, '['));
  EXPECT_FALSE(read_lesson(copy.folder().string()));
  EXPECT_FALSE(read_lesson((copy.root() / "nothing").string()));
}

}  // namespace
}  // namespace parallelarium
