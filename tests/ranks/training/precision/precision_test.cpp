// SPDX-License-Identifier: Apache-2.0
// Training in 16 bit: every axis within the rounding that one rank shows against fp32.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "engine/predict/memory.h"
#include "engine/train/parameters.h"
#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

// What a mesh's rounding may make of it more than one rank's does: it rounds at other places.
constexpr double kTimesRounding = 1.25;

// Norms of a tensor's difference from another, and of the other.
struct Norms {
  double difference = 0, norm = 0;
};
Norms norms_of(const NamedTensor& a, const NamedTensor& b) {
  Norms norms;
  EXPECT_EQ(a.values.size(), b.values.size());
  for (std::size_t j = 0; j < b.values.size(); ++j) {
    norms.difference +=
        std::pow(static_cast<double>(a.values[j]) - static_cast<double>(b.values[j]), 2);
    norms.norm += std::pow(static_cast<double>(b.values[j]), 2);
  }
  return {std::sqrt(norms.difference), std::sqrt(norms.norm)};
}

// Each tensor alone: few numbers may be rounded to the other side by chance.
void expect_each_within_rounding(const std::vector<NamedTensor>& many,
                                 const std::vector<NamedTensor>& rounded,
                                 const std::vector<NamedTensor>& exact) {
  ASSERT_EQ(many.size(), exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const Norms own = norms_of(many[i], exact[i]), one = norms_of(rounded[i], exact[i]);
    EXPECT_LE(own.difference, 2 * one.difference + 0.01 * own.norm)
        << describe(exact[i].parameter, exact[i].layer).text << ", one rank " << one.difference
        << ", norm " << own.norm;
  }
}

// Losses of all steps, gradients of the first and parameters after the last, against fp32 on one
// rank; bytes and memory are those of the Program.
void expect_within_rounding(const Setup& setup) {
  const Result<void> can = can_execute(setup);
  ASSERT_TRUE(can.ok()) << can.error().text;
  const Program program = built(setup);
  for (const Message& wrong : check(program)) ADD_FAILURE() << wrong.text;
  LaunchOptions options;
  options.poison = true;
  const Result<RunResult> result =
      run_now(setup, program, {.gradients = true, .parameters = true}, options);
  ASSERT_TRUE(result.ok()) << result.error().text;
  const RunResult &exact = one_rank(in_fp32(setup)), &rounded = one_rank(setup);

  const Proof proof = proof_of(*result, setup);
  EXPECT_GT(proof.gradient_bound, 1e-4) << "nothing was rounded";
  const bool experts = setup.model.experts.count > 0;  // one token of few may choose another
  EXPECT_LE(proof.gradient_bound, experts ? 0.1 : 0.05);
  EXPECT_LT(proof.loss_bound, experts ? 0.05 : 0.015);
  EXPECT_TRUE(proof.holds()) << "loss " << proof.loss_difference << " of " << proof.loss_bound
                             << ", gradient " << proof.gradient_difference << " of "
                             << proof.gradient_bound << ", worst " << proof.worst_parameter.text;
  expect_each_within_rounding(result->gradients, rounded.gradients, exact.gradients);
  for (std::size_t step = 0; step < exact.observation.gradient_norms.size(); ++step)
    EXPECT_NEAR(result->observation.gradient_norms[step], exact.observation.gradient_norms[step],
                2 * proof.gradient_bound * exact.observation.gradient_norms[step]);
  const double parameters = relative_difference(result->parameters, exact.parameters);
  const double bound = kTimesRounding * relative_difference(rounded.parameters, exact.parameters);
  EXPECT_LE(parameters, bound);
  const std::string& recipe = setup.precision.name;
  testing::Test::RecordProperty(
      recipe + " loss", fmt::format("{:.1e}/{:.1e}", proof.loss_difference, proof.loss_bound));
  testing::Test::RecordProperty(
      recipe + " gradient",
      fmt::format("{:.1e}/{:.1e}", proof.gradient_difference, proof.gradient_bound));
  testing::Test::RecordProperty(recipe + " parameters",
                                fmt::format("{:.1e}/{:.1e}", parameters, bound));

  const Observation& seen = result->observation;
  EXPECT_LT(seen.losses.back(), seen.losses.front() - 0.01);
  expect_counted(program, seen);
}

class Mixed : public testing::TestWithParam<const char*> {};

