// SPDX-License-Identifier: Apache-2.0
// Real runs on a GPU, through the module: meshes on a shared GPU against one rank on the CPU, and
// what becomes of them when a rank fails or stalls. Skips with the reason where there is no GPU.
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "engine/run/gpu/module.h"
#include "engine/run/launch.h"
#include "tests/ranks/proof.h"
#include "tests/ranks/wrapped_transport.h"

namespace parallelarium {
namespace {

Result<BackendChoice> shared_gpu(parallelarium::Setup& setup) {
  setup.run.backend = Backend::kCuda;
  if (Result<std::vector<GpuFacts>> gpus = usable_gpus(); !gpus) return gpus.error();
  setup.run.devices = "0";
  return choose_backend(setup);
}

class SharedGpu : public testing::TestWithParam<const char*> {};

TEST_P(SharedGpu, TrainsLikeOneRank) {
  parallelarium::Setup setup = small_model(GetParam());
  const Result<BackendChoice> choice = shared_gpu(setup);
  if (!choice && choice.error().id == "cuda-missing") GTEST_SKIP() << choice.error().text;
  ASSERT_TRUE(choice.ok()) << choice.error().text;
  const RunWishes wishes{.gradients = true, .parameters = false, .held_out_loss = true};
  const Result<RunResult> many = run(setup, built(setup), *choice, {}, wishes);
  ASSERT_TRUE(many.ok()) << many.error().text;
  parallelarium::Setup alone = one_rank_setup(setup);
  alone.run.backend = Backend::kCpu;
  const Result<RunResult> one = run_now(alone, built(alone), wishes);
  ASSERT_TRUE(one.ok()) << one.error().text;
  Proof proof = compare(*many, *one);
  if (setup.precision.parameter_bytes == 2) {
    alone.precision = {};
    const Result<RunResult> exact = run_now(alone, built(alone), wishes);
    ASSERT_TRUE(exact.ok()) << exact.error().text;
    proof = compare(*many, *one, *exact);
  }
  EXPECT_TRUE(proof.holds()) << proof.loss_difference << ", " << proof.gradient_difference << " in "
                             << proof.worst_parameter;
  EXPECT_NEAR(many->held_out_loss, one->held_out_loss,
              std::max(1e-5, 2 * proof.loss_bound) * one->held_out_loss);
  const Timeline& timeline = many->observation.timeline;
  EXPECT_GT(timeline.clock_error.count(), 0);
  EXPECT_LT(timeline.clock_error, std::chrono::milliseconds{5});
  for (const RankTimeline& rank : timeline.ranks)
    for (const Span& span : rank.spans) EXPECT_LE(span.begin, span.end);
}

constexpr const char* kMeshes[] = {"pp=1",
                                   "pp=2 dp=2 microbatches=3",
                                   "dp=2 zero=1",
                                   "dp=2 zero=2 microbatches=3",
                                   "dp=2 zero=3",
                                   "dp=4 zero=3 zero-group=2",
                                   "tp=2",
                                   "tp=2 pp=2 sequence-parallel=true",
                                   "tp=2 dp=2 pp=2 zero=1",
                                   "pp=2 schedule=gpipe microbatches=4",
                                   "pp=2 schedule=interleaved chunks=2 microbatches=4",
                                   "pp=2 schedule=zb-h1 microbatches=4",
                                   "pp=2 schedule=zb-v microbatches=4",
                                   "pp=2 schedule=dualpipe microbatches=4",
                                   "cp=2 attention=fused",
                                   "cp=2 attention=fused context-parallel=all-gather",
                                   "cp=2 context-parallel=ulysses",
                                   "cp=2 context-parallel=ulysses attention=fused",
                                   "recompute=selective tp=2 sequence-parallel=true",
                                   "pp=2 recompute=full dropout=0.1",
                                   "attention=fused dropout=0.1 dp=2",
                                   "llama tp=2 attention=fused",
                                   "dp=2 collectives=ring",
                                   "dp=4 collectives=halving-doubling",
                                   "clip=0.05 dp=2 pp=2",
                                   "experts=8 top-k=2 expert-ffn=12 dp=2 ep=2 skew=0.3"};
// Recipes, and paths that have kernels of their own in 16 bit: rings, dropout by blocks, Llama's
// pieces, experts.
constexpr const char* kHalf[] = {
    "precision=mixed-16 pp=2 dp=2 zero=1",
    "precision=mixed-16 pp=2 dp=2 zero=1 attention=fused",
    "precision=mixed-16-main-grads pp=2 dp=2 zero=1",
    "precision=mixed-16-main-grads pp=2 dp=2 zero=1 attention=fused",
    "precision=bf16-states pp=2 dp=2 zero=1",
    "precision=bf16-states pp=2 dp=2 zero=1 attention=fused",
    "precision=mixed-16 cp=2 attention=fused",
    "precision=mixed-16 cp=2 context-parallel=ulysses",
    "precision=mixed-16 attention=fused dropout=0.1 dp=2",
    "precision=mixed-16 recompute=full pp=2 schedule=zb-v microbatches=4",
    "precision=mixed-16 llama tp=2 attention=fused",
    "precision=mixed-16 experts=8 top-k=2 expert-ffn=12 dp=2 ep=2 shared-experts=1"};
INSTANTIATE_TEST_SUITE_P(Meshes, SharedGpu, testing::ValuesIn(kMeshes),
                         [](const auto& one) { return test_name(one.param); });
INSTANTIATE_TEST_SUITE_P(InHalf, SharedGpu, testing::ValuesIn(kHalf),
                         [](const auto& one) { return test_name(one.param); });

TEST(SharedGpuFailure, NamesTheRankEndsAllInTimeAndTheNextRunWorks) {
  parallelarium::Setup setup = small_model("layers=6 pp=3 microbatches=6");
  const Result<BackendChoice> choice = shared_gpu(setup);
  if (!choice && choice.error().id == "cuda-missing") GTEST_SKIP() << choice.error().text;
  ASSERT_TRUE(choice.ok()) << choice.error().text;
  constexpr double kTimeout = 1;
  const Program program = built(setup);
  for (const bool stalls : {false, true}) {
    SCOPED_TRACE(stalls ? "stalls" : "fails");
    TimePoint disturbed;
    Result<LaunchOptions> options = launch_options(*choice, program.ranks.size());
    ASSERT_TRUE(options.ok()) << options.error().text;
    options->make_transport = [&](TransportParts parts) -> std::unique_ptr<Transport> {
      if (parts.host->rank() != 1) return std::move(parts.host);
      return std::make_unique<WrappedTransport>(
          std::move(parts.host), [&disturbed, &stop = parts.stop, stalls](int calls) {
            if (calls != 20) return;
            disturbed = Clock::now();
            if (!stalls) throw std::runtime_error("out of luck");
            while (!stop.raised()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
          });
    };
    RunControl control;
    control.hang_timeout_seconds = kTimeout;
    const Result<RunResult> ended = launch(setup, program, *choice, control, {}, *options);
    const auto took = Clock::now() - disturbed;
    ASSERT_FALSE(ended.ok());
    EXPECT_EQ(ended.error().text.rfind("Rank 1 ", 0), 0u) << ended.error().text;
    EXPECT_LT(took, std::chrono::duration<double>(stalls ? kTimeout + 1 : 1));
    const Result<RunResult> next = run(setup, program, *choice, {});
    EXPECT_TRUE(next.ok()) << next.error().text;
  }
}

}  // namespace
}  // namespace parallelarium
