// SPDX-License-Identifier: Apache-2.0
// Real runs on a GPU, through the module: meshes on a shared GPU against one rank on the CPU.
// Skips with the reason where there is no GPU.
#include <gtest/gtest.h>

#include "engine/run/gpu/module.h"
#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

class SharedGpu : public testing::Test {
 protected:
  void SetUp() override {
    const Result<std::vector<GpuFacts>> gpus = usable_gpus();
    if (!gpus) GTEST_SKIP() << gpus.error().text;
  }

  static void expect_like_one_rank(parallelarium::Setup setup) {
    setup.run.backend = Backend::kCuda;
    const Result<BackendChoice> choice = choose_backend(setup);
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
    EXPECT_TRUE(proof.holds()) << proof.loss_difference << ", " << proof.gradient_difference
                               << " in " << proof.worst_parameter;
    EXPECT_NEAR(many->held_out_loss, one->held_out_loss,
                std::max(1e-5, 2 * proof.loss_bound) * one->held_out_loss);
    const Timeline& timeline = many->observation.timeline;
    EXPECT_GT(timeline.clock_error.count(), 0);
    EXPECT_LT(timeline.clock_error, std::chrono::milliseconds{5});
    for (const RankTimeline& rank : timeline.ranks)
      for (const Span& span : rank.spans) EXPECT_LE(span.begin, span.end);
  }
};

TEST_F(SharedGpu, OneRank) { expect_like_one_rank(small_setup(1, 1, 2)); }
TEST_F(SharedGpu, PipelineAndReplicas) { expect_like_one_rank(small_setup(2, 2, 3)); }
TEST_F(SharedGpu, ShardedParameters) {
  parallelarium::Setup setup = small_setup(1, 2, 2);
  setup.zero = 3;
  expect_like_one_rank(setup);
}
TEST_F(SharedGpu, TensorParallel) {
  parallelarium::Setup setup = small_setup(2, 1, 2);
  setup.mesh.tp = 2;
  setup.sequence_parallel = true;
  expect_like_one_rank(setup);
}
TEST_F(SharedGpu, RingAttention) {
  parallelarium::Setup setup = small_setup(1, 1, 2);
  setup.mesh.cp = 2;
  setup.attention = Attention::kFused;
  expect_like_one_rank(setup);
}
TEST_F(SharedGpu, HalfPrecision) {
  for (const char* recipe : {"mixed-16", "mixed-16-main-grads", "bf16-states"})
    for (const Attention attention : {Attention::kUnfused, Attention::kFused}) {
      parallelarium::Setup setup = small_setup(2, 2, 2);
      ASSERT_TRUE(set_field(setup, "precision", recipe).ok());
      setup.attention = attention;
      setup.zero = 1;
      expect_like_one_rank(setup);
    }
}
// Paths of their own in 16 bit: rings, dropout by blocks, Llama's pieces, experts.
TEST_F(SharedGpu, HalfPrecisionOfOtherPieces) {
  for (const char* words :
       {"cp=2 attention=fused", "attention=fused dropout=0.1 dp=2", "llama tp=2 attention=fused",
        "experts=8 top-k=2 expert-ffn=12 dp=2 ep=2 shared-experts=1"}) {
    SCOPED_TRACE(words);
    expect_like_one_rank(small_model("precision=mixed-16 " + std::string(words)));
  }
}
TEST_F(SharedGpu, Experts) {
  parallelarium::Setup setup = small_setup(1, 2, 2);
  setup.mesh.ep = 2;
  setup.model.experts.count = 8;
  setup.model.experts.top_k = 2;
  setup.model.experts.ffn = 12;
  setup.skew = 0.3;
  expect_like_one_rank(setup);
}

}  // namespace
}  // namespace parallelarium
