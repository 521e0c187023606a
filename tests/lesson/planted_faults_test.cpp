// SPDX-License-Identifier: Apache-2.0
// One planted fault for each rule of check_lesson, and the words of each in every language.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "engine/lesson/check/check.h"
#include "tests/lesson/lesson_copy.h"

namespace parallelarium {
namespace {

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

// The line that a fault names begins with its key, or with the last one of several; a fault without
// a line names it in its sentence.
void expect_place(const LessonCopy& copy, const LessonFault& fault) {
  if (fault.line == 0) {
    EXPECT_TRUE(fault.text.find("line ") != std::string::npos || fault.field == "lesson.json")
        << fault.field << ": " << fault.text;
    return;
  }
  std::istringstream lines(content_of(copy.folder() / fault.file));
  std::string line;
  for (int at = 0; at < fault.line; ++at) ASSERT_TRUE(std::getline(lines, line)) << fault.text;
  if (fault.file != "lesson.json") {
    const std::string step =
        fault.field.substr(std::min(fault.field.size(), fault.file.size() + 2));
    const std::string heading = step.empty()        ? ""
                                : fault.key.empty() ? "## " + step + ":"
                                                    : "### " + fault.key;
    EXPECT_EQ(line.substr(0, heading.size()), heading) << fault.field << ": " << fault.text;
    return;
  }
  if (fault.key.empty() || std::isdigit(static_cast<unsigned char>(fault.key.back()))) return;
  const auto key =
      nlohmann::json::parse("{" + line.substr(0, line.find(':')) + ": 0}", nullptr, false);
  ASSERT_TRUE(key.is_object()) << line;
  EXPECT_TRUE(fault.key.ends_with(key.begin().key())) << fault.key << " in: " << line;
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
  for (const LessonFault& fault : report.faults) {
    rules.push_back(fault.kind);
    EXPECT_FALSE(fault.text.empty());
    EXPECT_EQ(said_by_id(fault), fault.text) << fault.id;
    expect_place(copy, fault);
    const auto same = [&](const LessonFault& other) {
      return other.id == "fault-drawn" && other.field == fault.field && other.key == fault.key &&
             other.arguments[0].id == fault.arguments[0].id;
    };
    if (fault.id == "fault-drawn") {
      EXPECT_EQ(std::count_if(report.faults.begin(), report.faults.end(), same), 1)
          << "once, whatever is drawn: " << told(report);
    }
  }
  EXPECT_THAT(rules, testing::Contains(GetParam().rule)) << told(report);
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
      {"AnswerInTheText", "answer-told",
       [](C& c) { c.replace("{{more}}", "{{more}} ({{share: (p - 1) / (more + p - 1)}})"); }},
      {"AnswerInAHint", "answer-told",
       [](C& c) {
         c.replace("### hint 1\n", "### hint 1\nIt is {{share: (p - 1) / (more + p - 1)}}: ");
       }},
      {"FormulaInTheText", "answer-told",
       [](C& c) { c.replace("{{more}}", "{{more}}, where it is (p − 1) ÷ (m + p − 1),"); }},
      {"FormulaShown", "answer-told",
       [](C& c) {
         c.step(kAsk)["hide"] = {"step", "lane"};
       }},
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

}  // namespace
}  // namespace parallelarium
