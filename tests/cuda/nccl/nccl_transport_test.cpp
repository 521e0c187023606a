// SPDX-License-Identifier: Apache-2.0
// Ranks on devices of their own through NCCL's calls: the transport that GPUs use, over a stand-in
// for NCCL that moves real bytes late and writes down every call that the user guide forbids.
#include "engine/run/gpu/nccl/nccl_transport.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <utility>

#include "engine/plan/text/describe_op.h"
#include "engine/run/cpu/fabric.h"
#include "tests/cuda/nccl/run_over_nccl.h"

namespace parallelarium {
namespace {

class NcclMesh : public testing::TestWithParam<const char*> {};

TEST_P(NcclMesh, TrainsLikeOneRankAndKeepsTheRulesOfNccl) {
  const parallelarium::Setup setup = small_model(GetParam());
  const Program program = built(setup);
  ThreadNccl nccl;
  const RunWishes wishes{.gradients = true, .parameters = false, .held_out_loss = false};
  const Result<RunResult> many = launch(setup, program, on_gpus(), {}, wishes, over(nccl));
  ASSERT_TRUE(many.ok()) << many.error().text;
  const Proof proof = proof_of(*many, setup);
  EXPECT_TRUE(proof.holds()) << proof.loss_difference << ", " << proof.gradient_difference << " in "
                             << proof.worst_parameter.text;
  EXPECT_EQ(nccl.violations(), std::vector<std::string>{});
  EXPECT_EQ(nccl.open(), 0) << "communicators are left";
  EXPECT_EQ(nccl.aborted(), 0);
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    std::vector<TrafficRow> expected = without_tokens(traffic_of(program, static_cast<int>(rank)));
    // The counts of experts go by sends and receives, as their rows do.
    for (TrafficRow& row : expected)
      row.counted = row.operation == "send_recv" || row.purpose == Purpose::kCounts;
    EXPECT_EQ(without_tokens(many->observation.traffic[rank]), expected) << "rank " << rank;
  }
  for (const RankTimeline& rank : many->observation.timeline.ranks)
    for (const Span& span : rank.spans) EXPECT_LE(span.begin, span.end);
}
INSTANTIATE_TEST_SUITE_P(
    Meshes, NcclMesh,
    testing::Values("dp=2", "tp=2 sequence_parallel=true", "pp=4 microbatches=4", "dp=3 zero=1",
                    "dp=2 zero=3 microbatches=3", "dp=2 pp=2 zero=2 overlap-parameters=true",
                    "cp=2 attention=fused", "tp=2 pp=2 dp=2 zero=2",
                    "llama tp=2 cp=2 attention=fused", "cp=2 context_parallel=ulysses",
                    "experts=8 top-k=2 expert-ffn=12 dp=2 ep=2",
                    "experts=8 top-k=2 expert-ffn=12 dp=4 ep=4 skew=0.5",
                    "experts=8 top-k=2 expert-ffn=12 dp=2 ep=2 tp=2 "
                    "sequence-parallel=true shared-experts=1 zero=1 capacity=1",
                    "precision=mixed-16 dp=3 zero=3 clip=0.05",
                    "precision=mixed-16 tp=2 pp=2 sequence_parallel=true microbatches=4",
                    "precision=mixed-16 llama cp=2 dp=2 attention=fused",
                    "precision=mixed-16-main-grads dp=2 pp=2 zero=2 collectives=ring",
                    "precision=bf16-states dp=3 zero=1 collectives=ring",
                    "precision=mixed-16 experts=8 top-k=2 expert-ffn=12 dp=2 ep=2 tp=2",
                    // By steps of our own: receives that combine, messages in several places.
                    "dp=3 zero=2 collectives=ring microbatches=4",
                    "dp=3 collectives=all_reduce=double-tree clip=0.05",
                    "dp=4 zero=3 "
                    "collectives=all_gather=bruck,reduce_scatter=recursive-halving",
                    "tp=2 pp=2 dp=2 collectives=halving-doubling",
                    "tp=2 dp=2 sequence_parallel=true collectives=ring",
                    "cp=4 context-parallel=ulysses collectives=bruck"),
    [](const auto& one) { return test_name(one.param); });

TEST(NcclFailure, OfOneRankEndsAllAndIsNamed) {
  ThreadNccl nccl;
  nccl.fail_at(2, 9, NcclStatus::kRemoteError);
  const Ended ended = run_into_error(small_model("pp=2 dp=2"), over(nccl), 20);
  EXPECT_EQ(ended.why.kind, "nccl-failed");
  EXPECT_NE(ended.why.text.find("rank 2"), std::string::npos) << ended.why.text;
  EXPECT_NE(ended.why.text.find("told on purpose"), std::string::npos) << ended.why.text;
  EXPECT_LT(ended.seconds, 1);
  EXPECT_EQ(nccl.open(), 0);
  EXPECT_GT(nccl.aborted(), 0);
  // The next run works.
  ThreadNccl fresh;
  const parallelarium::Setup setup = small_model("pp=2 dp=2");
  EXPECT_TRUE(launch(setup, built(setup), on_gpus(), {}, {}, over(fresh)).ok());
}

// Behind the last group of a run nobody calls NCCL any more, which would tell.
TEST(NcclFailure, AfterTheLaunchIsNoticedAndTheOpNamed) {
  parallelarium::Setup setup = small_model("dp=2");
  setup.run.steps = 1;
  const Program program = built(setup);
  ThreadNccl whole;
  ASSERT_TRUE(launch(setup, program, on_gpus(), {}, {}, over(whole)).ok());
  const std::vector<Op>& ops = program.ranks[1].ops;
  const auto last = std::find_if(ops.rbegin(), ops.rend(),
                                 [](const Op& op) { return op.kind != OpKind::kCompute; });
  ASSERT_NE(last, ops.rend());
  ThreadNccl nccl;
  nccl.break_at(1, static_cast<int>(whole.order()[1].size()), NcclStatus::kRemoteError);
  const Ended ended = run_into_error(setup, over(nccl), 20);
  EXPECT_EQ(ended.why.kind, "nccl-failed");
  EXPECT_NE(ended.why.text.find("rank 1 to another rank in " + describe(*last).text),
            std::string::npos)
      << ended.why.text;
  EXPECT_LT(ended.seconds, 1);
  EXPECT_EQ(nccl.open(), 0);
}

// NCCL never launches a group of rank 1: the others wait on their devices, some for kernels of
// communicators other than the first that is aborted.
TEST(NcclHang, OfOneRankEndsAllWithinTheTimeoutAndNamesIt) {
  ThreadNccl nccl;
  nccl.stall_at(1, 5);
  const Ended ended = run_into_error(small_model("dp=2 tp=2"), over(nccl), 0.5);
  EXPECT_EQ(ended.why.kind, "hang");
  EXPECT_NE(ended.why.text.find("ank 1 did not"), std::string::npos) << ended.why.text;
  EXPECT_LT(ended.seconds, 0.5 + 1);
  EXPECT_EQ(nccl.open(), 0);
  EXPECT_EQ(nccl.violations(), std::vector<std::string>{});
}

TEST(NcclHang, IsToldInTimeWhileAnAbortBlocks) {
  ThreadNccl nccl;
  nccl.stall_at(1, 3);
  nccl.delay_abort(0, std::chrono::milliseconds{2500});
  const Ended ended = run_into_error(small_model("dp=2"), over(nccl), 0.3);
  EXPECT_EQ(ended.why.kind, "hang");
  EXPECT_GT(ended.seconds, 2.5);
  ASSERT_TRUE(ended.abandoned.has_value());
  EXPECT_LT(*ended.abandoned + 1, ended.seconds);
}

// A kernel of rank 1 does not end in time.
LaunchOptions with_stuck_kernel(ThreadNccl& nccl) {
  LaunchOptions options = over(nccl);
  options.make_device = [](int rank, Lane lane) {
    auto calls = std::make_shared<int>(0);
    const bool stuck = rank == 1 && lane == Lane::kCompute;
    return std::make_unique<QueuedDevice>(std::chrono::microseconds{0}, [=] {
      if (stuck && ++*calls == 20) std::this_thread::sleep_for(std::chrono::milliseconds{1500});
    });
  };
  return options;
}

// Its host has launched everything, and the marks tell where it is.
TEST(NcclHang, OfOneDeviceNamesTheOpThatItIsStillAt) {
  ThreadNccl nccl;
  const Ended ended =
      run_into_error(small_model("pp=2 microbatches=4"), with_stuck_kernel(nccl), 0.5);
  EXPECT_EQ(ended.why.kind, "hang");
  EXPECT_EQ(ended.why.text.rfind("Rank 1 did not", 0), 0u) << ended.why.text;
  EXPECT_NE(ended.why.text.find("layer"), std::string::npos) << ended.why.text;
  EXPECT_EQ(nccl.open(), 0);
}

// With more to launch in a step than a driver takes: a host that waited for room could not tell.
TEST(NcclHang, OfOneDeviceIsNamedWhereHostsCannotLaunchTheWholeStep) {
  const parallelarium::Setup setup = small_model("tp=2 microbatches=256");
  ASSERT_GT(built(setup).ranks[0].ops.size(), 6000u);
  ThreadNccl nccl;
  const Ended ended = run_into_error(setup, with_stuck_kernel(nccl), 0.5);
  EXPECT_EQ(ended.why.kind, "hang");
  EXPECT_EQ(ended.why.text.rfind("Rank 1 did not", 0), 0u) << ended.why.text;
  EXPECT_EQ(nccl.open(), 0);
}

// Attention is products for each sequence, as on a GPU. Tells when it goes whether it was full.
class ManyLaunches final : public QueuedDevice {
 public:
  ManyLaunches(std::shared_ptr<std::atomic<bool>> full, std::function<void()> before_linear)
      : QueuedDevice(std::chrono::microseconds{0}, std::move(before_linear)),
        full_(std::move(full)) {}
  ~ManyLaunches() override {
    if (was_full()) *full_ = true;
  }
  ManyLaunches(const ManyLaunches&) = delete;
  ManyLaunches& operator=(const ManyLaunches&) = delete;
  void attention_forward(Values context, Values probabilities, ConstValues qkv,
                         const AttentionShape& shape, const DroppedValues& dropout) override {
    for (std::int64_t b = 0; b < shape.B; ++b) enqueue([] {});
    QueuedDevice::attention_forward(context, probabilities, qkv, shape, dropout);
  }

