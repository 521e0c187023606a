// SPDX-License-Identifier: Apache-2.0
// Collectives on ranks whose devices run behind, without a GPU: each on a device of its own through
// NCCL's calls, and all on one. Exact results, the rules of NCCL, and failures as sentences.
#include "engine/collectives/collective.h"

#include <gtest/gtest.h>

#include "engine/run/collective/collective_run.h"
#include "engine/run/gpu/nccl/nccl_launch.h"
#include "tests/cuda/nccl/thread_nccl.h"
#include "tests/ranks/collective_cases.h"

namespace parallelarium {
namespace {

CollectiveRanks on_queued_devices(Source source, ThreadNccl* nccl = nullptr) {
  CollectiveRanks on;
  on.choice = {Backend::kCuda, source, message("backend", "queued devices"), {}};
  on.make = [nccl]() -> Result<LaunchOptions> {
    LaunchOptions options;
    // Late by different times, so that what is not ordered comes in the wrong order.
    options.make_device = [](int rank, Lane) {
      return std::make_unique<QueuedDevice>(std::chrono::microseconds{20 * (rank % 3)});
    };
    if (nccl != nullptr) {
      options.transport = "NCCL of threads";
      options.make_transport = nccl_between_threads(*nccl);
    }
    return options;
  };
  return on;
}
CollectiveRanks ranks_over(ThreadNccl& nccl) { return on_queued_devices(Source::kMeasured, &nccl); }
CollectiveRanks on_one_device() { return on_queued_devices(Source::kSharedGpu); }

CollectiveRunOptions wishes_on(const CollectiveRanks& on) {
  CollectiveRunOptions wishes;
  wishes.warmup = 0;
  wishes.repeats = 1;
  wishes.on = on;
  return wishes;
}

class CollectiveOnDevices : public testing::TestWithParam<AlgorithmInfo> {
 protected:
  // Every type and reduction comes up over the algorithms and sizes.
  static void expect_exact(const CollectiveRanks& on, Source source) {
    std::size_t turn = GetParam().name.size() + static_cast<std::size_t>(GetParam().kind);
    constexpr std::pair<int, std::int64_t> kCases[] = {{1, 7},    {2, 1000}, {3, 0},   {3, 7},
                                                       {4, 1000}, {5, 7},    {5, 1000}};
    for (const auto& [ranks, count] : kCases) {
      const CollectiveSpec spec = spec_in_turn(GetParam(), ranks, count, turn++);
      const Result<Collective> collective = make_collective(spec);
      if (!collective) continue;
      const Result<CollectiveObservation> seen = run_collective(*collective, wishes_on(on));
      ASSERT_TRUE(seen.ok()) << seen.error().text;
      expect_no_wrong_cell(*seen, spec);
      EXPECT_EQ(seen->source, source);
      EXPECT_EQ(seen->timeline.source, source);
      EXPECT_EQ(seen->ranks_on, "queued devices");
      for (std::size_t rank = 0; rank < seen->sent_bytes.size(); ++rank) {
        std::int64_t sent = 0;
        for (const Op& op : collective->program.ranks[rank].ops)
          sent += op.kind == OpKind::kSend ? op.bytes : 0;
        EXPECT_EQ(seen->sent_bytes[rank], sent);
        for (const Span& span : seen->timeline.ranks[rank].spans) EXPECT_LE(span.begin, span.end);
      }
    }
  }
};

TEST_P(CollectiveOnDevices, OverNcclGiveTheSerialResultAndKeepItsRules) {
  ThreadNccl nccl;
  expect_exact(ranks_over(nccl), Source::kMeasured);
  EXPECT_EQ(nccl.violations(), std::vector<std::string>{});
  EXPECT_EQ(nccl.open(), 0) << "communicators are left";
  EXPECT_EQ(nccl.aborted(), 0);
}

TEST_P(CollectiveOnDevices, OnOneGiveTheSerialResult) {
  expect_exact(on_one_device(), Source::kSharedGpu);
}

INSTANTIATE_TEST_SUITE_P(Collectives, CollectiveOnDevices,
                         testing::ValuesIn(collective_algorithms()), [](const auto& one) {
                           std::string name =
                               std::string(name_of(one.param.kind)) + "_" + one.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

Collective ring_of(int ranks, DataType type = DataType::kF32) {
  CollectiveSpec spec;
  spec.ranks = ranks;
  spec.type = type;
  spec.bytes = 4096;
  return *make_collective(spec);
}

// What stands in the buffers after each step, and last bits: other Programs and inputs, each with
// communicators of its own.
TEST(CollectiveOverNccl, NotesWhatCpuRanksNoteAndComparesBits) {
  const Collective ring = ring_of(4, DataType::kBf16);
  ThreadNccl nccl;
  CollectiveRunOptions wishes = wishes_on(ranks_over(nccl));
  wishes.values = true;
  wishes.rounding = "tree";
  const Result<CollectiveObservation> there = run_collective(ring, wishes);
  ASSERT_TRUE(there.ok()) << there.error().text;
  wishes.on = {};
  const Result<CollectiveObservation> here = run_collective(ring, wishes);
  ASSERT_TRUE(here.ok()) << here.error().text;
  EXPECT_EQ(there->values.first, here->values.first);
  EXPECT_EQ(there->rounding, here->rounding);
  EXPECT_GT(there->rounding->differing, 0);
  EXPECT_EQ(there->transport, "NCCL of threads");
  EXPECT_EQ(here->transport, "shared memory");
  EXPECT_EQ(nccl.open(), 0);
}

struct EndedCollective {
  Message why;
  double seconds = 0;
};
EndedCollective run_into_error(const CollectiveRanks& on,
                               const std::atomic<bool>* cancel = nullptr) {
  const TimePoint begin = Clock::now();
  const Result<CollectiveObservation> seen = run_collective(ring_of(4), wishes_on(on), cancel);
  EndedCollective ended;
  ended.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  EXPECT_FALSE(seen.ok());
  if (!seen.ok()) ended.why = seen.error();
  return ended;
}

TEST(CollectiveOverNccl, FailureOfOneRankEndsAllAndIsNamed) {
  ThreadNccl nccl;
  nccl.fail_at(2, 3, NcclStatus::kRemoteError);
  const EndedCollective ended = run_into_error(ranks_over(nccl));
  EXPECT_EQ(ended.why.kind, "nccl-failed");
  EXPECT_NE(ended.why.text.find("rank 2"), std::string::npos) << ended.why.text;
  EXPECT_LT(ended.seconds, 1);
  EXPECT_EQ(nccl.open(), 0);
}

TEST(CollectiveOverNccl, HangOfOneRankEndsAllAndNamesIt) {
  ThreadNccl nccl;
  nccl.stall_at(1, 3);
  CollectiveRanks on = ranks_over(nccl);
  on.hang_timeout_seconds = 0.5;
  const EndedCollective ended = run_into_error(on);
  EXPECT_EQ(ended.why.kind, "hang");
  EXPECT_NE(ended.why.text.find("ank 1 did not"), std::string::npos) << ended.why.text;
  EXPECT_LT(ended.seconds, on.hang_timeout_seconds + 1);
  EXPECT_EQ(nccl.open(), 0);
  EXPECT_EQ(nccl.violations(), std::vector<std::string>{});
}

TEST(CollectiveOverNccl, NamesTheRankThatDoesNotComeToConnect) {
  ThreadNccl nccl;
  nccl.hold(2, "init", std::chrono::milliseconds{1200});
  CollectiveRanks on = ranks_over(nccl);
  on.hang_timeout_seconds = 0.2;
  const EndedCollective ended = run_into_error(on);
  EXPECT_EQ(ended.why.text, "Rank 2 did not come to connect with the other ranks within 0.6 s.");
  EXPECT_EQ(nccl.open(), 0);
}

TEST(CollectiveOverNccl, IsAbandonedInTimeWhileAnAbortBlocks) {
  ThreadNccl nccl;
  nccl.stall_at(1, 3);
  nccl.delay_abort(0, std::chrono::milliseconds{2500});
  CollectiveRanks on = ranks_over(nccl);
  on.hang_timeout_seconds = 0.3;
  std::atomic<int> told{0};
  const TimePoint begin = Clock::now();
  double heard = 0;
  on.abandon = [&](const Message& why) {
    EXPECT_EQ(why.kind, "hang");
    ++told;
    heard = std::chrono::duration<double>(Clock::now() - begin).count();
  };
  const EndedCollective ended = run_into_error(on);
  EXPECT_EQ(told, 1);
  EXPECT_LT(heard + 1, ended.seconds);
}

TEST(CollectiveOverNccl, IsCancelledWhileARankWaits) {
  ThreadNccl nccl;
  nccl.stall_at(0, 2);
  std::atomic<bool> cancel{false};
  std::thread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    cancel = true;
  });
  const EndedCollective ended = run_into_error(ranks_over(nccl), &cancel);
  user.join();
  EXPECT_EQ(ended.why.kind, "cancelled");
  EXPECT_LT(ended.seconds, 1);  // 0.1 until somebody cancels, 0.5 until it ends
  EXPECT_EQ(nccl.open(), 0);
}

TEST(CollectiveOverNccl, RefusesAnOldNccl) {
  ThreadNccl nccl(21000);
  EXPECT_EQ(run_into_error(ranks_over(nccl)).why.kind, "nccl-old");
}

}  // namespace
}  // namespace parallelarium
