// SPDX-License-Identifier: Apache-2.0
// How a rank waits until NCCL has launched a group, and what a collective costs its host: over a
// stand-in that launches as NCCL does, on a thread of its own, some 30 microseconds later. (The
// figures are the stand-in's and this computer's: they compare ways of waiting, nothing else.)
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "engine/run/calibrate/probe_program.h"
#include "engine/run/gpu/nccl/nccl_joins.h"
#include "engine/run/gpu/nccl/nccl_launch.h"
#include "engine/run/gpu/nccl/nccl_rules.h"
#include "tests/cuda/nccl/thread_nccl.h"
#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

struct Waited {
  int groups = 0, pauses = 0;
  double seconds = 0;  // of a collective of few bytes
};

Waited wait_for_groups(std::chrono::nanoseconds spin) {
  constexpr int kCalls = 60, kRepeats = 5;
  ProbeProgram probe(2, 1024);
  for (int call = 0; call < kCalls; ++call) probe.collective(CollectiveKind::kAllReduce, 64);
  ThreadNccl nccl;
  std::atomic<int> pauses{0};
  NcclWait wait;
  wait.spin = spin;
  wait.pause = [&] {
    ++pauses;
    std::this_thread::sleep_for(std::chrono::microseconds{20});
  };
  LaunchOptions options;
  options.make_device = [](int, Lane) {
    return std::make_unique<QueuedDevice>(std::chrono::microseconds{0});
  };
  options.make_transport = nccl_between_threads(nccl, wait);
  Stop stop;
  const ProbeSpans spans = run_probe(probe.program(), kRepeats, stop, options);
  EXPECT_FALSE(stop.raised());
  EXPECT_EQ(nccl.violations(), std::vector<std::string>{});
  Waited waited;
  for (const auto& [rank, calls] : nccl.order()) waited.groups += static_cast<int>(calls.size());
  waited.pauses = pauses;
  waited.seconds = probe_seconds(spans, 0, 0, kCalls - 1) / kCalls;
  return waited;
}

TEST(NcclWait, LooksAgainAtOnceBeforeItSleeps) {
  const Waited asleep = wait_for_groups(std::chrono::nanoseconds{0});
  const Waited awake = wait_for_groups(std::chrono::seconds{5});
  EXPECT_EQ(asleep.groups, 600);
  EXPECT_EQ(awake.groups, 600);
  EXPECT_GT(asleep.pauses, awake.pauses + awake.groups / 2) << "one pause for each group at least";
  std::printf("host time of a small collective: %.0f us asleep, %.0f us awake\n",
              asleep.seconds * 1e6, awake.seconds * 1e6);
}

// Groups of a rank's step, with neighbouring collectives joined and one by one.
struct Groups {
  std::size_t joined = 0, single = 0;
};
Groups groups_of(const Program& program) {
  Groups groups;
  const std::vector<std::vector<bool>> joins = joined_collectives(program);
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    const std::vector<std::int32_t> turns = issue_turns(program.ranks[rank]);
    groups.single += static_cast<std::size_t>(*std::max_element(turns.begin(), turns.end())) + 1;
    groups.joined +=
        static_cast<std::size_t>(std::count(joins[rank].begin(), joins[rank].end(), true));
  }
  groups.joined = groups.single - groups.joined;
  return groups;
}

class Joined : public testing::TestWithParam<const char*> {};

