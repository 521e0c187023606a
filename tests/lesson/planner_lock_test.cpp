// SPDX-License-Identifier: Apache-2.0
// The lock that keeps predictions from the command line ends with whoever holds it.
#include "engine/lesson/planner_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace parallelarium {
namespace {

TEST(PlannerLocks, EndWhenTheyAreOpened) {
  EXPECT_FALSE(planner_locked_by());
  PlannerLock lock, other;
  lock.open();  // of nothing
  ASSERT_TRUE(lock.close("Defend your plan"));
  EXPECT_EQ(planner_locked_by(), "Defend your plan");
  EXPECT_TRUE(lock.close("Another"));  // as it is
  EXPECT_TRUE(other.close("Another"));
  EXPECT_EQ(planner_locked_by(), "Defend your plan");
  other.open();
  EXPECT_TRUE(planner_locked_by());
  lock.open();
  EXPECT_FALSE(planner_locked_by());
  ASSERT_TRUE(other.close("Kurz"));
  EXPECT_EQ(planner_locked_by(), "Kurz") << "nothing is left of the longer title";
}

TEST(PlannerLocks, EndWithTheirProcess) {
  int told[2], leave[2];
  ASSERT_EQ(pipe(told), 0);
  ASSERT_EQ(pipe(leave), 0);
  const pid_t child = fork();
  if (child == 0) {
    PlannerLock lock;
    const char locked = lock.close("Defend your plan") ? 'y' : 'n';
    char ignored;
    if (write(told[1], &locked, 1) == 1 && read(leave[0], &ignored, 1) == 1) _exit(0);
    _exit(1);
  }
  char locked = 0;
  ASSERT_EQ(read(told[0], &locked, 1), 1);
  EXPECT_EQ(locked, 'y');
  EXPECT_EQ(planner_locked_by(), "Defend your plan");
  ASSERT_EQ(write(leave[1], "x", 1), 1);  // it ends as a killed one does: nothing is tidied up
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(planner_locked_by());
}

TEST(PlannerLocks, SayWhereTheyCannotBeWritten) {
  const std::string file = std::string(std::getenv("XDG_DATA_HOME")) + "/file";
  std::ofstream(file) << "not a folder";
  setenv("XDG_DATA_HOME", file.c_str(), 1);
  PlannerLock lock;
  const Result<void> closed = lock.close("Defend your plan");
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().id, "planner-lock");
  EXPECT_FALSE(planner_locked_by());
}

}  // namespace
}  // namespace parallelarium
