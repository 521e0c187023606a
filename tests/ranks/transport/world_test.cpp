// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes: how they meet. Each rank is a thread here with a World of its own;
// tests/cli starts real processes.
#include "engine/run/net/world.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "engine/run/net/bytes.h"
#include "engine/run/net/outcome_bytes.h"
#include "engine/run/net/world_parts.h"
#include "tests/ranks/transport/joined_world.h"

namespace parallelarium {
namespace {

// The ranks are threads of one process, so their clock is one: what the barrier calls the same
// moment must be the same within the error that it states.
TEST(World, AgreesOnTheTimeWithinTheErrorThatItStates) {
  constexpr int kSize = 3, kRounds = 5;
  std::vector<std::vector<TimePoint>> times(kSize);
  std::chrono::nanoseconds error{0};
  in_world(kSize, [&](World& world) {
    Stop stop;
    RunProgress progress = progress_of(kSize);
    world.begin(stop, progress);
    for (int round = 0; round < kRounds; ++round) {
      const TimePoint before = Clock::now();
      const Result<TimePoint> met = world.barrier();
      ASSERT_TRUE(met.ok());
      if (world.leads()) {
        EXPECT_GE(*met, before);
      }
      times[static_cast<std::size_t>(world.rank())].push_back(*met);
    }
    const Result<std::vector<std::string>> all =
        world.finish("outcome of " + std::to_string(world.rank()));
    ASSERT_TRUE(all.ok()) << all.error().text;
    if (!world.leads()) return;
    ASSERT_EQ(all->size(), static_cast<std::size_t>(kSize));
    EXPECT_EQ((*all)[2], "outcome of 2");
    for (int rank = 0; rank < kSize; ++rank) error = std::max(error, world.clock_error(rank));
    EXPECT_GT(world.clock_error(1).count(), 0);
  });
  for (int rank = 1; rank < kSize; ++rank) {
    for (int round = 0; round < kRounds; ++round) {
      const auto at = static_cast<std::size_t>(round);
      const auto difference = times[static_cast<std::size_t>(rank)][at] - times[0][at];
      EXPECT_LE(difference, error);
      EXPECT_GE(difference, -error);
    }
  }
}

TEST(World, TellsRankZeroWhichDeviceEachTook) {
  in_world(3, [&](World& world) {
    if (!world.leads()) return;
    EXPECT_EQ(world.devices(),
              (std::vector<std::string>{"device of 0", "device of 1", "device of 2"}));
  });
}

TEST(World, NamesWhoDidNotComeAndWhoCameWithAnotherSetup) {
  WorldTimes times;
  times.meeting = std::chrono::milliseconds{400};
  const auto alone = World::join(place_of(0, 3, free_port()), "same", times);
  ASSERT_FALSE(alone.ok());
  EXPECT_NE(alone.error().text.find("Ranks 1 and 2 did not come"), std::string::npos)
      << alone.error().text;
  EXPECT_FALSE(World::join(place_of(1, 2, free_port()), "same", times).ok());
  const int port = free_port();
  std::thread other([&] {
    const auto refused = World::join(place_of(1, 2, port), "another");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().id, "rank-refused");
  });
  const auto leader = World::join(place_of(0, 2, port), "same");
  other.join();
  ASSERT_FALSE(leader.ok());
  EXPECT_NE(leader.error().text.find("Rank 1"), std::string::npos);
  EXPECT_NE(leader.error().text.find("another Setup"), std::string::npos) << leader.error().text;
}

// What one rank says ends all, with its words; a process that ends without a word is named.
TEST(World, EndsTogether) {
  std::atomic<int> heard{0};
  in_world(3, [&](World& world) {
    Stop stop;
    RunProgress progress = progress_of(3);
    world.begin(stop, progress);
    if (world.rank() == 2) stop.raise(message("mine", "Rank 2 broke."));
    const auto ended = world.finish("");
    ASSERT_FALSE(ended.ok());
    EXPECT_EQ(ended.error().text, "Rank 2 broke.");
    ++heard;
  });
  EXPECT_EQ(heard, 3);
  in_world(3, [&](World& world) {
    if (world.rank() == 1) return;  // its connections close
    Stop stop;
    RunProgress progress = progress_of(3);
    world.begin(stop, progress);
    const auto ended = world.finish("");
    ASSERT_FALSE(ended.ok());
    EXPECT_NE(ended.error().text.find("process of rank 1"), std::string::npos)
        << ended.error().text;
  });
}

// Rank 0 of two; the other comes, does so, and says nothing until `over`.
Message end_beside(const WorldTimes& times, const std::function<void(World& world)>& other) {
  const int port = free_port();
  std::atomic<bool> over{false};
  std::thread silent([&] {
    const auto world = World::join(place_of(1, 2, port), "same", times);
    ASSERT_TRUE(world.ok());
    other(**world);
    while (!over) std::this_thread::sleep_for(std::chrono::milliseconds{5});
  });
  auto world = World::join(place_of(0, 2, port), "same", times);
  Message why;
  if (world.ok()) {
    Stop stop;
    RunProgress progress = progress_of(2);
    (*world)->begin(stop, progress,
                    [](int rank) { return plain(rank == 1 ? "the loss of micro-batch 3" : ""); });
    const auto ended = (*world)->finish("");
    if (!ended.ok()) why = ended.error();
  }
  over = true;
  silent.join();
  return why;
}

TEST(World, NamesAProcessThatSaysNothing) {
  WorldTimes times;
  times.silence = std::chrono::milliseconds{400};
  times.meeting = std::chrono::seconds{2};
  const Message why = end_beside(times, [](World&) {});
  EXPECT_EQ(why.kind, "rank-silent");
  EXPECT_NE(why.text.find("it was last at the loss of micro-batch 3"), std::string::npos)
      << why.text;
  EXPECT_NE(why.text.find("rank 1"), std::string::npos) << why.text;
}

// One that has begun has the time of an op alone.
TEST(World, NamesAProcessThatIsStopped) {
  const int port = free_port();
  WorldTimes times;
  times.meeting = std::chrono::seconds{60};
  times.silence = std::chrono::milliseconds{400};
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // it cannot end by itself once it is stopped
    const auto world = World::join(place_of(1, 2, port), "same", times);
    if (!world) _exit(1);
    Stop stop;
    RunProgress progress = progress_of(2);
    (*world)->begin(stop, progress);
    std::this_thread::sleep_for(std::chrono::milliseconds{300});  // it has spoken
    raise(SIGSTOP);
    _exit(0);
  }
  auto world = World::join(place_of(0, 2, port), "same", times);
  Message why;
  const TimePoint begin = Clock::now();
  if (world.ok()) {
    Stop stop;
    RunProgress progress = progress_of(2);
    (*world)->begin(stop, progress);
    if (const auto ended = (*world)->finish(""); !ended.ok()) why = ended.error();
  }
  const auto took = Clock::now() - begin;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(why.kind, "rank-silent") << why.text;
  EXPECT_LT(took, std::chrono::seconds{30});
}

