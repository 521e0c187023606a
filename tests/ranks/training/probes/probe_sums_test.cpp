// SPDX-License-Identifier: Apache-2.0
// Probes of what the steps of a ring of TP add up: own parts and those that came are together one
// rank's tensor, and what a rank leaves its neighbour finds. A Layer offers the probes that a run
// takes, and no others.
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "engine/plan/layer/layer_steps.h"
#include "engine/run/train/probe/probe_whole.h"
#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

parallelarium::Setup model_of_rings(const std::string& words) {
  return small_model("layers=2 steps=1 warmup=0 sequence-parallel=true ring-tensor=true " + words);
}

std::string sum_of_step(const std::string& of, const char* part, int step) {
  return of + "-" + part + "-step-" + std::to_string(step + 1);
}

// All ranks' parts of one tensor of the probe.
WholeTensor put_in_place(const std::vector<ProbedRank>& probes, const Probe& probe,
                         const std::string& name) {
  WholeTensor whole;
  for (const ProbedRank& rank : probes)
    if (const ProbedTensor* part = probed_tensor(probes, probe, name, rank.rank))
      whole.put(*part, Joined::kEqual);
  return whole;
}

// Of all ranks, how far one tensor is from another put together.
double difference_of_copies(const std::vector<ProbedRank>& probes, const Probe& probe,
                            const std::string& left, const std::string& found) {
  const WholeTensor whole = put_in_place(probes, probe, left);
  double most = whole.complete() ? whole.contradiction() : 1;
  for (const ProbedRank& rank : probes)
    if (const ProbedTensor* part = probed_tensor(probes, probe, found, rank.rank))
      most = std::max(most, whole.difference_from(*part).value_or(1));
  return most;
}

class ProbedSums : public testing::TestWithParam<const char*> {};

TEST_P(ProbedSums, OfARingAreTogetherOneRanks) {
  const parallelarium::Setup setup = model_of_rings(GetParam());
  const Program program = built(setup);
  parallelarium::Setup alone = one_rank_setup(setup);
  alone.run.warmup = 0;
  alone.run.steps = 1;
  struct Ring {
    Piece product;
    Phase phase;
    const char* out;
  };
  const int tp = setup.mesh.tp;
  for (const Ring& of : {Ring{Piece::kProjection, Phase::kForward, "out"},
                         {Piece::kMlpOut, Phase::kForward, "out"},
                         {Piece::kQkv, Phase::kInputGrad, "dy"},
                         {Piece::kMlpIn, Phase::kInputGrad, "dy"}}) {
    SCOPED_TRACE(name_of(of.product));
    const Probe sums{1, Piece::kCombine, 1, of.phase, 1}, product{1, of.product, 1, of.phase, 1};
    const Result<RunResult> many = run_now(setup, program, {.probes = {sums}});
    const Result<RunResult> one = run_now(alone, built(alone), {.probes = {product}});
    ASSERT_TRUE(many.ok()) << many.error().text;
    ASSERT_TRUE(one.ok()) << one.error().text;
    const std::string key = key_of(name_of(of.product));
    WholeTensor added;
    for (const ProbedRank& rank : many->probes) {
      // Both rings of the direction: own, came and sum of each step.
      EXPECT_EQ(rank.tensors.size(), std::size_t(2 * 3 * (tp - 1)));
      std::set<std::string> names;
      for (const ProbedTensor& tensor : rank.tensors) {
        names.insert(tensor.what.name);
        if (!tensor.what.name.starts_with(key + "-")) continue;
        const bool first = tensor.what.name == sum_of_step(key, "came", 1);
        if (first || tensor.what.name.find("-own-") != std::string::npos)
          added.put(tensor, Joined::kSum);
      }
      EXPECT_EQ(names.size(), rank.tensors.size());
    }
    const WholeTensor finished = put_in_place(many->probes, sums, sum_of_step(key, "sum", tp - 1));
    EXPECT_TRUE(added.complete() && finished.complete());
    EXPECT_EQ(finished.contradiction(), 0);
    const ProbedTensor* const expected = probed_tensor(one->probes, product, of.out, 0);
    ASSERT_NE(expected, nullptr);
    EXPECT_LE(added.difference_from(*expected).value_or(1), 1e-5 * added.largest());
    EXPECT_LE(finished.difference_from(*expected).value_or(1), 1e-5 * added.largest());
    for (int step = 1; step + 1 < tp; ++step)
      EXPECT_EQ(difference_of_copies(many->probes, sums, sum_of_step(key, "sum", step),
                                     sum_of_step(key, "came", step + 1)),
                0)
          << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Meshes, ProbedSums,
                         testing::Values("tp=2", "tp=4", "llama tp=4 micro-batch=2",
                                         "tp=2 cp=2 attention=fused", "llama tp=2 pp=2"),
                         name_of_case);

// Layer, piece, phase: of what a Layer offers, and of what the ops of the layer answer.
using OfferedProbes = std::set<std::tuple<Piece, Phase>>;

TEST(ProbesOfALayer, AreThoseThatARunTakes) {
  for (const char* words :
       {"", "tp=4 sequence-parallel=true ring-tensor=true", "llama tp=2 cp=2 attention=fused",
        "cp=2 context-parallel=ulysses", "cp=2 context-parallel=all-gather attention=fused",
        "experts=4 top-k=2 expert-ffn=12 dp=2 ep=2 tp=2", "tp=2 recompute=full dropout=0.1",
        "dp=2 zero=3 tp=2"}) {
    SCOPED_TRACE(words);
    const parallelarium::Setup setup = small_model(words);
    const Program program = built(setup);
    for (const bool backward : {false, true}) {
      const LayerSteps layer = layer_steps(setup, program, {1, 0, backward});
      OfferedProbes offered, taken;
      for (const LayerStep& step : layer.steps) {
        if (!step.probed) continue;
        offered.insert({step.piece, step.phase});
        const Result<void> ok = check_probe(setup, program, {1, step.piece, 0, step.phase, 1});
        EXPECT_TRUE(ok.ok()) << ok.error().text;
      }
      for (int piece = 0; piece < kPieces; ++piece)
        for (const Phase phase :
             {Phase::kForward, Phase::kInputGrad, Phase::kWeightGrad, Phase::kRecompute})
          if ((phase != Phase::kForward) == backward &&
              check_probe(setup, program, {1, Piece(piece), 0, phase, 1}))
            taken.insert({Piece(piece), phase});
      EXPECT_EQ(offered, taken);
      EXPECT_GE(offered.size(), 10u);
      EXPECT_EQ(offered.count({Piece::kCombine, backward ? Phase::kInputGrad : Phase::kForward}),
                setup.ring_tensor ? 1u : 0u);
    }
  }
}

}  // namespace
}  // namespace parallelarium
