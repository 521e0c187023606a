// SPDX-License-Identifier: Apache-2.0
// The watchdog by a clock of the test's own, and its sentences about ranks that stand still.
#include "engine/run/train/watch.h"

#include <gtest/gtest.h>

#include <thread>

#include "engine/plan/program/matching.h"
#include "engine/plan/text/describe_op.h"
#include "tests/ranks/harness.h"

namespace parallelarium {
namespace {

RunProgress progress_of(std::size_t ranks) {
  RunProgress progress;
  while (progress.size() < ranks) progress.push_back(std::make_unique<RankProgress>());
  return progress;
}
LaneProgress& lane_of(const RunProgress& progress, std::size_t rank, Lane lane) {
  return progress[rank]->lanes[static_cast<std::size_t>(lane)];
}

TEST(Watch, EndsTheRunWhenNothingHasMovedForTheTimeoutAndNotBefore) {
  const parallelarium::Setup setup = small_setup(2, 1, 2);
  const Program program = built(setup);
  const RunProgress progress = progress_of(2);
  RunControl control;
  control.hang_timeout_seconds = 20;
  Stop stop;
  TimePoint time{};
  RunWatch watch(setup, program, control, progress, stop, {}, false, 2, [&] { return time; });
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
  EXPECT_EQ(stop.why().kind, "hang");
  EXPECT_EQ(stop.why().text.rfind("Rank 1 did not finish ", 0), 0u) << stop.why().text;
}

// Between steps ranks wait for each other, too; who has much to do there says so.
TEST(Watch, NamesWhoDoesNotComeToTheNextStep) {
  const parallelarium::Setup setup = small_setup(3, 1, 3);
  const Program program = built(setup);
  const RunProgress progress = progress_of(3);
  RunControl control;
  control.hang_timeout_seconds = 20;
  Stop stop;
  TimePoint time{};
  RunWatch watch(setup, program, control, progress, stop, {}, false, 3, [&] { return time; });
  const auto look_after = [&](int seconds) {
    time += std::chrono::seconds{seconds};
    watch.look();
    return stop.raised();
  };
  for (const std::size_t rank : {0U, 2U})
    lane_of(progress, rank, Lane::kCompute).set(-1, Doing::kMeeting);
  EXPECT_FALSE(look_after(0));
  EXPECT_FALSE(look_after(15));
  lane_of(progress, 1, Lane::kCompute).set(-1, Doing::kNothing);  // it lives
  EXPECT_FALSE(look_after(15));
  EXPECT_FALSE(look_after(15));
  ASSERT_TRUE(look_after(6));
  EXPECT_EQ(stop.why().text, "Rank 1 did not come to the next step within 20 s.");
}

// Ranks come to their first step one after another.
TEST(Watch, FollowsTheDevicesOfRanksThatBeginLaterThanOthers) {
  const parallelarium::Setup setup = small_setup(2, 1, 2);
  const Program program = built(setup);
  const RunProgress progress = progress_of(2);
  std::atomic<int> followed{0};
  Stop stop;
  RunWatch watch(setup, program, {}, progress, stop, {}, false, 2);
  progress[0]->behind = true;
  watch.look();
  {
    const std::lock_guard lock(progress[1]->following);
    progress[1]->follow = [&] { ++followed; };
  }
  progress[1]->behind = true;
  const TimePoint begin = Clock::now();
  while (followed == 0 && Clock::now() - begin < std::chrono::seconds{5}) {
    watch.look();
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  EXPECT_GT(followed, 0);
  const std::lock_guard lock(progress[1]->following);
  progress[1]->follow = nullptr;
}

// Fails when it is told to, and does not let its abort end before.
class WatchedTransport final : public Transport {
 public:
  int rank() const override { return 0; }
  Result<void> look(const std::function<std::string()>& doing) override {
    if (!fails) return {};
    return message("broken", "Rank 1 lost rank 0 in {}.", doing());
  }
  void abort() override {
    ++aborts;
    while (!may_end) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  Result<void> transfer(std::span<TransferPart>) override { return {}; }
  Result<void> collective(CollectiveCall&) override { return {}; }
  Result<TimePoint> barrier() override { return TimePoint{}; }

  std::atomic<bool> fails{false}, may_end{false};
  std::atomic<int> aborts{0};
};

TEST(Watch, RaisesWhatATransportFindsAndNamesTheOpThatItsRankIsAt) {
  const parallelarium::Setup setup = small_setup(2, 1, 2);
  const Program program = built(setup);
  const std::vector<Op>& ops = program.ranks[1].ops;
  const auto receives =
      std::find_if(ops.begin(), ops.end(), [](const Op& op) { return op.kind == OpKind::kRecv; });
  ASSERT_NE(receives, ops.end());
  const RunProgress progress = progress_of(2);
  lane_of(progress, 1, Lane::kCompute).set(0, Doing::kComputing);
  lane_of(progress, 1, receives->lane)
      .set(static_cast<std::int32_t>(receives - ops.begin()), Doing::kTransferring);
  WatchedTransport transport;
  transport.may_end = true;
  Stop stop;
  const RunControl control;
  TimePoint time{};
  RunWatch watch(setup, program, control, progress, stop, {nullptr, &transport}, false, 2,
                 [&] { return time; });
  watch.look();
  EXPECT_FALSE(stop.raised());
  transport.fails = true;
  watch.look();
  EXPECT_FALSE(stop.raised()) << "rank 0 may be about to say why";
  time += std::chrono::milliseconds{400};
  watch.look();
  ASSERT_TRUE(stop.raised());
  EXPECT_EQ(stop.why().text, "Rank 1 lost rank 0 in " + describe(*receives).text + ".");
}

TEST(Watch, AbortsOnceAndSeesThatItDoesNotEnd) {
  const parallelarium::Setup setup = small_setup(2, 1, 2);
  const Program program = built(setup);
  const RunProgress progress = progress_of(2);
  WatchedTransport transport;
  int told = 0;
  RunControl control;
  control.abandon = [&](const Message&) { ++told; };
  Stop stop;
  TimePoint time{};
  RunWatch watch(setup, program, control, progress, stop, {&transport, nullptr}, false, 2,
                 [&] { return time; });
  EXPECT_FALSE(watch.aborts());
  stop.raise(message("cancelled", "The run was cancelled."));
  EXPECT_TRUE(watch.aborts()) << "it has to look once more";
  for (int look = 0; look < 5; ++look) {
    watch.look();
    time += std::chrono::milliseconds{100};
  }
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(watch.aborts());
  transport.may_end = true;
  for (int wait = 0; wait < 5000 && watch.aborts(); ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  EXPECT_FALSE(watch.aborts());
  EXPECT_EQ(transport.aborts, 1);
}

// A cancel ends within half a second, a failure within a second of the timeout: also where ranks
// cannot be aborted.
TEST(Watch, LeavesRanksThatEndLate) {
  const parallelarium::Setup setup = small_setup(2, 1, 2);
  const Program program = built(setup);
  const RunProgress progress = progress_of(2);
  for (const auto& [id, least, most] :
       {std::tuple{"cancelled", 300, 500}, std::tuple{"hang", 600, 1000}}) {
    std::string told;
    RunControl control;
    control.abandon = [&](const Message& why) { told += why.id; };
    Stop stop;
    TimePoint time{};
    RunWatch watch(setup, program, control, progress, stop, {nullptr, nullptr}, false, 2,
                   [&] { return time; });
    stop.raise(make_message(id, "It ended.", {}));
    int waited = 0;
    for (watch.look(); told.empty() && waited < 2000; waited += 50) {
      time += std::chrono::milliseconds{50};
      watch.look();
    }
    EXPECT_EQ(told, id);
    EXPECT_GE(waited, least) << id;
    EXPECT_LT(waited, most) << id;
    time += std::chrono::seconds{5};
    watch.look();
    EXPECT_EQ(told, id) << "told once";
  }
}

std::int32_t first_of_batch(const RankProgram& rank, std::int32_t op) {
  const std::int32_t batch = rank.ops[static_cast<std::size_t>(op)].batch;
  const auto same = [&](const Op& other) { return other.batch == batch; };
  const auto first = std::find_if(rank.ops.begin(), rank.ops.end(), same);
  return batch < 0 ? op : static_cast<std::int32_t>(first - rank.ops.begin());
}

// Hosts that launch wait for each other inside NCCL, where none has arrived yet.
TEST(Hang, OfAHostIsNotBlamedOnAHostThatWaitsToLaunch) {
  const Program program = built(small_setup(2, 1, 2));
  const std::vector<Op>& waits = program.ranks[0].ops;
  const auto receives = static_cast<std::int32_t>(
      std::find_if(waits.begin(), waits.end(),
                   [](const Op& op) { return op.kind == OpKind::kRecv; }) -
      waits.begin());
  const Matching matching = match(program);
  const Meeting& meeting = matching.meetings[static_cast<std::size_t>(
      matching.meeting_of[static_cast<std::size_t>(matching.flat({0, receives}))])];
  Place sends;
  for (std::int32_t i = meeting.first; i < meeting.first + meeting.count; ++i) {
    const Place& member = matching.members[static_cast<std::size_t>(i)];
    if (member.rank == 1) sends = member;
  }
  ASSERT_GE(sends.op, 0);
  const RunProgress progress = progress_of(2);
  // Rank 0 has launched all up to its receive; rank 1's host is still at its third op.
  const auto needs_it = std::find_if(waits.begin(), waits.end(), [&](const Op& op) {
    const auto after = program.ranks[0].after_of(op);
    return op.kind == OpKind::kCompute &&
           std::find(after.begin(), after.end(), receives) != after.end();
  });
  ASSERT_NE(needs_it, waits.end());
  lane_of(progress, 0, Lane::kCompute)
      .set(static_cast<std::int32_t>(needs_it - waits.begin()), Doing::kAwaitingOps);
  lane_of(progress, 0, Lane::kPipeline)
      .set(first_of_batch(program.ranks[0], receives), Doing::kAwaitingOps);
  std::int32_t at = -1;  // rank 1's third op of its compute lane
  for (int seen = 0; seen < 3; ++at)
    seen += program.ranks[1].ops[static_cast<std::size_t>(at + 1)].kind == OpKind::kCompute;
  lane_of(progress, 1, Lane::kCompute).set(at, Doing::kComputing);
  lane_of(progress, 1, Lane::kPipeline)
      .set(first_of_batch(program.ranks[1], sends.op), Doing::kAwaitingOps);
  const std::string why = describe_hang(program, progress, 20).text;
  EXPECT_EQ(why.rfind("Rank 1 did not arrive at ", 0), 0u) << why;
  EXPECT_NE(why.find("it is still at " +
                     describe(program.ranks[1].ops[static_cast<std::size_t>(at)]).text),
            std::string::npos)
      << why;
}

// What is issued in one order waits for what comes before it in another lane.
TEST(Hang, FollowsTheOrderOfIssue) {
  Program program;
  program.world = 2;
  program.groups = {{Axis::kWorld, {0, 1}}};
  program.ranks.resize(2);
  Op sum, message_op, work;
  sum.kind = OpKind::kCollective;
  sum.lane = Lane::kData;
  sum.purpose = Purpose::kGradients;
  message_op.lane = Lane::kPipeline;
  message_op.purpose = Purpose::kActivations;
  sum.group = message_op.group = 0;
  work.layer = 3;
  work.piece = Piece::kNorm1;
  message_op.kind = OpKind::kSend;
  message_op.peer = 1;
  program.ranks[0].ops = {sum, message_op};
  program.ranks[1].rank = 1;
  program.ranks[1].after = {0};
  sum.after_count = 1;
  message_op.kind = OpKind::kRecv;
  message_op.peer = 0;
  program.ranks[1].ops = {work, sum, message_op};
  const RunProgress progress = progress_of(2);
  lane_of(progress, 0, Lane::kData).set(0, Doing::kAwaitingOps);
  lane_of(progress, 0, Lane::kPipeline).set(1, Doing::kAwaitingOps);
  lane_of(progress, 1, Lane::kCompute).set(0, Doing::kComputing);
  lane_of(progress, 1, Lane::kData).set(1, Doing::kAwaitingOps);
  lane_of(progress, 1, Lane::kPipeline).set(2, Doing::kAwaitingOps);
  EXPECT_EQ(describe_hang(program, progress, 20).text,
            "Rank 1 did not arrive at " + describe(sum).text + " within 20 s; it is still at " +
                describe(work).text + ".");
}

TEST(Hang, BeforeTheFirstStepNamesWhoHasMadeFewerCalls) {
  const Program program = built(small_setup(1, 4, 1));
  const RunProgress progress = progress_of(4);
  const auto connects = [&](std::size_t rank, std::int32_t calls) {
    lane_of(progress, rank, Lane::kCompute).set(calls, Doing::kConnecting);
  };
  const auto why = [&] { return describe_hang(program, progress, 20).text; };
  connects(0, 1);
  connects(1, 2);
  connects(3, 2);
  EXPECT_EQ(why(), "Ranks 0, 2 did not come to connect with the other ranks within 20 s.");
  connects(0, 2);
  lane_of(progress, 2, Lane::kCompute).set(-1, Doing::kNothing);  // it is done
  EXPECT_EQ(why().rfind("Ranks 0, 1, 3 did not get connected to the others within 20 s", 0), 0u)
      << why();
}

}  // namespace
}  // namespace parallelarium
