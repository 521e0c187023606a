// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/placement/stretch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace parallelarium {
namespace {

// The share of compute time in ops that are late, by its definition.
double overrun(const std::vector<OpWork>& ops, double stretch) {
  double late = 0, all = 0;
  for (const OpWork& op : ops) {
    const double slot = op.seconds * stretch;
    all += std::max(slot, op.work);
    if (op.work > slot * (1 + 1e-12)) late += op.work;
  }
  return all > 0 ? late / all : 0;
}

TEST(Stretch, IsTheLeastThatKeepsOverrunsRare) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> time(0, 1);
  for (const int count : {1, 2, 3, 7, 300, 5000}) {
    std::vector<OpWork> ops;
    for (int op = 0; op < count; ++op) ops.push_back({time(random), time(random) * time(random)});
    const double least = stretch_without_overruns(ops);
    EXPECT_LE(overrun(ops, least), kMostOverrun * (1 + 1e-9)) << count;
    EXPECT_GT(overrun(ops, 0.999 * least), kMostOverrun) << count;
  }
}

TEST(Stretch, NeedsNoneForNoWork) {
  EXPECT_EQ(stretch_without_overruns({}), 0);
  EXPECT_EQ(stretch_without_overruns({{1, 0}, {2, 0}}), 0);
  EXPECT_EQ(stretch_without_overruns({{0, 1}}), 0) << "no stretch gives it time";
  // An op without time may be late while it is a hundredth of all.
  EXPECT_NEAR(stretch_without_overruns({{0, 1}, {1, 1}}), 99, 1e-9);
}

TEST(Stretch, KeepsTheLoadOfTheCoresLow) {
  // Two ranks that compute all the time, a second of work for a second of the machine.
  const std::vector<RankWork> ranks(2, RankWork{{{1, 1 - kSleepSeconds}}, 1});
  for (const int cores : {1, 2, 4}) {
    const double of_cores = 2.0 / cores / kMostRehearsedLoad, of_lane = 1 / kMostRehearsedLoad;
    EXPECT_NEAR(least_stretch(ranks, 1, cores), std::max(of_cores, of_lane), 1e-9) << cores;
  }
}

TEST(Stretch, IsChosenWithTwoDigitsAndNeverBelowTheWish) {
  EXPECT_EQ(chosen_stretch(0, 1), 1);
  EXPECT_EQ(chosen_stretch(0.2, 1), 1);
  EXPECT_DOUBLE_EQ(chosen_stretch(9, 1), 9.9);
  EXPECT_DOUBLE_EQ(chosen_stretch(122, 1), 140);
  EXPECT_EQ(chosen_stretch(9, 40), 40);
}

}  // namespace
}  // namespace parallelarium
