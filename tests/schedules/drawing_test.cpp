// SPDX-License-Identifier: Apache-2.0
// Drawings of schedules: published ones that no computer could run, and orders that were timed.
#include "engine/schedules/drawing.h"

#include <gmock/gmock.h>

#include <cmath>

#include "engine/schedules/schedule.h"
#include "engine/schedules/timing.h"

namespace parallelarium {
namespace {

Drawing drawn(const std::vector<std::string>& lines) {
  const Result<Drawing> drawing = drawing_from_lines(lines);
  EXPECT_TRUE(drawing) << drawing.error().text;
  return *drawing;
}

// An order with every action one slot long, as time_order() places it.
Drawing drawing_of(const Order& order) {
  Durations unit;
  unit.backward = 1;
  Drawing drawing;
  for (const auto& spans : time_order(order, unit).spans) {
    auto& row = drawing.rows.emplace_back();
    for (const TimedAction& span : spans) {
      const auto slot = static_cast<std::size_t>(std::lround(span.begin));
      row.resize(std::max(row.size(), slot + 1));
      row[slot] = span.action;
    }
  }
  return drawing;
}

TEST(Drawing, OfATimedOrderHasNoFaultAndOneSlotEarlierEveryBackwardIsOne) {
  for (const auto& [stages, microbatches] :
       {std::pair{1, 3}, {2, 2}, {3, 5}, {4, 4}, {4, 6}, {5, 3}, {8, 16}}) {
    for (const Order& order :
         {gpipe_order(stages, microbatches), one_f_one_b_order(stages, microbatches),
          naive_order(stages, microbatches)}) {
      Drawing drawing = drawing_of(order);
      EXPECT_THAT(faults_of(drawing), testing::IsEmpty()) << order.name;
      // The first backward of each row moves to the slot in which that of the stage after ends.
      for (std::size_t stage = 0; stage + 1 < drawing.rows.size(); ++stage) {
        Drawing early = drawing;
        auto& row = early.rows[stage];
        const auto first = std::find_if(row.begin(), row.end(), [](const auto& action) {
          return action && action->kind == ActionKind::kBackward;
        });
        const auto& after = drawing.rows[stage + 1];
        const auto needed = std::find(after.begin(), after.end(), *first) - after.begin();
        const Action moved = **first;
        first->reset();
        row[static_cast<std::size_t>(needed)] = moved;
        const auto faults = faults_of(early);
        const auto is_moved = [&](const DrawnFault& fault) {
          return fault.stage == static_cast<int>(stage) && fault.action == moved &&
                 fault.needs_slot == fault.slot;
        };
        EXPECT_TRUE(std::any_of(faults.begin(), faults.end(), is_moved)) << order.name;
      }
    }
  }
}

// The three drawings that lessons show: 4, 12 and 6 actions begin too early.
TEST(Drawing, KnownDrawingsHaveTheirFaults) {
  EXPECT_EQ(
      faults_of(drawn({"F0 F1 F2 F3 .. .. .. .. B3 B2 B1 B0", ".. F0 F1 F2 F3 .. .. B3 B2 B1 B0 ..",
                       ".. .. F0 F1 F2 F3 B3 B2 B1 B0 .. ..",
                       ".. .. .. F0 F1 F2 F3 B3 B2 B1 B0 .. .. .."}))
          .size(),
      4u);
  EXPECT_EQ(faults_of(drawn({"F0 F1 F2 F3 B0 B1 B2 B3", ".. F0 F1 F2 F3 B0 B1 B2 B3",
                             ".. .. F0 F1 F2 F3 B0 B1 B2 B3", ".. .. .. F0 F1 F2 F3 B0 B1 B2 B3"}))
                .size(),
            12u);
  const auto gapless = faults_of(drawn({"F0 F1 F2 F3 B0 F4 B1 F5 B2 B3 B4 B5",
                                        ".. F0 F1 F2 .. .. B0 F3 B1 F4 B2 F5 B3 .. B4 .. B5",
                                        ".. .. F0 F1 .. B0 F2 B1 F3 B2 F4 B3 F5 B4 .. B5",
                                        ".. .. .. F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5"}));
  ASSERT_EQ(gapless.size(), 6u);
  EXPECT_TRUE(std::all_of(gapless.begin(), gapless.end(),
                          [](const DrawnFault& fault) { return fault.stage == 0; }));
}

TEST(Drawing, SaysWhatIsMissing) {
  const auto faults = faults_of(drawn({"F0 B0", ".. B0"}));
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(faults[1].sentence().text, "B0 of stage 1 needs F0 of stage 1, which is not drawn.");
}

TEST(Drawing, RefusesWhatItCannotRead) {
  const auto refused = [](const std::vector<std::string>& lines) {
    const Result<Drawing> drawing = drawing_from_lines(lines);
    return drawing ? std::string("read") : drawing.error().text;
  };
  EXPECT_THAT(refused({}), testing::HasSubstr("1 to 32 rows"));
  EXPECT_THAT(refused({"F0", ""}), testing::HasSubstr("1 to 128 slots"));
  for (const char* word : {"W0", "F", "F-1", "F1x", "0", "f0", "F99999999999"})
    EXPECT_THAT(refused({std::string("F0 ") + word}), testing::HasSubstr("neither")) << word;
  EXPECT_THAT(refused({"F0 .. F0"}), testing::HasSubstr("twice"));
}

}  // namespace
}  // namespace parallelarium
