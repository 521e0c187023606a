// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/shared/time_axis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace parallelarium {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TimeAxis axis_of(std::int64_t begin, std::int64_t end, double left, double width) {
  return {{Nanoseconds(begin), Nanoseconds(end)}, left, width};
}

TEST(TimeAxis, PixelsAndTimesAreInverse) {
  for (const auto& axis : {axis_of(0, 1'000'000, 86, 770), axis_of(5'000, 5'321, 0, 97),
                           axis_of(0, 90'000'000'000, 86, 1500)}) {
    EXPECT_DOUBLE_EQ(axis.x_of(axis.range.begin), axis.left);
    EXPECT_NEAR(axis.x_of(axis.range.end), axis.left + axis.width, 1e-9);
    for (double x = axis.left; x <= axis.left + axis.width; x += 13.7)
      EXPECT_NEAR(axis.x_of(axis.time_at(x)), x, axis.pixels_per_nanosecond());
  }
}

TEST(TimeAxis, AnEmptyRangeIsNoReasonToDivideByZero) {
  const TimeAxis axis = axis_of(7, 7, 10, 100);
  EXPECT_EQ(axis.x_of(Nanoseconds(7)), 10);
  EXPECT_TRUE(ticks_of(axis, 60).empty());
}

TEST(Ticks, StandInOneTwoFiveStepsAndApart) {
  std::mt19937_64 random(1);
  for (int sample = 0; sample < 300; ++sample) {
    const auto length = static_cast<std::int64_t>(
        std::pow(10.0, 2.5 + 8 * std::generate_canonical<double, 53>(random)));
    const std::int64_t begin = static_cast<std::int64_t>(random() % 1'000'000);
    const TimeAxis axis =
        axis_of(begin, begin + length, 86, 300 + static_cast<double>(random() % 1500));
    const auto ticks = ticks_of(axis, 64);
    ASSERT_FALSE(ticks.empty());
    for (std::size_t i = 1; i < ticks.size(); ++i) {
      EXPECT_GE(axis.x_of(ticks[i].time) - axis.x_of(ticks[i - 1].time), 63.9);
      std::int64_t step = (ticks[i].time - ticks[i - 1].time).count();
      while (step % 10 == 0) step /= 10;
      EXPECT_TRUE(step == 1 || step == 2 || step == 5) << step;
    }
    for (const Tick& tick : ticks) {
      EXPECT_GE(tick.time, axis.range.begin);
      EXPECT_LE(tick.time, axis.range.end);
    }
  }
}

TEST(Ticks, AreLabelledInTheUnitOfTheirStep) {
  const auto ticks = ticks_of(axis_of(0, 90'000'000, 86, 770), 64);
  ASSERT_EQ(ticks.size(), 10u);
  EXPECT_EQ(ticks[0].label, "0 ms");
  EXPECT_EQ(ticks[6].label, "60 ms");
  EXPECT_EQ(ticks_of(axis_of(0, 9'000, 86, 770), 64)[1].label, QStringLiteral("1 \u00b5s"));
}

TEST(Zoom, KeepsThePointUnderThePointerAndTheStepInside) {
  const Nanoseconds horizon = milliseconds(90);
  TimeRange range{Nanoseconds(0), horizon};
  const Nanoseconds fixed = milliseconds(61);
  for (int notch = 0; notch < 30; ++notch) {
    const double before = static_cast<double>((fixed - range.begin).count()) /
                          static_cast<double>(range.length().count());
    range = zoomed(range, fixed, 0.8, horizon);
    const double after = static_cast<double>((fixed - range.begin).count()) /
                         static_cast<double>(range.length().count());
    EXPECT_NEAR(before, after, 1e-3);
    EXPECT_GE(range.begin, Nanoseconds(0));
    EXPECT_LE(range.end, horizon);
  }
  EXPECT_LT(range.length(), microseconds(200));
  EXPECT_EQ(zoomed(range, fixed, 1e9, horizon), (TimeRange{Nanoseconds(0), horizon}));
  EXPECT_EQ(panned(range, milliseconds(500), horizon).end, horizon);
  EXPECT_EQ(panned(range, milliseconds(-500), horizon).begin, Nanoseconds(0));
}

}  // namespace
}  // namespace parallelarium
