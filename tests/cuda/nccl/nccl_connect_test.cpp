// SPDX-License-Identifier: Apache-2.0
// Ranks that do not come to connect, or do not get away again.
#include "tests/cuda/nccl/run_over_nccl.h"

namespace parallelarium {
namespace {

TEST(NcclConnect, NamesTheRankThatDoesNotComeWithinTheTimeoutOfTheRun) {
  ThreadNccl nccl;
  nccl.hold(1, "init", std::chrono::milliseconds{1500});
  const Ended ended = run_into_error(small_model("dp=3"), over(nccl), 0.2);
  EXPECT_EQ(ended.why.kind, "hang");
  EXPECT_EQ(ended.why.text, "Rank 1 did not come to connect with the other ranks within 0.6 s.");
  EXPECT_EQ(nccl.open(), 0);
}

// The split under way leaves communicators behind when its parents are aborted.
TEST(NcclConnect, NamesWhoDoesNotComeToASplitAndLeavesNothing) {
  ThreadNccl nccl;
  nccl.hold(1, "split", std::chrono::milliseconds{1500});
  const Ended ended = run_into_error(small_model("tp=2 dp=2"), over(nccl), 0.2);
  EXPECT_EQ(ended.why.kind, "hang");
  EXPECT_EQ(ended.why.text, "Rank 1 did not come to connect with the other ranks within 0.6 s.");
  EXPECT_EQ(nccl.open(), 0);
  EXPECT_GT(nccl.aborted(), 4) << "children too";
}

TEST(NcclConnect, SaysWhoWaitsWhereAllHaveComeAndNobodyIsConnected) {
  ThreadNccl nccl;
  nccl.lose(0);
  const Ended ended = run_into_error(small_model("dp=2"), over(nccl), 0.2);
  EXPECT_EQ(ended.why.kind, "hang");
  EXPECT_EQ(ended.why.text.rfind("Ranks 0, 1 did not get connected to the others within 0.6 s", 0),
            0u)
      << ended.why.text;
  EXPECT_EQ(nccl.open(), 0);
}

TEST(NcclClose, TimesOutByTheClockItIsGiven) {
  ThreadNccl nccl;
  nccl.keep_open(0);
  std::atomic<int> looks{0};
  NcclWait wait;
  const TimePoint begin = Clock::now();
  wait.now = [&] { return begin + std::chrono::seconds{looks.load()}; };
  wait.pause = [&] {  // a second passes at every look
    ++looks;
    std::this_thread::sleep_for(std::chrono::microseconds{20});
  };
  wait.closing = std::chrono::seconds{30};
  const Ended ended = run_into_error(small_model("dp=2"), over(nccl, wait), 20);
  EXPECT_EQ(ended.why.id, "nccl-timeout");
  EXPECT_NE(ended.why.text.find("within 30 s"), std::string::npos) << ended.why.text;
  EXPECT_GT(looks, 30);
  EXPECT_EQ(nccl.open(), 0);
}

TEST(NcclConnect, RefusesAnOldNcclBeforeItIsUsed) {
  ThreadNccl nccl(22005);
  const Ended ended = run_into_error(small_model("tp=2 dp=2"), over(nccl), 20);
  EXPECT_EQ(ended.why.kind, "nccl-old");
  EXPECT_EQ(nccl.open(), 0);
}

}  // namespace
}  // namespace parallelarium