 private:
  const std::shared_ptr<std::atomic<bool>> full_;
};

// Whom a driver keeps waiting for room nobody can stop.
TEST(NcclHang, KeepsNoHostInALaunchWhereAnOpIsManyLaunches) {
  parallelarium::Setup setup = small_model("tp=2 microbatches=2 micro-batch=400");
  setup.run.steps = 1;
  setup.run.warmup = 0;
  ThreadNccl nccl;
  const auto full = std::make_shared<std::atomic<bool>>(false);
  LaunchOptions options = over(nccl);
  options.make_device = [&](int rank, Lane lane) {
    auto calls = std::make_shared<int>(0);
    const bool stuck = rank == 1 && lane == Lane::kCompute;
    return std::make_unique<ManyLaunches>(full, [=] {
      if (stuck && ++*calls == 2) std::this_thread::sleep_for(std::chrono::milliseconds{1500});
    });
  };
  const Ended ended = run_into_error(setup, options, 0.5);
  EXPECT_EQ(ended.why.kind, "hang");
  EXPECT_EQ(ended.why.text.rfind("Rank 1 did not", 0), 0u) << ended.why.text;
  EXPECT_FALSE(*full);
}

// Its host sleeps in the middle of its first forward.
class StalledDevice final : public QueuedDevice {
 public:
  StalledDevice() : QueuedDevice(std::chrono::microseconds{0}) {}
  void linear_forward(Values y, ConstValues x, ConstValues w, ConstValues bias, std::int64_t N,
                      std::int64_t M, std::int64_t K, std::int64_t y_pitch) override {
    if (!std::exchange(stalled_, true)) std::this_thread::sleep_for(std::chrono::seconds{2});
    QueuedDevice::linear_forward(y, x, w, bias, N, M, K, y_pitch);
  }

