// SPDX-License-Identifier: Apache-2.0
#include "engine/run/calibrate/other_programs.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>

namespace parallelarium {
namespace {

TEST(OtherPrograms, UseWhatIsBusyAndNotOurs) {
  const CoreClocks before{100, 50, 20};
  // Ten seconds, in which 2 cores were busy for 19 and this program had 6 of them.
  EXPECT_DOUBLE_EQ(*cores_used_by_others(before, {110, 69, 26}), 1.3);
  EXPECT_DOUBLE_EQ(*cores_used_by_others(before, {110, 56, 26}), 0);
  EXPECT_DOUBLE_EQ(*cores_used_by_others(before, {110, 55.9, 26}), 0) << "ticks are coarse";
  EXPECT_FALSE(cores_used_by_others(before, before)) << "no time has passed";
}

TEST(OtherPrograms, BusyTimeIsThatOfTheNamedUnits) {
  const std::string_view stat =
      "cpu  1111 2222 3333 4444 5555 6666 7777 8888 0 0\n"
      "cpu0 100 20 3 9000 800 4 5 60 7 8\n"
      "cpu1 1000 0 0 9000 0 0 0 0 0 0\n"
      "cpu12 7 0 0 9000 0 0 0 0 0 0\n"
      "intr 12345\n";
  // user, nice, system, irq and softirq; neither idle, waiting for disks, stolen, nor guests.
  EXPECT_DOUBLE_EQ(*busy_seconds(stat, {{0}}, 100), 1.32);
  EXPECT_DOUBLE_EQ(*busy_seconds(stat, {{0, 1}, {12}}, 100), 11.39);
  EXPECT_FALSE(busy_seconds(stat, {{0}, {2}}, 100)) << "not there";
  EXPECT_FALSE(busy_seconds("\ncpu0 1 2 x", {{0}}, 100));
  EXPECT_FALSE(busy_seconds("", {{0}}, 100));
}

// Whatever else runs meanwhile only adds to it.
TEST(OtherPrograms, AnotherProcessIsSeenWithItsOwnTime) {
  const std::vector<Core> cores = available_cores();
  const auto before = core_clocks(cores);
  if (!before) GTEST_SKIP() << "this system has no /proc/stat";
  const pid_t child = fork();
  if (child == 0) {
    const auto own_seconds = [] {
      timespec now{};
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
      return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
    };
    while (own_seconds() < 0.5) continue;
    _exit(0);
  }
  ASSERT_GT(child, 0);
  int status = 0;
  rusage used{};
  ASSERT_EQ(wait4(child, &status, 0, &used), child);
  const auto after = core_clocks(cores);
  ASSERT_TRUE(after);
  const double others = *cores_used_by_others(*before, *after) * (after->wall - before->wall);
  EXPECT_GT(others, 0.5 - 0.1) << "seconds; the system counts in ticks of some 10 ms";
}

}  // namespace
}  // namespace parallelarium