TEST_P(Mixed, TrainsWithinTheRoundingOfOneRank) {
  expect_within_rounding(small_model("precision=mixed-16 " + std::string(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(OneRank, Mixed,
                         testing::Values("", "llama", "recompute=full", "recompute=selective",
                                         "recompute=second-products",
                                         "llama recompute=activation,second-products micro-batch=2",
                                         "llama tp=2 recompute=norms,second-products",
                                         "attention=fused", "llama attention=fused micro-batch=2",
                                         "dropout=0.1", "llama dropout=0.1 micro-batch=2",
                                         "dropout=0.1 attention=fused"),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(
    ReducedInFp32, Mixed,
    testing::Values("gradient-reduction=fp32 dp=2", "gradient-reduction=fp32 dp=3 zero=1 clip=0.05",
                    "gradient-reduction=fp32 dp=3 zero=2 microbatches=3",
                    "gradient-reduction=fp32 dp=4 zero=3 zero-reshard=false",
                    "gradient-reduction=fp32 dp=4 zero=1 zero-group=2",
                    "gradient-reduction=fp32 llama dp=4 zero=3 zero-group=2 microbatches=3",
                    "gradient-reduction=fp32 dp=2 pp=2 tp=2 sequence-parallel=true",
                    "gradient-reduction=fp32 dp=4 overlap-gradients=false"),
    name_of_case);
INSTANTIATE_TEST_SUITE_P(
    Axes, Mixed,
    testing::Values("dp=2", "dp=3 microbatches=3 clip=0.05", "pp=2", "pp=4 microbatches=6", "tp=2",
                    "tp=4 micro-batch=2", "tp=2 sequence-parallel=true",
                    "tp=4 sequence-parallel=true recompute=full", "tp=8 heads=8",
                    "llama tp=8 heads=8 kv-heads=4 sequence-parallel=true",
                    "tp=2 pp=2 microbatches=4", "tp=2 dp=2 clip=0.05", "vocab=257 tp=2",
                    "llama tp=4", "llama tp=2 dp=2", "llama pp=2 dp=2 micro-batch=2",
                    "llama tp=4 sequence-parallel=true", "cp=2 context-parallel=ulysses",
                    "cp=2 tp=2 context-parallel=ulysses",
                    "llama cp=4 context-parallel=ulysses attention=fused", "cp=2 attention=fused",
                    "cp=4 attention=fused", "cp=4 attention=fused cp-split=contiguous",
                    "tp=2 sequence-parallel=true sequence-regather=false",
                    "cp=2 tp=2 attention=fused sequence-parallel=true",
                    "llama cp=2 dp=2 attention=fused zero=2", "llama cp=4 attention=fused",
                    "cp=2 attention=fused context-parallel=all-gather",
                    "llama cp=4 attention=fused context-parallel=all-gather",
                    "cp=2 pp=2 attention=fused recompute=full dropout=0.1",
                    "attention=fused tp=2 recompute=selective", "dropout=0.1 dp=2 tp=2",
                    "dropout=0.1 tp=2 pp=2 sequence-parallel=true recompute=full"),
    name_of_case);
INSTANTIATE_TEST_SUITE_P(Zero, Mixed,
                         testing::Values("dp=2 zero=1", "dp=2 zero=2", "dp=2 zero=3",
                                         "dp=4 zero=1 clip=0.05", "dp=3 zero=2 microbatches=3",
                                         "dp=4 zero=3 microbatches=3", "dp=4 zero=2 zero-group=2",
                                         "llama dp=2 tp=2 zero=3",
                                         "dp=2 pp=2 zero=3 microbatches=4",
                                         "dp=2 pp=2 zero=2 recompute=selective schedule=zb-h1 "
                                         "microbatches=4",
                                         "dp=2 pp=2 zero=1 recompute=full schedule=interleaved "
                                         "chunks=2",
                                         "llama dp=2 pp=2 zero=3 recompute=full schedule=dualpipe "
                                         "microbatches=4"),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Schedules, Mixed,
                         testing::Values("pp=2 dp=2 schedule=gpipe",
                                         "pp=2 schedule=interleaved chunks=2",
                                         "pp=4 schedule=zb-h1 microbatches=8",
                                         "llama pp=2 tp=2 schedule=zb-h2 microbatches=4",
                                         "pp=2 dp=2 schedule=zb-v microbatches=4 zero=1",
                                         "pp=4 schedule=dualpipe microbatches=8",
                                         "pp=2 schedule=dualpipe-v microbatches=4"),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Collectives, Mixed,
                         testing::Values("dp=2 collectives=ring", "tp=4 collectives=ring",
                                         "dp=4 zero=3 collectives=ring"),
                         name_of_case);

class MixedExperts : public testing::TestWithParam<const char*> {};

TEST_P(MixedExperts, TrainWithinTheRoundingOfOneRank) {
  expect_within_rounding(
      small_model("precision=mixed-16 experts=8 top-k=2 expert-ffn=12 " + std::string(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(
    Axes, MixedExperts,
    testing::Values("", "shared-experts=1 capacity=1", "llama router=sigmoid bias-rate=0.01",
                    "dp=2", "dp=2 ep=2", "dp=4 ep=4 capacity=1.25", "dp=4 ep=2 zero=3",
                    "llama dp=2 ep=2 shared-experts=1 balance-loss=0.01 z-loss=0.001",
                    "tp=2 shared-experts=1", "llama dp=2 ep=2 tp=2 sequence-parallel=true",
                    "dp=2 ep=2 pp=2 schedule=zb-h1 microbatches=4",
                    "dp=2 ep=2 recompute=full attention=fused dropout=0.1"),
    name_of_case);

// Gradients in fp32, or moments in 16 bit too.
class Recipes : public testing::TestWithParam<const char*> {};

TEST_P(Recipes, TrainWithinTheRoundingOfOneRank) {
  for (const char* recipe : {"mixed-16-main-grads", "bf16-states"}) {
    SCOPED_TRACE(recipe);
    expect_within_rounding(small_model(fmt::format("precision={} {}", recipe, GetParam())));
  }
}

INSTANTIATE_TEST_SUITE_P(Meshes, Recipes,
                         testing::Values("", "llama tp=2", "dp=2 zero=1",
                                         "dp=2 ep=2 experts=4 top-k=2 expert-ffn=12",
                                         "dp=2 zero=2 clip=0.05", "dp=2 pp=2 zero=3 microbatches=3",
                                         "tp=2 pp=2", "dropout=0.1 dp=2 recompute=full",
                                         "pp=2 schedule=zb-h1 attention=fused microbatches=4"),
                         name_of_case);

// What the arena of a real run holds for a layer: Korthikanti et al. 2022, table 2, and the norms'
// statistics, which they leave out.
TEST(Counted, ActivationsAreThoseOfThePaper) {
  for (const auto& [tp, sequence_parallel] : {std::pair{1, false}, {2, false}, {2, true}}) {
    const auto counted = [tp = tp, sequence_parallel = sequence_parallel](int layers) {
      const parallelarium::Setup setup = small_model(
          fmt::format("precision=mixed-16 dropout=0.1 microbatches=1 ffn=64 layers={} tp={} "
                      "sequence-parallel={}",
                      layers, tp, sequence_parallel));
      const Result<RunResult> result = run_now(setup, built(setup));
      EXPECT_TRUE(result.ok()) << result.error().text;
      return result->observation.memory[0].bytes[static_cast<int>(Category::kActivations)];
    };
    const parallelarium::Setup setup = small_model("");
    LayerShape shape;
    shape.s = static_cast<double>(setup.model.sequence);
    shape.b = setup.micro_batch;
    shape.h = static_cast<double>(setup.model.hidden);
    shape.a = setup.model.heads;
    shape.t = tp;
    shape.sequence_parallel = sequence_parallel;
    const double statistics = 16 * shape.s * shape.b / (sequence_parallel ? tp : 1);
    EXPECT_DOUBLE_EQ(static_cast<double>(counted(5) - counted(4)),
                     layer_activation_bytes(shape, Recompute::kNone) + statistics)
        << "tp " << tp;
  }
}

// The master keeps what bf16 parameters lose: with steps below half of what lies between two of
// them most would stand still.
TEST(Master, KeepsSmallSteps) {
  parallelarium::Setup setup = small_model("precision=mixed-16");
  setup.learning_rate = 1e-5;
  setup.run.steps = 200;
  const Result<RunResult> rounded = run_now(setup, built(setup));
  const Result<RunResult> exact = run_now(in_fp32(setup), built(in_fp32(setup)));
  ASSERT_TRUE(rounded.ok() && exact.ok());
  const std::vector<double>&a = rounded->observation.losses, &b = exact->observation.losses;
  EXPECT_LT(b.back(), b.front() - 0.02);
  EXPECT_NEAR(a.back(), b.back(), 0.1 * (b.front() - b.back()));
}

TEST(HeldOut, LossIn16BitIsThatOfOneRank) {
  parallelarium::Setup setup = small_model("precision=mixed-16 pp=2 dp=2 zero=2");
  setup.run.text = PARALLELARIUM_SOURCE_DIR "/LICENSES/Apache-2.0.txt";
  const parallelarium::Setup alone = in_fp32(one_rank_setup(setup));
  const RunWishes wishes{.held_out_loss = true};
  const Result<RunResult> many = run_now(setup, built(setup), wishes);
  const Result<RunResult> one = run_now(alone, built(alone), wishes);
  ASSERT_TRUE(many.ok() && one.ok());
  EXPECT_NEAR(many->held_out_loss, one->held_out_loss, 1e-2);
  EXPECT_GT(many->held_out_loss, 3);
}

}  // namespace
}  // namespace parallelarium
