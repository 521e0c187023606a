// SPDX-License-Identifier: Apache-2.0
#include "engine/run/stop.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <optional>
#include <thread>

namespace parallelarium {
namespace {

// The calling thread's time slice in nanoseconds as the system tells it; 0 where it tells none, as
// before Linux 6.12.
std::optional<std::uint64_t> time_slice() {
  std::array<std::byte, 48> scheduling{};
  if (syscall(SYS_sched_getattr, 0, scheduling.data(), scheduling.size(), 0) != 0) return {};
  std::uint64_t runtime = 0;  // of struct sched_attr, behind size, policy, flags, nice, priority
  std::memcpy(&runtime, scheduling.data() + 24, sizeof runtime);
  return runtime;
}

TEST(Turns, AreShorterThanThoseOfThreadsThatCompute) {
  std::optional<std::uint64_t> before, after;
  std::thread lane([&] {
    before = time_slice();
    ask_for_prompt_turns();
    after = time_slice();
  });
  lane.join();
  if (!before || !after || *before == 0) GTEST_SKIP() << "this system has no slices of one's own";
  EXPECT_EQ(*after, 100'000);
  EXPECT_LT(*after, *before);
  EXPECT_EQ(time_slice(), before) << "of that thread alone";
}

}  // namespace
}  // namespace parallelarium