// To load a GPU's libraries may take longer than an op may.
TEST(World, GivesAProcessTimeToBegin) {
  WorldTimes times;
  times.meeting = std::chrono::seconds{30};
  times.silence = std::chrono::milliseconds{200};
  const Message why = end_beside(times, [&](World& world) {
    std::this_thread::sleep_for(5 * times.silence);
    Stop stop;
    stop.raise(message("late", "It began late."));
    RunProgress progress = progress_of(2);
    world.begin(stop, progress);
    static_cast<void>(world.finish(""));
  });
  EXPECT_EQ(why.id, "late") << why.text;
}

// It came, and froze before the clocks were compared.
TEST(World, WaitsForNoProcessThatFreezesAtTheMeeting) {
  const int port = free_port();
  WorldTimes times;
  times.silence = std::chrono::milliseconds{300};
  std::atomic<bool> over{false};
  std::thread frozen([&] {
    const Result<Socket> socket =
        connect_to("127.0.0.1", port, Clock::now() + std::chrono::seconds{20});
    ASSERT_TRUE(socket.ok() && *socket);
    Bytes hello;
    hello.put(std::int32_t{1});
    hello.put(std::int32_t{2});
    hello.put_text("same");
    hello.put_text("elsewhere");
    hello.put(std::int32_t{1});
    hello.put_text("");
    send_message(*socket, 0, hello.text());  // World::Kind::kHello
    while (!over) std::this_thread::sleep_for(std::chrono::milliseconds{5});
  });
  const TimePoint begin = Clock::now();
  const auto world = World::join(place_of(0, 2, port), "same", times);
  const auto took = Clock::now() - begin;
  over = true;
  frozen.join();
  ASSERT_FALSE(world.ok());
  EXPECT_EQ(world.error().kind, "rank-silent");
  EXPECT_NE(world.error().text.find("rank 1 on elsewhere"), std::string::npos)
      << world.error().text;
  EXPECT_LT(took, std::chrono::seconds{10});
}

TEST(OutcomeBytes, ArriveAsTheyWereAndBrokenOnesAreRefused) {
  RankOutcome outcome;
  outcome.spans = {{{Nanoseconds{1}, Nanoseconds{2}}}, {}};
  outcome.loss_sums = {1.5, 2.5};
  outcome.memory.peak_bytes = 77;
  outcome.traffic = {{{Axis::kDp, "all_reduce", Purpose::kGradients, 3, 40, 50, false}}, {}};
  outcome.sent_bytes = {{40, 0}, {}};
  outcome.gradients = {{Parameter::kTokenTable, -1, 4, {1.f, 2.f}}};
  outcome.held_out_tokens = 9;
  const std::string bytes = to_bytes(outcome);
  const Result<RankOutcome> again = outcome_from_bytes(bytes);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(to_bytes(*again), bytes);
  EXPECT_EQ(again->traffic, outcome.traffic);
  EXPECT_EQ(again->sent_bytes, outcome.sent_bytes);
  EXPECT_EQ(again->gradients.front().values, outcome.gradients.front().values);
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(outcome_from_bytes(bytes.substr(0, length)).ok()) << length;
}

}  // namespace
}  // namespace parallelarium
