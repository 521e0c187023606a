// SPDX-License-Identifier: Apache-2.0
// What a hand-in leaves out, repeats or damages neither raises its mark nor goes unsaid.
#include "tests/lesson/teaching/hand_in.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "engine/lesson/teaching/grading/report.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const char* const kLesson = "filling-the-bubble";

HandIn marked(const json& play) {
  return report_on({write_hand_in("marked.json", play)}, shipped_lessons(), {}).hand_ins[0];
}

// Where the lesson first has a step of that kind.
std::size_t place_of(StepKind kind) {
  const Lesson lesson = shipped(kLesson);
  const auto found = std::find_if(lesson.steps.begin(), lesson.steps.end(),
                                  [&](const Step& step) { return step.kind == kind; });
  EXPECT_NE(found, lesson.steps.end());
  return static_cast<std::size_t>(found - lesson.steps.begin());
}

std::vector<std::string> fault_ids(const HandIn& hand_in) {
  std::vector<std::string> ids;
  for (const Message& fault : hand_in.faults) ids.push_back(fault.id);
  return ids;
}

TEST(HandInMark, IsOutOfWhatTheLessonAsksWhateverTheFileLeavesOut) {
  const Lesson lesson = shipped(kLesson);
  const auto asked = static_cast<int>(
      std::count_if(lesson.steps.begin(), lesson.steps.end(), [](const Step& step) {
        return step.kind != StepKind::kRead && step.kind != StepKind::kRun;
      }));
  const std::size_t wrong = place_of(StepKind::kPredict);
  const json play = played(kLesson, 3, lesson.steps[wrong].id);
  EXPECT_EQ(marked(play).asked(), asked);
  EXPECT_EQ(marked(play).right(), asked - 1);
  EXPECT_EQ(marked(play).unanswered(), 0);

  json dropped = play, none = play, empty = play;
  dropped["steps"].erase(wrong);
  none["steps"][wrong]["attempts"] = 0;
  for (const json& other : {dropped, none}) {
    const HandIn hand_in = marked(other);
    EXPECT_EQ(hand_in.asked(), asked);
    EXPECT_EQ(hand_in.right(), asked - 1);
    EXPECT_EQ(hand_in.unanswered(), 1);
    ASSERT_EQ(hand_in.steps[wrong].step, lesson.steps[wrong].id) << "in the lesson's order";
    EXPECT_FALSE(hand_in.steps[wrong].answered);
  }
  empty["steps"] = json::array();
  EXPECT_EQ(marked(empty).asked(), asked);
  EXPECT_EQ(marked(empty).right(), 0);
}

TEST(HandInMark, CountsAStepOnceAndNamesTheRepeat) {
  const std::size_t at = place_of(StepKind::kPredict);
  json play = played(kLesson, 3);
  const int right = marked(play).right();
  for (int copy = 0; copy < 2; ++copy) play["steps"].push_back(play["steps"][at]);
  const HandIn hand_in = marked(play);
  EXPECT_EQ(hand_in.right(), right);
  EXPECT_THAT(fault_ids(hand_in), testing::ElementsAre("hand-in-repeated"));
}

TEST(HandInMark, SurvivesCountsThatNoIntegerHolds) {
  json play = played(kLesson, 3);
  play["seconds"] = 1e300;
  for (json& step : play["steps"]) step["hints"] = 1e300;
  EXPECT_EQ(marked(play).minutes, 1'000'000);
  for (const HandInStep& step : marked(play).steps) EXPECT_GE(step.hints, 0);
  play["seconds"] = -1e300;
  EXPECT_EQ(marked(play).minutes, 0);
  play["seconds"] = 150;
  EXPECT_EQ(marked(play).minutes, 3);
}

TEST(HandInRun, IsAFaultWhereItIsNotToldInFull) {
  const std::size_t at = place_of(StepKind::kRun);
  const json play = played(kLesson, 3);
  EXPECT_TRUE(marked(play).faults.empty());
  const auto without = [&](const char* key) {
    json other = play;
    if (*key)
      other["steps"][at]["run"].erase(key);
    else
      other["steps"][at].erase("run");
    return other;
  };
  json text = play;
  text["steps"][at]["run"]["losses"] = "low";
  json word = play;
  word["steps"][at]["run"] = "measured";
  for (const json& other :
       {without(""), without("losses"), without("sent_bytes"), without("setup"), text, word}) {
    EXPECT_THAT(fault_ids(marked(other)), testing::ElementsAre("hand-in-run"));
    EXPECT_TRUE(marked(other).has_runs()) << "it can be drawn";
  }
  json left_out = play;
  left_out["steps"].erase(at);
  EXPECT_EQ(marked(left_out).unanswered(), 1) << "a run that was not made is shown as such";
  EXPECT_FALSE(marked(left_out).has_runs());
}

TEST(HandInCsv, SaysTheFaultsAndHasALineForAFileWithoutSteps) {
  json twice = played(kLesson, 3);
  twice["steps"].push_back(twice["steps"][1]);
  twice["steps"].erase(place_of(StepKind::kGoal));
  const std::string good = write_hand_in("twice.json", twice);
  const std::string csv = to_csv(report_on({"/nowhere.json", good}, shipped_lessons(), {}));
  EXPECT_THAT(csv, HasSubstr("rerun,equal_to,answered,points,to_give,faults\n/nowhere.json,"));
  EXPECT_THAT(csv, HasSubstr("more than once; the first counts."));
  EXPECT_THAT(csv, HasSubstr(",goal,no,no,0,0,,,no,,,no,"));
  // Every line has as many fields as the first: commas outside of quotes.
  std::istringstream lines(csv);
  std::size_t count = 0, rows = 0;
  for (std::string line; std::getline(lines, line); ++rows) {
    std::size_t commas = 0;
    bool quoted = false;
    for (const char letter : line) {
      quoted ^= letter == '"';
      commas += letter == ',' && !quoted;
    }
    if (rows == 0) count = commas;
    EXPECT_EQ(commas, count) << line;
  }
  EXPECT_GT(rows, 3u);
}

}  // namespace
}  // namespace parallelarium
