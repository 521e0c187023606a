// SPDX-License-Identifier: Apache-2.0
// One planted fault per rule of check_lesson, and the shipped lessons without any.
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

std::string told(const LessonReport& report) {
  std::string words;
  for (const Message& fault : report.faults)
    words += "[" + fault.kind + "] " + fault.field + ": " + fault.text + "\n";
  return words;
}

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

// The English of a message as a window makes its own language: the catalogue's sentence by the id,
// with the arguments put in.
std::string said_by_id(const Message& message) {
  static const nlohmann::json catalogue =
      nlohmann::json::parse(std::ifstream(PARALLELARIUM_SOURCE_DIR "/resources/sentences.json"));
  if (message.id.empty() || message.id == "figure" || message.id == "settings") return message.text;
  if (message.id == "clause") {
    std::string part = said_by_id(message.arguments.front());
    while (part.ends_with('.')) part.pop_back();
    return part;
  }
  const auto entry = catalogue.find(message.id);
  if (entry == catalogue.end()) return "\"" + message.id + "\" is not in the catalogue";
  EXPECT_FALSE(entry->value("de", "").empty()) << message.id;
  std::string text = entry->at("en");
  std::size_t at = 0;
  for (const Message& argument : message.arguments) {
    at = text.find("{}", at);
    if (at == std::string::npos) return message.id + " has another number of places";
    const std::string said = said_by_id(argument);
    text.replace(at, 2, said);
    at += said.size();
  }
  return text;
}

class PlantedFault : public testing::TestWithParam<Planted> {};

