// SPDX-License-Identifier: Apache-2.0
// Questions that ask for several things at once: words in an order, words beside words, numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/lesson/check/check.h"
#include "engine/lesson/play.h"
#include "engine/lesson/teaching/grading/report.h"
#include "tests/lesson/lesson_copy.h"

namespace parallelarium {
namespace {

using nlohmann::json;

Step question() {
  Step step;
  step.id = "which";
  step.kind = StepKind::kExplain;
  for (const char* id : {"rows", "columns"}) step.options.push_back({id, false, "", ""});
  step.parts = {{"first", "columns", {}}, {"second", "rows", {}}, {"bytes", "", {}}};
  step.parts[2].ask = {"", "bytes", "4 * p", {0, 0.1}};
  return step;
}

Answer answer(const std::string& first, const std::string& second, double bytes) {
  Answer given;
  given.parts["first"].option = first;
  given.parts["second"].option = second;
  given.parts["bytes"].number = bytes;
  return given;
}

TEST(Parts, EachIsJudgedByItself) {
  Context context;
  context.settings.setup.mesh.pp = 4;
  const auto judged = [&](const Answer& given) { return judge(question(), given, context); };
  const auto all = judged(answer("columns", "rows", 17));
  ASSERT_TRUE(all);
  EXPECT_EQ(all->verdict, Verdict::kRight);
  EXPECT_EQ(all->feedback, "right");
  const auto two = judged(answer("rows", "rows", 20));
  ASSERT_TRUE(two);
  EXPECT_EQ(two->verdict, Verdict::kWrong);
  EXPECT_THAT(two->wrong_parts, testing::ElementsAre("bytes", "first"));
  EXPECT_EQ(two->symbols.at("wrong_parts"), 2);
  EXPECT_EQ(two->symbols.at("all_parts"), 3);
  const auto none = judged({});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->wrong_parts.size(), 3u);
}

TEST(Parts, AnswersSurviveBeingKept) {
  const auto parts = answer("columns", "rows", 16.5).parts;
  EXPECT_EQ(parts_from_json(to_json(parts)), parts);
  EXPECT_TRUE(parts_from_json(json::array({1})).empty());
  EXPECT_TRUE(parts_from_json({{"first", nullptr}}).empty());
}

TEST(Parts, OptionsComeInAnOrderThatTheSeedDraws) {
  Step step = question();
  step.options.clear();
  for (const char* id : {"a", "b", "c", "d"}) step.options.push_back({id, false, "", ""});
  const auto order = [&](std::uint64_t seed) {
    std::string ids;
    for (const Option& option : options_drawn(step, seed)) ids += option.id;
    return ids;
  };
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    std::string ids = order(seed);
    EXPECT_EQ(ids, order(seed));
    seen.insert(ids);
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(ids, "abcd");
  }
  EXPECT_EQ(seen.size(), 24u);  // every order is drawn
}

struct PlantedPart {
  const char* name;
  const char* rule;
  std::function<void(LessonCopy&, json&)> plant;
};

class PartsFaults : public testing::TestWithParam<PlantedPart> {};

TEST_P(PartsFaults, IsTold) {
  LessonCopy copy("copies-that-agree");
  GetParam().plant(copy, copy.step("in-which-order"));
  copy.write();
  const LessonReport report = check_lesson(copy.folder().string());
  EXPECT_TRUE(std::any_of(report.faults.begin(), report.faults.end(), [](const Message& fault) {
    return fault.kind == GetParam().rule;
  })) << (report.ok() ? "no fault" : report.faults.front().text);
}

INSTANTIATE_TEST_SUITE_P(
    All, PartsFaults,
    testing::Values(
        PlantedPart{"OneAlone", "lesson-schema",
                    [](LessonCopy&, json& step) { step["parts"] = {step["parts"][0]}; }},
        PlantedPart{"NoSuchOption", "lesson-form",
                    [](LessonCopy&, json& step) { step["parts"][0]["option"] = "middle"; }},
        PlantedPart{"TwoOfOneName", "lesson-form",
                    [](LessonCopy&, json& step) { step["parts"][1]["id"] = "first"; }},
        PlantedPart{"CorrectOption", "lesson-form",
                    [](LessonCopy&, json& step) { step["options"][0]["correct"] = true; }},
        PlantedPart{"NumberWithoutAnswer", "lesson-schema",
                    [](LessonCopy&, json& step) {
                      step["parts"][0] = {{"id", "first"}, {"unit", "bytes"}};
                    }},
        PlantedPart{"NumberWithoutValue", "answer-expression",
                    [](LessonCopy&, json& step) {
                      step["parts"][0] = {{"id", "first"}, {"unit", "bytes"}, {"answer", "4 * qq"}};
                    }},
        PlantedPart{"ShownFigure", "answer-shown",
                    [](LessonCopy&, json& step) {
                      step["parts"][0] = {{"id", "first"},
                                          {"unit", "bytes"},
                                          {"answer", "2 * (d - 1) / d * 4 * psi"},
                                          {"metric", "traffic.*.sent_bytes"},
                                          {"tolerance", {{"relative", 0.03}}}};
                    }},
        PlantedPart{"NoLabel", "text-part-missing",
                    [](LessonCopy& copy, json&) { copy.replace("### part third\nThird\n", ""); }},
        PlantedPart{"NoWrong", "text-part-missing",
                    [](LessonCopy& copy, json&) {
                      copy.replace(
                          "{{wrong_parts}} of {{all_parts}} {{wrong_parts == 1 | are | is}} not in "
                          "place; the "
                          "marks say which.",
                          "");
                    }}),
    [](const auto& info) { return info.param.name; });

TEST(Parts, AHandInIsJudgedAnew) {
  const LessonCopy folder;  // for its place
  const std::string file = (folder.root() / "answers.json").string();
  std::ofstream(file) << json{
      {"format", "parallelarium-answers/1"},
      {"lesson", "copies-that-agree"},
      {"version", read_lesson(shipped_lessons() + "/copies-that-agree")->version},
      {"seed", 3},
      {"steps",
       {{{"step", "in-which-order"},
         {"attempts", 2},
         {"right", true},
         {"parts",
          {{"first", "last-gradients"},
           {"second", "first-gradients"},
           {"third", "last-reduce"},
           {"fourth", "update"}}}}}}};
  const ClassReport report = report_on({file}, shipped_lessons(), {});
  ASSERT_EQ(report.hand_ins.size(), 1u);
  const auto& steps = report.hand_ins[0].steps;
  const auto found = std::find_if(steps.begin(), steps.end(),
                                  [](const auto& one) { return one.step == "in-which-order"; });
  ASSERT_NE(found, steps.end());
  const HandInStep& step = *found;
  EXPECT_TRUE(step.judged);
  EXPECT_FALSE(step.right);
  EXPECT_EQ(step.answer,
            "first=last-gradients fourth=update second=first-gradients third=last-reduce");
  EXPECT_FALSE(report.ok());  // it claims to be right
}

}  // namespace
}  // namespace parallelarium
