// SPDX-License-Identifier: Apache-2.0
// Training with products in FP8: every axis within the rounding that one rank shows against fp32.
//
// A scale is that of what one rank multiplies in one product. Replicas, stages and shards multiply
// what one rank does, micro-batch by micro-batch, so they scale alike. TP and CP ranks multiply
// parts, with scales of their own.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/ranks/proof.h"
#include "tests/ranks/transport/forwarded_device.h"

namespace parallelarium {
namespace {

// Wide enough that TP 4 leaves a rank multiples of 16.
Setup in_eighths(const std::string& words) {
  return small_model(
      "machine=dgx-h100 hidden=64 ffn=128 precision=mixed-16-main-grads "
      "products=fp8 " +
      words);
}

class Eighths : public testing::TestWithParam<const char*> {};

TEST_P(Eighths, TrainWithinTheRoundingOfOneRank) {
  const auto setup = in_eighths(GetParam());
  const Result<void> can = can_execute(setup);
  ASSERT_TRUE(can.ok()) << can.error().text;
  const Program program = built(setup);
  for (const Message& wrong : check(program)) ADD_FAILURE() << wrong.text;
  LaunchOptions options;
  options.poison = true;
  const Result<RunResult> result = run_now(setup, program, {.gradients = true}, options);
  ASSERT_TRUE(result.ok()) << result.error().text;
  const Proof proof = proof_of(*result, setup);
  EXPECT_TRUE(proof.holds()) << "loss " << proof.loss_difference << " of " << proof.loss_bound
                             << ", gradient " << proof.gradient_difference << " of "
                             << proof.gradient_bound << ", worst " << proof.worst_parameter.text;
  EXPECT_GT(proof.gradient_bound, 0.01) << "as little as 16 bit rounds";
  testing::Test::RecordProperty(
      "loss", fmt::format("{:.1e}/{:.1e}", proof.loss_difference, proof.loss_bound));
  testing::Test::RecordProperty(
      "gradient", fmt::format("{:.1e}/{:.1e}", proof.gradient_difference, proof.gradient_bound));
  const Observation& seen = result->observation;
  EXPECT_LT(seen.losses.back(), seen.losses.front() - 0.01);
  expect_counted(program, seen);
}
INSTANTIATE_TEST_SUITE_P(
    Axes, Eighths,
    testing::Values("", "llama", "recompute=full", "attention=fused", "precision=mixed-16",
                    "precision=bf16-states llama", "dp=2", "dp=3 microbatches=3 clip=0.05",
                    "dp=2 zero=1", "dp=2 zero=2", "dp=4 zero=3 microbatches=3", "pp=2",
                    "pp=4 microbatches=6", "pp=2 schedule=zb-h1 microbatches=4",
                    "pp=2 dp=2 zero=2 schedule=interleaved chunks=2", "tp=2", "llama tp=2",
                    "tp=4 micro-batch=2", "tp=2 sequence-parallel=true", "tp=2 pp=2 dp=2",
                    "cp=2 attention=fused", "dropout=0.1 dp=2"),
    name_of_case);

// The first loss is of the same products, scale by scale.
TEST(EighthsScales, OfReplicasStagesAndShardsAreThoseOfOneRank) {
  for (const char* mesh : {"dp=2", "pp=2", "dp=2 pp=2 zero=3", "pp=2 schedule=zb-h1"}) {
    const auto setup = in_eighths(mesh);
    const Result<RunResult> many = run_now(setup, built(setup), {.gradients = true});
    ASSERT_TRUE(many.ok()) << many.error().text;
    const RunResult& one = one_rank(setup);
    EXPECT_NEAR(many->observation.losses.front(), one.observation.losses.front(), 1e-6) << mesh;
    EXPECT_LT(relative_difference(many->gradients, one.gradients), 1e-3) << mesh;
  }
}

// 24 steps of one rank: the loss falls as it does in 16 bit, within 0.5 % at every step.
TEST(EighthsLoss, FallsAsItDoesInSixteenBit) {
  const auto losses = [](const std::string& words) {
    auto setup = small_model(
        "machine=dgx-h100 hidden=64 ffn=128 "
        "precision=mixed-16-main-grads micro-batch=4 " +
        words);
    setup.run.steps = 24;
    const Result<RunResult> result = run_now(setup, built(setup));
    EXPECT_TRUE(result.ok()) << result.error().text;
    return result->observation.losses;
  };
  const std::vector<double> eighths = losses("products=fp8"), halves = losses("products=same");
  ASSERT_EQ(eighths.size(), halves.size());
  EXPECT_LT(eighths.back(), eighths.front() - 0.5);
  double apart = 0;
  for (std::size_t step = 0; step < halves.size(); ++step) {
    EXPECT_NEAR(eighths[step] / halves[step], 1, 0.005) << step;
    apart = std::max(apart, std::abs(eighths[step] / halves[step] - 1));
  }
  EXPECT_GT(apart, 1e-5) << "nothing was multiplied in FP8";
  RecordProperty("apart", fmt::format("{:.1e}", apart));
}

TEST(EighthsSizes, ThatRowsOfSixteenDoNotDivideAreRefused) {
  EXPECT_TRUE(can_execute(in_eighths("tp=4")).ok());
  for (const char* words : {"hidden=40", "tp=2 ffn=48", "llama heads=8 kv-heads=8 tp=8 ffn=256"}) {
    const Result<void> can = can_execute(in_eighths(words));
    ASSERT_FALSE(can.ok()) << words;
    EXPECT_EQ(can.error().id, "run-fp8-sizes") << words;
  }
}

// As an A100.
class WithoutEighths final : public ForwardedDevice<WithoutEighths> {
 public:
  bool has_fp8() const override { return false; }
  template <class Launch>
  void forward(const char*, std::initializer_list<Values>, Launch launch) {
    launch(inner());
  }
};

TEST(EighthsDevice, ThatHasNoneRefusesARun) {
  const auto setup = in_eighths("");
  LaunchOptions options;
  options.make_device = [](int, Lane) { return std::make_unique<WithoutEighths>(); };
  const Result<RunResult> result = run_now(setup, built(setup), {}, options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().id, "fp8-gpu");
  EXPECT_EQ(result.error().field, "products");
  EXPECT_TRUE(
      run_now(in_eighths("products=same"), built(in_eighths("products=same")), {}, options));
}

}  // namespace
}  // namespace parallelarium