TEST_P(PlantedFault, IsFound) {
  LessonCopy copy;
  GetParam().plant(copy);
  copy.write();
  CheckOptions options;
  options.most_samples = 8;  // a few draws have to tell
  const LessonReport report = check_lesson(copy.folder().string(), options);
  std::vector<std::string> rules;
  for (const Message& fault : report.faults) {
    rules.push_back(fault.kind);
    EXPECT_FALSE(fault.text.empty());
    EXPECT_EQ(said_by_id(fault), fault.text) << fault.id;
  }
  EXPECT_THAT(rules, testing::Contains(GetParam().rule)) << told(report);
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

TEST(Lessons, FaultsHaveALine) {
  LessonCopy copy;
  const std::string first = [&] {
    copy.write();
    std::ifstream file(copy.folder() / "lesson.json");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  const auto line_of = [](const std::string& text, const std::string& word) {
    return 1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(text.find(word)), '\n');
  };
  const std::size_t step = first.rfind("\n    {", first.find("\"id\": \"fill-it\""));
  EXPECT_EQ(check_lesson(copy.folder().string()).lines.at("fill-it"),
            2 + std::count(first.begin(), first.begin() + std::ptrdiff_t(step), '\n'));
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

const char* const kAsk = "more-micro-batches";
const char* const kGoal = "fill-it";
using C = LessonCopy;

const std::vector<Planted>& planted() {
  static const std::vector<Planted> all = {
      // the file and its schema
      {"UnknownKey", "lesson-schema", [](C& c) { c.object["sound"] = "on"; }},
      {"WrongKind", "lesson-schema", [](C& c) { c.step(kAsk)["kind"] = "quiz"; }},
      {"MissingHints", "lesson-schema", [](C& c) { c.step(kAsk).erase("hints"); }},
      {"CodeForAKey", "lesson-schema", [](C& c) { c.step(kGoal)["script"] = "rm"; }},
      {"NotJson", "lesson-json", [](C& c) { c.raw = "{\"id\": \xff}"; }},
      {"UnknownRow", "lesson-row", [](C& c) { c.object["covers"]["S4-99"] = kGoal; }},
      {"RowOfNoStep", "lesson-form", [](C& c) { c.object["covers"]["S3-45"] = "gone"; }},
      {"UnknownTab", "lesson-form", [](C& c) { c.step(kAsk)["view"]["tab"] = "sideways"; }},
      {"SpeedOfARehearsal", "lesson-form",
       [](C& c) {
         c.step(kGoal)["checks"].push_back(
             {{"of", "run"}, {"key", "step.seconds"}, {"op", "<"}, {"value", 1}});
       }},
      {"TwoStepsOneId", "lesson-form", [](C& c) { c.step(kAsk)["id"] = kGoal; }},
      {"NoCorrectOption", "lesson-form",
       [](C& c) { c.step("nine-per-cent")["options"][0]["correct"] = false; }},
      {"NamelessMisconception", "lesson-form",
       [](C& c) { c.step("nine-per-cent")["options"][1].erase("misconception"); }},
      {"OtherFolderName", "lesson-id", [](C& c) { c.object["id"] = "emptying-the-bubble"; }},
      {"NoEnglish", "lesson-english", [](C& c) { c.text_name = "text.de.md"; }},
      // names
      {"ParameterNamedAsSymbol", "parameter-name",
       [](C& c) {
         c.object["parameters"]["guess"] = {{"list", {1}}};
       }},
      {"ParameterTwice", "parameter-twice",
       [](C& c) {
         c.object["parameters"]["more"]["list"] = {6, 6};
       }},
      {"ConstraintNeverMet", "lesson-constraint",
       [](C& c) { c.object["constraint"] = "more > 99"; }},
      {"AllowNoSetting", "step-allow", [](C& c) { c.step(kGoal)["allow"].push_back("speed"); }},
      {"SolutionLocked", "goal-locked", [](C& c) { c.step(kGoal)["allow"] = {"schedule"}; }},
      {"NineParts", "lesson-long",
       [](C& c) {
         while (c.object["steps"].size() < 9) {
           const std::string id = "part-" + std::to_string(c.object["steps"].size());
           c.object["steps"].push_back({{"id", id}, {"kind", "read"}});
           c.text += "\n## " + id + ": More\n\nMore.\n";
         }
       }},
      {"HideUnknown", "step-hide", [](C& c) { c.step(kAsk)["hide"].push_back("weather"); }},
      {"ViewBackwards", "step-view",
       [](C& c) {
         c.step(kAsk)["view"]["range"] = {0.8, 0.2};
       }},
      {"PrecisionLeftOpen", "lesson-auto", [](C& c) { c.object["start"].erase("precision"); }},
      {"AttentionLeftOpen", "lesson-auto", [](C& c) { c.object["start"].erase("attention"); }},
      {"PrecisionOpen", "lesson-auto", [](C& c) { c.object["start"]["precision"] = "auto"; }},
      {"AttentionOpenedLater", "lesson-auto",
       [](C& c) { c.step(kGoal)["setup"]["attention"] = "auto"; }},
      {"NoNumber", "lesson-number",
       [](C& c) {
         nlohmann::json others = nlohmann::json::array();
         for (const nlohmann::json& step : c.object["steps"])
           if (step["kind"] != "predict") others.push_back(step);
         c.object["steps"] = others;
         c.object.erase("covers");
       }},
      {"NoGoal", "lesson-goal",
       [](C& c) { c.object["steps"].erase(c.object["steps"].begin() + 5); }},
      // what is set, predicted, asked
      {"InvalidSetup", "step-setup", [](C& c) { c.object["start"]["mesh.pp"] = 5; }},
      {"UnknownSetting", "step-setup", [](C& c) { c.object["start"]["gears"] = 5; }},
      {"BrokenAnswer", "answer-expression", [](C& c) { c.step(kAsk)["ask"]["answer"] = "(p - 1"; }},
      {"WrongAnswer", "answer-prediction",
       [](C& c) {
         c.step(kAsk)["ask"]["answer"] = "(p - 1) / (2 * m)";
         c.step(kAsk)["options"].erase(0);
       }},
      {"NoSuchFigure", "answer-metric",
       [](C& c) { c.step(kAsk)["ask"]["metric"] = "bubble.of_everything"; }},
      {"AnswerOnScreen", "answer-shown", [](C& c) { c.step(kAsk)["hide"] = {"step"}; }},
      {"DistractorWithinTolerance", "option-too-near",
       [](C& c) { c.step(kAsk)["options"][0]["value"] = "(p - 1) / (m + p)"; }},
      {"TwoMistakesAlike", "option-feedback",
       [](C& c) { c.step(kAsk)["options"][1]["value"] = c.step(kAsk)["options"][0]["value"]; }},
      // goals
      {"GoalReachedAtStart", "goal-reached",
       [](C& c) { c.step(kGoal)["checks"][0]["value"] = 0.9; }},
      {"SolutionFails", "goal-solution",
       [](C& c) {
         c.step(kGoal)["solution"] = {{"microbatches", 9}};
       }},
      {"NoLimit", "goal-limit", [](C& c) { c.step(kGoal)["checks"][1].erase("limit"); }},
      {"LimitDoesNotBind", "goal-limit", [](C& c) { c.step(kGoal)["checks"][1]["value"] = 100; }},
      {"TemptingFallsShort", "goal-tempting",
       [](C& c) {
         c.step(kGoal)["tempting"] = {{"microbatches", 5}};
       }},
      {"GoalOnNoFigure", "step-judge",
       [](C& c) { c.step(kGoal)["checks"][0]["key"] = "bubble.colour"; }},
      // texts
      {"StepWithoutText", "text-step-missing",
       [](C& c) { c.replace("## fill-it: Fill", "## fill-up: Fill"); }},
      {"TextWithoutStep", "text-step-unknown",
       [](C& c) { c.text += "\n## more: More\n\nText.\n"; }},
      {"StepsReordered", "text-order",
       [](C& c) { std::swap(c.object["steps"][0], c.object["steps"][6]); }},
      {"SecondLanguageIncomplete", "text-step-missing",
       [](C& c) { c.add("text.de.md", "# Die Blase\n\nKurz.\n\n## two-names: Zwei\n\nText.\n"); }},
      {"EmptyBody", "text-empty", [](C& c) { c.text.resize(c.text.find("- Say which bubble")); }},
      {"NoSummary", "text-summary",
       [](C& c) {
         const auto begin = c.text.find("The bubble has two");
         c.text.erase(begin, c.text.find('\n', begin) - begin);
       }},
      {"LongBody", "text-long",
       [](C& c) {
         std::string words;
         for (int word = 0; word < 121; ++word) words += "word ";
         c.replace("- Say which bubble", words + "\n\n- Say which bubble");
       }},
      {"WrongOptionWithoutFeedback", "text-part-missing",
       [](C& c) { c.replace("### feedback stays", "### feedback strays"); }},
      {"PartNobodyShows", "text-part-unknown",
       [](C& c) { c.replace("### feedback stays", "### feedback strays"); }},
      {"MissingHint", "text-part-missing", [](C& c) { c.replace("### hint 2\n", ""); }},
      {"NumberThatCountsNothing", "text-part-missing",
       [](C& c) {
         c.step("more-micro-batches")["ask"]["unit"] = "1";
         c.step("more-micro-batches")["ask"].erase("metric");
       }},
      {"LongUnit", "text-unit-long",
       [](C& c) {
         c.step("more-micro-batches")["ask"]["unit"] = "1";
         c.replace("### hint 1\n", "### unit\nparts of the time of a whole step\n\n### hint 1\n");
       }},
      {"UnitOfAShare", "text-part-unknown",
       [](C& c) { c.replace("### hint 1\n", "### unit\nparts\n\n### hint 1\n"); }},
      {"UnknownPart", "lesson-text", [](C& c) { c.replace("### hint 2", "### hint 4"); }},
      {"BrokenExpression", "text-expression", [](C& c) { c.replace("{{more}}", "{{less}}"); }},
      {"OpenBraces", "text-expression", [](C& c) { c.replace("{{more}}", "{{more"); }},
      {"ObservedBeforeTheRun", "text-expression",
       [](C& c) {
         c.replace("with transfers: {{share: predicted}}", "with transfers: {{share: observed}}");
       }},
      {"Html", "markdown-html",
       [](C& c) { c.replace("Four stages", "<img src='x'> Four stages"); }},
      {"Maths", "markdown-maths", [](C& c) { c.replace("Four stages", "$p$ stages, $m$"); }},
      {"ShortTableRule", "markdown-table", [](C& c) { c.replace("|---|---|---|", "|--|--|--|"); }},
      {"Footnote", "markdown-footnote", [](C& c) { c.replace("Four stages", "Four[^1] stages"); }},
      {"Anchor", "markdown-anchor", [](C& c) { c.replace("Four stages", "Four {#x} stages"); }},
      {"Admonition", "markdown-admonition",
       [](C& c) { c.replace("Four stages", "> [!NOTE]\n> Four"); }},
      {"Underline", "markdown-underline",
       [](C& c) { c.replace("Four stages", "__Four__ stages"); }},
      {"Strike", "markdown-strike", [](C& c) { c.replace("Four stages", "~Four~ stages"); }},
      {"HardBreak", "markdown-break",
       [](C& c) { c.replace("Four stages", "Here  \nFour stages"); }},
      {"LinkNowhere", "text-link",
       [](C& c) { c.replace("Four stages", "[Four](other.html) stages"); }},
      {"PictureMissing", "text-picture",
       [](C& c) { c.replace("Four stages", "![a](none.svg) Four"); }},
      {"PictureOutside", "text-picture",
       [](C& c) {
         std::ofstream(c.root() / "out.svg") << "<svg/>";
         c.replace("Four stages", "![a](../out.svg) Four");
       }},
      {"PictureByLink", "text-picture",
       [](C& c) {
         std::ofstream(c.root() / "out.svg") << "<svg/>";
         std::filesystem::create_symlink(c.root() / "out.svg", c.folder() / "in.svg");
         c.replace("Four stages", "![a](in.svg) Four");
       }},
      {"PictureOfAnotherKind", "text-picture-kind",
       [](C& c) {
         c.add("a.bmp", "BM");
         c.replace("Four stages", "![a](a.bmp) Four");
       }},
      {"PictureWithoutWords", "text-picture-words",
       [](C& c) {
         c.add("a.svg", "<svg/>");
         c.replace("Four stages", "![](a.svg) Four");
       }},
  };
  return all;
}

INSTANTIATE_TEST_SUITE_P(Rules, PlantedFault, testing::ValuesIn(planted()),
                         [](const auto& planted_fault) { return planted_fault.param.name; });

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
