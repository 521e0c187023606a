// SPDX-License-Identifier: Apache-2.0
// Ranks on devices of their own through NCCL's calls: the transport that GPUs use, over a stand-in
// for NCCL that moves real bytes late and writes down every call that the user guide forbids.
#include "engine/run/gpu/nccl_transport.h"

#include <gtest/gtest.h>

#include "engine/run/cpu/fabric.h"
#include "engine/run/gpu/nccl_launch.h"
#include "tests/cuda/thread_nccl.h"
#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

BackendChoice on_gpus() { return {Backend::kCuda, Source::kMeasured, {}}; }

LaunchOptions over(ThreadNccl& nccl, NcclWait wait = {}) {
  LaunchOptions options;
  options.make_device = [](int, Lane) {
    return std::make_unique<QueuedDevice>(std::chrono::microseconds{100});
  };
  options.make_transport = nccl_between_threads(nccl, std::move(wait));
  return options;
}

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
                             << proof.worst_parameter;
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
                    "dp=2 zero=3 microbatches=3", "cp=2 attention=fused", "tp=2 pp=2 dp=2 zero=2",
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

struct Ended {
  Message why;
  double seconds = 0;
};
Ended run_into_error(const parallelarium::Setup& setup, const LaunchOptions& options,
                     double timeout) {
  RunControl control;
  control.hang_timeout_seconds = timeout;
  const TimePoint begin = Clock::now();
  const Result<RunResult> run = launch(setup, built(setup), on_gpus(), control, {}, options);
  Ended ended;
  ended.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  EXPECT_FALSE(run.ok());
  if (!run.ok()) ended.why = run.error();
  return ended;
}

TEST(NcclFailure, OfOneRankEndsAllAndIsNamed) {
  ThreadNccl nccl;
  nccl.fail_at(2, 9, NcclStatus::kRemoteError);
  const Ended ended = run_into_error(small_model("pp=2 dp=2"), over(nccl), 20);
  EXPECT_EQ(ended.why.id, "nccl-failed");
  EXPECT_NE(ended.why.text.find("rank 2"), std::string::npos) << ended.why.text;
  EXPECT_NE(ended.why.text.find("told on purpose"), std::string::npos) << ended.why.text;
  EXPECT_LT(ended.seconds, 5);
  EXPECT_EQ(nccl.open(), 0);
  EXPECT_GT(nccl.aborted(), 0);
  // The next run works.
  ThreadNccl fresh;
  const parallelarium::Setup setup = small_model("pp=2 dp=2");
  EXPECT_TRUE(launch(setup, built(setup), on_gpus(), {}, {}, over(fresh)).ok());
}

// NCCL never launches a group of rank 1: the others wait on their devices.
TEST(NcclHang, OfOneRankEndsAllWithinTheTimeoutAndNamesIt) {
  ThreadNccl nccl;
  nccl.stall_at(1, 5);
  const Ended ended = run_into_error(small_model("dp=2 tp=2"), over(nccl), 0.5);
  EXPECT_EQ(ended.why.id, "hang");
  EXPECT_NE(ended.why.text.find("ank 1 did not"), std::string::npos) << ended.why.text;
  EXPECT_LT(ended.seconds, 5);
  EXPECT_EQ(nccl.open(), 0);
}

// A kernel of rank 1 does not end: its host has launched everything, and the marks tell where it
// is.
TEST(NcclHang, OfOneDeviceNamesTheOpThatItIsStillAt) {
  ThreadNccl nccl;
  LaunchOptions options = over(nccl);
  options.make_device = [](int rank, Lane lane) {
    auto calls = std::make_shared<int>(0);
    const bool stuck = rank == 1 && lane == Lane::kCompute;
    return std::make_unique<QueuedDevice>(std::chrono::microseconds{0}, [=] {
      if (stuck && ++*calls == 20) std::this_thread::sleep_for(std::chrono::milliseconds{1500});
    });
  };
  const Ended ended = run_into_error(small_model("pp=2 microbatches=4"), options, 0.5);
  EXPECT_EQ(ended.why.id, "hang");
  EXPECT_EQ(ended.why.text.rfind("Rank 1 did not", 0), 0u) << ended.why.text;
  EXPECT_NE(ended.why.text.find("layer"), std::string::npos) << ended.why.text;
  EXPECT_EQ(nccl.open(), 0);
}

TEST(NcclConnect, TimesOutByTheClockItIsGiven) {
  ThreadNccl nccl;
  nccl.lose(0);
  std::atomic<int> looks{0};
  NcclWait wait;
  const TimePoint begin = Clock::now();
  wait.now = [&] { return begin + std::chrono::seconds{looks.load()}; };
  wait.pause = [&] { ++looks; };  // a second passes at every look
  wait.connecting = std::chrono::seconds{30};
  const Ended ended = run_into_error(small_model("dp=2"), over(nccl, wait), 20);
  EXPECT_EQ(ended.why.id, "nccl-timeout");
  EXPECT_NE(ended.why.text.find("within 30 s"), std::string::npos) << ended.why.text;
  EXPECT_GT(looks, 30);
  EXPECT_EQ(nccl.open(), 0);
}

TEST(NcclConnect, RefusesAnOldNcclBeforeItIsUsed) {
  ThreadNccl nccl(22005);
  const Ended ended = run_into_error(small_model("tp=2 dp=2"), over(nccl), 20);
  EXPECT_EQ(ended.why.id, "nccl-old");
  EXPECT_EQ(nccl.open(), 0);
}

}  // namespace
}  // namespace parallelarium
