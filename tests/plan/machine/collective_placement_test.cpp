// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a collective go that is run alone.
#include <gtest/gtest.h>

#include "tests/plan/machine/computers.h"

namespace parallelarium {
namespace {

TEST(CollectivePlacement, IsNeverPaced) {
  Computer computer;
  computer.cores = 2;
  RunSettings run;
  EXPECT_EQ(place(run, 64, computer, Pacing::kNever)->source, Source::kOversubscribed);
  EXPECT_EQ(place(run, 2, computer, Pacing::kNever)->source, Source::kMeasured);
  run.backend = Backend::kPaced;
  EXPECT_EQ(place(run, 2, computer, Pacing::kNever).error().id, "collective-paced");
}

// Beside a training step that has no place for it, a collective goes on cores, and is never paced.
TEST(CollectivePlacement, GoesOnCoresWhereTheSettingsHaveNoPlaceForIt) {
  Computer two;
  two.cores = 4;
  two.gpus = {h100(), h100()};
  const auto placed = [&](Backend wish, int ranks) {
    RunSettings run;
    run.backend = wish;
    return place_collective(run, ranks, two);
  };
  EXPECT_EQ(placed(Backend::kCuda, 2).gpus, (Gpus{0, 1}));
  EXPECT_EQ(placed(Backend::kAuto, 2).gpus, (Gpus{0, 1}));
  for (const Backend wish : {Backend::kCuda, Backend::kAuto, Backend::kPaced}) {
    EXPECT_FALSE(placed(wish, 4).on_gpus()) << static_cast<int>(wish);
    EXPECT_EQ(placed(wish, 4).source, Source::kMeasured) << static_cast<int>(wish);
    EXPECT_EQ(placed(wish, 8).source, Source::kOversubscribed) << static_cast<int>(wish);
  }
}

}  // namespace
}  // namespace parallelarium