 private:
  bool stalled_ = false;
};

// In the first step the others' hosts wait inside NCCL, to be connected.
TEST(NcclHang, OfOneHostInTheFirstStepNamesItAndNotWhoWaits) {
  ThreadNccl nccl;
  LaunchOptions options = over(nccl);
  options.make_device = [](int rank, Lane lane) -> std::unique_ptr<Device> {
    if (rank == 1 && lane == Lane::kCompute) return std::make_unique<StalledDevice>();
    return std::make_unique<QueuedDevice>(std::chrono::microseconds{0});
  };
  const Ended ended = run_into_error(small_model("pp=2 microbatches=4"), options, 0.5);
  EXPECT_EQ(ended.why.kind, "hang");
  EXPECT_EQ(ended.why.text.rfind("Rank 1 did not arrive at ", 0), 0u) << ended.why.text;
  EXPECT_NE(ended.why.text.find("it is still at layer"), std::string::npos) << ended.why.text;
  EXPECT_EQ(nccl.open(), 0);
}

// Its driver keeps who asks for a mark waiting, as while it loads a kernel on a GPU that does not
// come to rest.
class UnansweredDevice final : public QueuedDevice {
 public:
  explicit UnansweredDevice(std::shared_ptr<std::atomic<int>> asked)
      : QueuedDevice(std::chrono::microseconds{0}), asked_(std::move(asked)) {}
  bool passed(std::int32_t index) const override {
    if (++*asked_ == 30) std::this_thread::sleep_for(std::chrono::seconds{3});
    return QueuedDevice::passed(index);
  }

