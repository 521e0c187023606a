// SPDX-License-Identifier: Apache-2.0
// The ten puzzles of the schedule editor: what their texts say of floor and messages is what the
// search of all orders says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "engine/lesson/lesson.h"
#include "engine/schedules/floor.h"
#include "tests/lesson/lesson_copy.h"

namespace parallelarium {
namespace {

// The number behind these words; NaN if they do not stand there.
double number_behind(const std::string& words, const std::string& text) {
  std::smatch found;
  if (!std::regex_search(text, found, std::regex(words + " ([0-9]+([.,][0-9]+)?)"))) return NAN;
  std::string number = found[found.size() - 2];
  std::replace(number.begin(), number.end(), ',', '.');
  return std::stod(number);
}

struct Puzzle {
  Order solution;
  std::vector<Durations> stages;
  HeldLimits limits;
  double par = 0;
};
Puzzle puzzle_of(const Step& step) {
  std::string lines;
  for (const std::string& line : step.order.solution) lines += line + '\n';
  Puzzle puzzle;
  puzzle.solution = order_from_text(lines).value();
  puzzle.stages = step.order.by_stage(puzzle.solution.stages);
  for (const Check& check : step.checks) {
    if (check.key == "makespan") puzzle.par = std::stod(check.value);
    if (check.key == "peak_in_flight.*")
      puzzle.limits.assign(puzzle.solution.ranks.size(), std::stod(check.value));
  }
  return puzzle;
}

TEST(Puzzles, NameTheirFloorsAndTheirMessagesCost) {
  std::vector<std::string> free, unproved;
  int puzzles = 0;
  for (const char* id : {"orders-by-hand", "orders-for-experts"}) {
    const Result<Lesson> lesson = read_lesson(shipped_lessons() + "/" + id);
    ASSERT_TRUE(lesson) << lesson.error().text;
    for (const Step& step : lesson->steps) {
      if (!step.builds_order()) continue;
      SCOPED_TRACE(step.id);
      ++puzzles;
      if (step.order.durations.transfer == 0) free.push_back(step.id);
      const Puzzle puzzle = puzzle_of(step);
      const Floor floor = floor_of(puzzle.solution, puzzle.stages, puzzle.limits);
      EXPECT_GE(puzzle.par, floor.best_known) << "it can be reached";
      const std::string& english = lesson->texts.at("en").steps.at(step.id).body;
      const std::string& german = lesson->texts.at("de").steps.at(step.id).body;
      EXPECT_EQ(number_behind("[Ff]loor is", english), floor.at_least);
      EXPECT_EQ(number_behind("Untergrenze( ist)?( ebenfalls)?", german), floor.at_least);
      if (floor.exact) continue;
      unproved.push_back(step.id);
      EXPECT_EQ(number_behind("the shortest order known takes", english), floor.best_known);
      EXPECT_EQ(number_behind("die kürzeste bekannte Reihenfolge dauert", german),
                floor.best_known);
    }
  }
  EXPECT_EQ(puzzles, 10);
  EXPECT_THAT(free, testing::ElementsAre("first-steps")) << "and its text says so";
  EXPECT_THAT(unproved, testing::IsEmpty());
}

}  // namespace
}  // namespace parallelarium
