// SPDX-License-Identifier: Apache-2.0
#include "kernels/optimizer/runs.h"

#include <gtest/gtest.h>

#include <vector>

namespace parallelarium {
namespace {

TEST(Runs, NeighboursOfOneKindAreOne) {
  Runs runs;
  EXPECT_EQ(runs.length(), 0);
  for (const auto& [length, mark] : {std::pair{3, true}, {4, true}, {1, false}, {2, true}})
    runs.add(length, mark);
  EXPECT_EQ(runs.length(), 10);
  std::vector<std::vector<std::int64_t>> seen;
  runs.for_each([&](std::int64_t begin, std::int64_t length, bool marked) {
    seen.push_back({begin, length, marked});
  });
  EXPECT_EQ(seen, (std::vector<std::vector<std::int64_t>>{{0, 7, 1}, {7, 1, 0}, {8, 2, 1}}));
  EXPECT_EQ(one_run(0).count, 0);
}

TEST(Runs, AFullTableTakesOnlyWhatItsLastRunIs) {
  Runs runs;
  for (int run = 0; run < kMostRuns; ++run) {
    EXPECT_TRUE(runs.takes(run % 2 != 0));
    runs.add(1, run % 2 != 0);
  }
  EXPECT_TRUE(runs.takes(true));
  EXPECT_FALSE(runs.takes(false));
  runs.add(5, true);
  EXPECT_EQ(runs.count, kMostRuns);
  EXPECT_EQ(runs.length(), kMostRuns + 5);
}

// The 4 KiB of a kernel's parameters hold some addresses and numbers too.
TEST(Runs, FitAKernelsParameters) { EXPECT_LE(sizeof(Runs), 3800U); }

}  // namespace
}  // namespace parallelarium
