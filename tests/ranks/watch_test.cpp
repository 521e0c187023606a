// SPDX-License-Identifier: Apache-2.0
// The watchdog by a clock of the test's own.
#include "engine/run/watch.h"

#include <gtest/gtest.h>

#include "tests/ranks/harness.h"

namespace parallelarium {
namespace {

TEST(Watch, EndsTheRunWhenNothingHasMovedForTheTimeoutAndNotBefore) {
  const parallelarium::Setup setup = small_setup(2, 1, 2);
  const Program program = built(setup);
  Progress progress;
  for (std::size_t rank = 0; rank < 2; ++rank) progress.push_back(std::make_unique<RankProgress>());
  RunControl control;
  control.hang_timeout_seconds = 20;
  Stop stop;
  TimePoint time{};
  RunWatch watch(setup, program, control, progress, stop, false, 2, [&] { return time; });
  const auto look_after = [&](int seconds) {
    time += std::chrono::seconds{seconds};
    watch.look();
    return stop.raised();
  };
  EXPECT_FALSE(look_after(1000)) << "between steps nobody hangs";
  LaneProgress& lane = progress[1]->lanes[0];
  for (std::int32_t op = 0; op < 3; ++op) {
    lane.set(op, Doing::kComputing);
    EXPECT_FALSE(look_after(15)) << "something moved";
  }
  EXPECT_FALSE(look_after(20));
  ASSERT_TRUE(look_after(1));
  EXPECT_EQ(stop.why().id, "hang");
  EXPECT_EQ(stop.why().text.rfind("Rank 1 did not finish ", 0), 0u) << stop.why().text;
}

}  // namespace
}  // namespace parallelarium
