// SPDX-License-Identifier: Apache-2.0
// Numbers are drawn: an answer from a neighbour or from an earlier play is seldom the right one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "engine/lesson/lesson.h"
#include "tests/lesson/lesson_copy.h"

namespace parallelarium {
namespace {

constexpr std::size_t kFewestAnswers = 8;

// Where the point is that the answer is the same whatever is drawn.
const std::set<std::string> kAlwaysTheSame = {
    "compute-it-again/how-much-longer",   // full recompute: one forward on three
    "copies-that-agree/twice-the-ranks",  // data parallelism leaves 16 bytes for each parameter
    "two-bandwidths/twice-the-ranks",     // the bus bandwidth is the link's for any number of ranks
};

// The different answers of a numeric question, to five digits; at most as many as are asked for.
std::set<std::string> answers_of(const Lesson& lesson, std::size_t at) {
  std::set<std::string> answers;
  for (const Symbols& drawn : draws(lesson)) {
    const Result<Settings> settings = settings_at(lesson, at, drawn, true);
    EXPECT_TRUE(settings) << lesson.id;
    if (!settings) break;
    Context context;
    context.settings = *settings;
    context.drawn = drawn;
    const Result<double> answer = evaluate(lesson.steps[at].ask->answer, context.symbols());
    EXPECT_TRUE(answer) << lesson.id;
    if (answer) answers.insert(fmt::format("{:.5g}", *answer));
    if (answers.size() == kFewestAnswers) break;
  }
  return answers;
}

TEST(DrawnNumbers, GiveEachQuestionAtLeastEightAnswers) {
  const Result<Course> course = read_course(shipped_lessons());
  ASSERT_TRUE(course);
  std::size_t same = 0;
  for (const CourseEntry& entry : course->lessons) {
    const Result<Lesson> lesson = read_lesson(shipped_lessons() + "/" + entry.id);
    ASSERT_TRUE(lesson) << lesson.error().text;
    for (std::size_t at = 0; at < lesson->steps.size(); ++at) {
      const Step& step = lesson->steps[at];
      if (!step.ask || step.ask->answer.empty()) continue;
      const std::string question = entry.id + "/" + step.id;
      const bool fixed = kAlwaysTheSame.count(question) > 0;
      same += fixed ? 1 : 0;
      EXPECT_EQ(answers_of(*lesson, at).size(), fixed ? 1 : kFewestAnswers) << question;
    }
  }
  EXPECT_EQ(same, kAlwaysTheSame.size());
}

}  // namespace
}  // namespace parallelarium