// Fewer groups, the same numbers, and no rule of NCCL broken.
TEST_P(Joined, CollectivesGoInOneGroupWhereNothingStandsBetween) {
  const parallelarium::Setup setup = small_model(GetParam());
  const Program program = built(setup);
  const Groups groups = groups_of(program);
  EXPECT_LT(groups.joined, groups.single);
  ThreadNccl nccl;
  LaunchOptions options;
  options.make_device = [](int, Lane) {
    return std::make_unique<QueuedDevice>(std::chrono::microseconds{100});
  };
  options.make_transport = nccl_between_threads(nccl);
  const Result<RunResult> run = launch(setup, program, {Backend::kCuda, Source::kMeasured, {}}, {},
                                       {.gradients = true}, options);
  ASSERT_TRUE(run.ok()) << run.error().text;
  EXPECT_TRUE(proof_of(*run, setup).holds());
  EXPECT_EQ(nccl.violations(), std::vector<std::string>{});
  std::size_t issued = 0;
  for (const auto& [rank, calls] : nccl.order()) issued += calls.size();
  const auto steps = static_cast<std::size_t>(setup.run.warmup + setup.run.steps);
  EXPECT_EQ(issued, groups.joined * steps);
  std::printf("%s: %zu groups in a step instead of %zu\n", GetParam(), groups.joined,
              groups.single);
}
INSTANTIATE_TEST_SUITE_P(Meshes, Joined,
                         testing::Values("tp=2 sequence_parallel=true", "dp=2 zero=1",
                                         "tp=2 pp=2 dp=2 zero=2", "dp=2 zero=3 microbatches=3",
                                         "llama tp=2 cp=2 attention=fused",
                                         "precision=mixed-16 dp=3 zero=3 clip=0.05"),
                         [](const auto& one) { return test_name(one.param); });

// By hand: two collectives of one group that depend on nothing, and what keeps them apart.
class ByHand : public testing::Test {
 protected:
  ByHand() {
    program_.world = 2;
    program_.groups = {{Axis::kDp, {0, 1}}, {Axis::kTp, {0, 1}}};
    program_.ranks.resize(2);
    for (int rank = 0; rank < 2; ++rank) {
      RankProgram& mine = program_.ranks[static_cast<std::size_t>(rank)];
      mine.rank = rank;
      mine.buffers.resize(2);
      mine.buffers[1].offset = 64;
      collective(mine, 0);
      collective(mine, 1);
    }
  }
  static void collective(RankProgram& rank, std::int32_t buffer) {
    Op op;
    op.kind = OpKind::kCollective;
    op.lane = Lane::kData;
    op.group = 0;
    op.bytes = 64;
    op.operand_first = static_cast<std::int32_t>(rank.operands.size());
    op.operand_count = 1;
    Operand operand;
    operand.buffer = buffer;
    operand.access = Access::kAccumulate;
    operand.count = 16;
    rank.operands.push_back(operand);
    rank.ops.push_back(op);
  }
  bool joins() const {
    const std::vector<std::vector<bool>> joined = joined_collectives(program_);
    EXPECT_EQ(joined[0], joined[1]) << "members decide alike";
    EXPECT_FALSE(joined[0][0]);
    return joined[0].back();
  }
  RankProgram& rank(std::size_t index) { return program_.ranks[index]; }
  Program program_;
};

TEST_F(ByHand, NeighboursJoin) { EXPECT_TRUE(joins()); }
TEST_F(ByHand, ThatShareMemoryStayApart) {
  rank(0).buffers[1].offset = 32;  // on one rank alone, and so on both
  EXPECT_FALSE(joins());
}
TEST_F(ByHand, OfOtherGroupsOrLanesStayApart) {
  for (std::size_t i : {0, 1}) rank(i).ops[1].group = 1;
  EXPECT_FALSE(joins());
  for (std::size_t i : {0, 1}) rank(i).ops[1].group = 0, rank(i).ops[1].lane = Lane::kCompute;
  EXPECT_FALSE(joins());
}
TEST_F(ByHand, ThatAreLargeStayApart) {
  for (std::size_t i : {0, 1}) rank(i).ops[1].bytes = std::int64_t{5} << 20;
  EXPECT_FALSE(joins());
}
TEST_F(ByHand, ThatWaitForMoreStayApart) {
  rank(1).after = {0};
  rank(1).ops[1].after_count = 1;  // for the first one
  EXPECT_FALSE(joins());
}

}  // namespace
}  // namespace parallelarium
