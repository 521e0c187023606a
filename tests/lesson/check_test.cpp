// SPDX-License-Identifier: Apache-2.0
// check_lesson and check_course: the shipped lessons have no fault, and a fault has its line.
#include "engine/lesson/check/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "engine/lesson/check/check_parts.h"
#include "engine/predict/predict.h"
#include "tests/lesson/lesson_copy.h"

namespace parallelarium {
namespace {

TEST(Lessons, AllThatShipPass) {
  keep_freed_memory();  // as the command does
  const std::vector<LessonReport> reports = check_course(shipped_lessons());
  EXPECT_GE(reports.size(), 4u);
  for (const LessonReport& report : reports) EXPECT_TRUE(report.ok()) << report.id << told(report);
}

TEST(Lessons, EachIsTranslatedAndAsksForANumberAndAGoalWithALimitOrForOrdersOfALength) {
  const Result<Course> course = read_course(shipped_lessons());
  ASSERT_TRUE(course);
  for (const CourseEntry& entry : course->lessons) {
    const Result<Lesson> lesson = read_lesson(course->folder + "/" + entry.id);
    ASSERT_TRUE(lesson) << lesson.error().text;
    EXPECT_EQ(lesson->texts.count("de"), 1u) << entry.id;
    int numbers = 0, limits = 0, builds = 0, lengths = 0, others = 0;
    for (const Step& step : lesson->steps) {
      const bool build = step.builds_order();
      builds += build;
      others += !build && step.kind != StepKind::kRead && step.kind != StepKind::kFind;
      numbers += step.ask && !step.ask->answer.empty();
      for (const QuestionPart& part : step.parts) numbers += part.option.empty();
      for (const Check& check : step.checks) {
        limits += step.kind == StepKind::kGoal && check.limit;
        lengths += build && check.of == "order" && check.key == "makespan";
      }
    }
    if (builds > 0 && others == 0) {
      EXPECT_EQ(lengths, builds) << entry.id;
      continue;
    }
    EXPECT_GE(numbers, 1) << entry.id;
    EXPECT_GE(limits, 1) << entry.id;
  }
}

TEST(Lessons, AreFoundBesideTheProgram) {
  EXPECT_EQ(std::filesystem::canonical(lessons_folder()),
            std::filesystem::canonical(shipped_lessons()));
}

TEST(Lessons, FaultsOfTheSchemaNameTheKeyAsData) {
  LessonCopy copy;
  copy.object["minutes"] = -1;
  copy.write();
  const LessonReport report = check_lesson(copy.folder().string());
  ASSERT_EQ(report.faults.size(), 1u);
  EXPECT_EQ(report.faults[0].kind, "lesson-schema");
  const Message* fault = &report.faults[0];
  while (fault->id != "lesson-schema.least") {
    ASSERT_FALSE(fault->arguments.empty()) << fault->id;
    fault = &fault->arguments.back();
  }
  EXPECT_EQ(fault->field, "minutes");
  EXPECT_EQ(fault->arguments[1].text, "1");
}

TEST(Lessons, FaultsOfTheSchemaHaveALine) {
  LessonCopy copy;
  const auto line_of = [](const std::string& text, const std::string& word) {
    return 1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(text.find(word)), '\n');
  };
  copy.object["minutes"] = -1;
  copy.write();
  std::ifstream file(copy.folder() / "lesson.json");
  const std::string wrong(std::istreambuf_iterator<char>(file), {});
  const LessonReport report = check_lesson(copy.folder().string());
  ASSERT_EQ(report.faults.size(), 1u);
  EXPECT_THAT(
      report.faults[0].text,
      testing::HasSubstr("lesson.json, line " + std::to_string(line_of(wrong, "\"minutes\"")) +
                         ": \"minutes\" must be at least 1."));
}

// Numbers, bullets, signs and borders of a table are no words.
TEST(Lessons, MayHaveEightPartsOfAHundredAndTwentyWords) {
  LessonCopy copy;
  ASSERT_EQ(copy.object["steps"].size(), 8u);
  copy.text.erase(copy.text.find("## take-away"));
  copy.text += "## take-away: More\n\n| a | b |\n|---|---|\n| 2 ÷ 3 | – |\n\n";
  for (int word = 2; word < 120; ++word) copy.text += "word ";
  copy.write();
  std::filesystem::remove(copy.folder() / "text.de.md");
  const LessonReport report = check_lesson(copy.folder().string());
  EXPECT_TRUE(report.ok()) << told(report);
}

// The slip of a lesson that once shipped: a thousand years for one.
TEST(LastHint, FindsAnAnswerThatIsAThousandTimesTooLarge) {
  LessonCopy copy("does-it-fit");
  std::string& answer = copy.step("how-many-years")["ask"]["answer"].get_ref<std::string&>();
  answer.replace(answer.find("86400"), 5, "86.4");
  copy.write();
  std::set<std::string> places;
  for (const Message& fault : check_lesson(copy.folder().string()).faults)
    if (fault.kind == "text-hint") places.insert(fault.field);
  EXPECT_THAT(places, testing::Contains("text.en.md: how-many-years"));
}

TEST(LastHint, IsArithmeticAloneOrSaysNothing) {
  EXPECT_EQ(arithmetic_of("3 × 8 + 3."), 27);
  EXPECT_EQ(arithmetic_of("10^16 ÷ (312 × 10^12 × 0.4)"), 1e16 / (312e12 * 0.4));
  EXPECT_EQ(arithmetic_of("6 × 10²³ ÷ 4²"), 6e23 / 16);
  EXPECT_EQ(arithmetic_of("27"), std::nullopt) << "a number alone may be any figure on the way";
  EXPECT_EQ(arithmetic_of("3 × 8 MiB"), std::nullopt);
  EXPECT_EQ(arithmetic_of("3 × ÷ 8"), std::nullopt);
}

TEST(BuildStep, NeedsASolutionThatSolvesAndAStartThatDoesNot) {
  LessonCopy copy("same-bubble-less-memory");
  nlohmann::json& order = copy.step("write-it")["order"];
  std::swap(order["start"], order["solution"]);
  copy.write();
  std::set<std::string> rules;  // told for every draw
  for (const Message& fault : check_lesson(copy.folder().string()).faults) rules.insert(fault.kind);
  EXPECT_THAT(rules, testing::UnorderedElementsAre("build-reached", "build-solution"));
}

TEST(Course, TellsWhatIsListedTwiceMissingOrCalledOtherwise) {
  LessonCopy copy;
  std::filesystem::remove(copy.folder() / "text.de.md");
  const auto rules_of = [&](const std::string& course) {
    std::ofstream(copy.root() / "course.json") << course;
    std::vector<std::string> rules;
    for (const LessonReport& report : check_course(copy.root().string()))
      for (const Message& fault : report.faults)
        // A lesson without those that it builds on takes things for known; introduced_test holds
        // it.
        if (!std::set<std::string>{"lesson-setting-unknown", "lesson-view-unknown",
                                   "lesson-word-unknown"}
                 .count(fault.kind))
          rules.push_back(fault.kind);
    return rules;
  };
  const std::string head = R"({"format":"parallelarium-course/1","title":{"en":"T"},"units":[)"
                           R"({"id":"one","title":{"en":"One"},"lessons":[)";
  const std::string own = R"({"id":"filling-the-bubble","title":{"en":"Filling the bubble"}})";
  EXPECT_TRUE(rules_of(head + own + "]}]}").empty());
  EXPECT_THAT(rules_of(head + "]}]}"), testing::Contains("course-unlisted"));
  EXPECT_THAT(rules_of(head + own + "," + own + "]}]}"), testing::Contains("course-twice"));
  EXPECT_THAT(rules_of(head + R"({"id":"filling-the-bubble","title":{"en":"Other"}}]}]})"),
              testing::Contains("course-title"));
  EXPECT_THAT(rules_of(head + own + R"(,{"id":"gone","title":{"en":"Gone"}}]}]})"),
              testing::Contains("lesson-folder"));
  EXPECT_THAT(rules_of(head + own +
                       R"(]},{"id":"two","title":{"en":"Two"},"needs":["three"],"lessons":[]}]})"),
              testing::Contains("course-needs"));
  EXPECT_THAT(rules_of("{}"), testing::Contains("course-form"));
}

// A run that shows exactly what was predicted, or one that idled longer.
Result<Observation> as_predicted(const Setup& setup, double extra_bubble) {
  const Result<Machine> machine = machine_of(setup.machine);
  if (!machine) return machine.error();
  const Result<Prediction> prediction = predict(setup, *machine, true);
  if (!prediction) return prediction.error();
  Observation observation;
  observation.setup = setup;
  observation.source = Source::kPaced;
  observation.timeline = prediction->timeline;
  observation.memory = prediction->memory;
  observation.bubble = prediction->bubble;
  observation.bubble.of_total += extra_bubble;
  observation.step = prediction->step;
  return observation;
}

TEST(Runs, AreMadeForEveryRunStepAndMustShowWhatIsClaimed) {
  // The last of them compares two of its runs.
  for (const char* id :
       {"naive-and-gpipe", "same-bubble-less-memory", "filling-the-bubble", "who-made-it-late"}) {
    CheckOptions options;
    options.run = [](const parallelarium::Setup& setup) { return as_predicted(setup, 0); };
    const LessonReport good = check_lesson(shipped_lessons() + "/" + id, options);
    EXPECT_TRUE(good.ok()) << told(good);
    EXPECT_GE(good.runs, 1u) << id;
  }
  CheckOptions options;
  options.run = [](const parallelarium::Setup& setup) { return as_predicted(setup, 0.2); };
  const LessonReport bad = check_lesson(shipped_lessons() + "/filling-the-bubble", options);
  ASSERT_EQ(bad.faults.size(), 1u);
  EXPECT_EQ(bad.faults[0].kind, "run-missed");
  options.run = [](const parallelarium::Setup&) -> Result<Observation> {
    return message("cancelled", "Cancelled.");
  };
  const LessonReport none = check_lesson(shipped_lessons() + "/filling-the-bubble", options);
  ASSERT_EQ(none.faults.size(), 1u);
  EXPECT_EQ(none.faults[0].kind, "run-failed");
}

}  // namespace
}  // namespace parallelarium
