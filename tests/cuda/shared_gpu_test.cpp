// SPDX-License-Identifier: Apache-2.0
// Real runs on a GPU, through the module: meshes on a shared GPU against one rank on the CPU, and
// what becomes of them when a rank fails or stalls. Skips with the reason where there is no GPU.
#include <gtest/gtest.h>

#include <chrono>

#include "engine/run/gpu/module/module.h"
#include "tests/cuda/disturbed_run.h"
#include "tests/ranks/proof.h"

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
  // The default text holds 12,500 sequences of this length out, which takes a GPU 13 s.
  setup.run.text = PARALLELARIUM_SOURCE_DIR "/LICENSES/Apache-2.0.txt";
  const Result<BackendChoice> choice = shared_gpu(setup);
  if (!choice && choice.error().kind == "cuda-missing") GTEST_SKIP() << choice.error().text;
  ASSERT_TRUE(choice.ok()) << choice.error().text;
  const RunWishes wishes{.gradients = true, .parameters = true, .held_out_loss = true};
  const Result<RunResult> many = run(setup, built(setup), *choice, {}, wishes);
  if (!many && many.error().id == "fp8-gpu") GTEST_SKIP() << many.error().text;
  ASSERT_TRUE(many.ok()) << many.error().text;
  parallelarium::Setup alone = one_rank_setup(setup);
  alone.run.backend = Backend::kCpu;
  const Result<RunResult> one = run_now(alone, built(alone), wishes);
  ASSERT_TRUE(one.ok()) << one.error().text;
  Proof proof = compare(*many, *one);
  if (setup.precision.parameter_bytes == 2) {
    alone.precision = {};
    alone.products = ProductType::kSame;
    const Result<RunResult> exact = run_now(alone, built(alone), wishes);
    ASSERT_TRUE(exact.ok()) << exact.error().text;
    proof = compare(setup, *many, *one, *exact);
  }
  EXPECT_TRUE(proof.holds()) << proof.loss_difference << ", " << proof.gradient_difference << " in "
                             << proof.worst_parameter.text;
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
                                   "dp=2 zero=2 overlap-parameters=true microbatches=3",
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
                                   "tp=2 sequence-parallel=true ring-tensor=true",
                                   "llama recompute=norms,activation,second-products",
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
    "machine=dgx-h100 products=fp8 hidden=64 ffn=128 precision=mixed-16-main-grads",
    "machine=dgx-h100 products=fp8 hidden=64 ffn=128 precision=mixed-16 llama tp=2 pp=2",
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
    "precision=mixed-16 llama tp=4 sequence-parallel=true ring-tensor=true "
    "recompute=second-products",
    "precision=mixed-16 experts=8 top-k=2 expert-ffn=12 dp=2 ep=2 shared-experts=1"};
INSTANTIATE_TEST_SUITE_P(Meshes, SharedGpu, testing::ValuesIn(kMeshes),
                         [](const auto& one) { return test_name(one.param); });
INSTANTIATE_TEST_SUITE_P(InHalf, SharedGpu, testing::ValuesIn(kHalf),
                         [](const auto& one) { return test_name(one.param); });

TEST(SharedGpuFailure, NamesTheRankEndsAllInTimeAndTheNextRunWorks) {
  parallelarium::Setup setup = small_model("layers=6 pp=3 microbatches=6");
  const Result<BackendChoice> choice = shared_gpu(setup);
  if (!choice && choice.error().kind == "cuda-missing") GTEST_SKIP() << choice.error().text;
  ASSERT_TRUE(choice.ok()) << choice.error().text;
  expect_named_and_ended_in_time(setup, *choice);
}

}  // namespace
}  // namespace parallelarium