 private:
  std::shared_ptr<std::atomic<int>> asked_;
};

TEST(NcclHang, IsToldAndAbortedInTimeWhileADriverDoesNotAnswer) {
  ThreadNccl nccl;
  nccl.stall_at(1, 5);
  LaunchOptions options = over(nccl);
  const auto asked = std::make_shared<std::atomic<int>>(0);
  options.make_device = [&](int rank, Lane lane) -> std::unique_ptr<Device> {
    if (rank == 0 && lane == Lane::kCompute) return std::make_unique<UnansweredDevice>(asked);
    return std::make_unique<QueuedDevice>(std::chrono::microseconds{0});
  };
  const Ended ended = run_into_error(small_model("dp=2 tp=2"), options, 0.5);
  EXPECT_EQ(ended.why.kind, "hang");
  EXPECT_GE(asked->load(), 30);
  EXPECT_GT(ended.seconds, 3);
  ASSERT_TRUE(ended.abandoned.has_value());
  EXPECT_LT(*ended.abandoned, 2.5)
      << "before the driver answers: timeout, 0.9 s, and the beginning";
  EXPECT_GT(nccl.aborted(), 0);
}

// One rank's end of a Program, not connected to anybody.
struct OneEnd {
  explicit OneEnd(const Program& program) : fabric(program.world, program.groups, stop) {
    device.reserve_marks(static_cast<std::int32_t>(program.ranks[0].ops.size()) * kMarksOfOp);
    transport = std::make_unique<NcclTransport>(
        nccl, program, program.ranks[0], stop, fabric.transport(0),
        [] { return Result<NcclId>(NcclId{}); }, device);
  }
  ThreadNccl nccl;
  Stop stop;
  CpuFabric fabric;
  QueuedDevice device{std::chrono::microseconds{0}};
  std::unique_ptr<NcclTransport> transport;
};

TEST(NcclTransport, RefusesToExchangeUnequalPartsInPlace) {
  const Program program = built(small_model("dp=3"));
  OneEnd end(program);
  CollectiveCall call;
  call.kind = CollectiveKind::kAllToAll;
  const auto all = std::find_if(program.groups.begin(), program.groups.end(),
                                [](const Group& group) { return group.ranks.size() == 3; });
  ASSERT_NE(all, program.groups.end());
  call.group = static_cast<int>(all - program.groups.begin());
  call.bytes = 7 * size_of(call.type);
  const Result<void> done = end.transport->collective(call);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().id, "collective-uneven");
  EXPECT_NE(done.error().text.find("7 numbers in place with 3 ranks"), std::string::npos);
  EXPECT_TRUE(end.stop.raised());
}

// An all-to-all of a rank with itself comes as a batch of nothing; the next turn is another's.
TEST(NcclTransport, PassesTheTurnOfABatchOfNothing) {
  Program program;
  program.world = 1;
  program.groups = {{Axis::kEp, {0}}};
  RankProgram& rank = program.ranks.emplace_back();
  Op exchange, gather;
  exchange.kind = gather.kind = OpKind::kCollective;
  exchange.group = gather.group = 0;
  exchange.collective = CollectiveKind::kAllToAll;
  exchange.operand_count = 2;
  gather.collective = CollectiveKind::kAllGather;
  rank.ops = {exchange, gather, exchange, exchange, gather};
  OneEnd end(program);
  ASSERT_TRUE(end.transport->barrier().ok());
  std::thread limit([&] {
    if (end.stop.sleep_until(Clock::now() + std::chrono::seconds{5}))
      end.stop.raise(message("late", "Nobody passed the turn."));
  });
  for (const int turn : {1, 4}) {
    EXPECT_TRUE(end.transport->transfer({}).ok());
    CollectiveCall call;
    call.kind = CollectiveKind::kAllGather;
    call.group = 0;
    call.device = &end.device;
    call.marks = turn * kMarksOfOp;
    call.turn = turn;
    EXPECT_TRUE(end.transport->collective(call).ok()) << "turn " << turn;
  }
  end.stop.raise(message("done", ""));
  limit.join();
}

}  // namespace
}  // namespace parallelarium
