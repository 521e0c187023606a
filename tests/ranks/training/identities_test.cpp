// SPDX-License-Identifier: Apache-2.0
// Under each collective of TP and CP, forward and backward, of layers, embedding and head, stands
// an identity that the tensors of a run satisfy, and that one wrong number on one rank breaks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "engine/plan/layer/layer_ends.h"
#include "engine/run/train/probe/probe_identity.h"
#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

// A Setup before the name means a test's.
using RunSetup = parallelarium::Setup;

std::vector<LayerChoice> choices_of(const RunSetup& setup) {
  std::vector<LayerChoice> choices;
  for (const bool backward : {false, true}) {
    choices.push_back({0, 1, backward});
    choices.push_back({static_cast<int>(setup.model.layers) - 1, 1, backward});
    choices.push_back({0, 1, backward, LayerPlace::kEmbedding});
    choices.push_back({0, 1, backward, LayerPlace::kHead});
  }
  return choices;
}

bool is_checked(const LayerSteps& layer, std::size_t at) {
  const LayerStep& step = layer.steps[at];
  const auto& moves = layer.context.moves;
  return (step.kind == LayerStepKind::kCollective && step.axis == Axis::kTp) ||
         (step.kind == LayerStepKind::kExchange && step.blocks > 1 && step.block == 0) ||
         std::any_of(moves.begin(), moves.end(),
                     [&](const ContextMove& move) { return move.step == static_cast<int>(at); });
}

class Identities : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    setup_ = small_model(std::string("layers=2 steps=1 warmup=0 ") + GetParam());
    program_ = built(setup_);
    std::vector<Probe> probes;
    const auto add = [&](const Probe& probe) {
      if (std::find(probes.begin(), probes.end(), probe) == probes.end()) probes.push_back(probe);
    };
    for (const LayerChoice& choice : choices_of(setup_)) {
      layers_.push_back(layer_steps(setup_, program_, choice));
      const int layer = choice.place == LayerPlace::kLayer ? choice.layer : -1;
      for (const LayerStep& step : layers_.back().steps)
        if (step.probed) add({layer, step.piece, 1, step.phase, 1});
      for (const LayerPiece& piece : pieces_beside(setup_, program_, layers_.back()))
        add({piece.layer, piece.piece, 1, piece.phase, 1});
    }
    Result<RunResult> run = run_now(setup_, program_, {.probes = probes});
    ASSERT_TRUE(run.ok()) << run.error().text;
    probes_ = std::move(run->probes);
    const RunSetup alone = one_rank_setup(setup_);
    const Program single = built(alone);
    std::erase_if(probes, [&](const Probe& probe) { return !check_probe(alone, single, probe); });
    Result<RunResult> one = run_now(alone, single, {.probes = probes});
    ASSERT_TRUE(one.ok()) << one.error().text;
    alone_ = std::move(one->probes);
  }
  std::vector<ProbedIdentity> identities() const {
    return identities_of(setup_, program_, probes_, alone_);
  }

  RunSetup setup_;
  Program program_;
  std::vector<LayerSteps> layers_;
  std::vector<ProbedRank> probes_, alone_;
};

const ProbedIdentity* identity_at(const std::vector<ProbedIdentity>& all, const LayerChoice& choice,
                                  std::size_t step) {
  for (const ProbedIdentity& identity : all)
    if (identity.of == choice && identity.layer_step == static_cast<int>(step)) return &identity;
  return nullptr;
}

// The first number of what a rank, the last, found behind a collective.
float* found_number(std::vector<ProbedRank>& probes, const ProbedIdentity& identity) {
  const std::string name = identity.tensor_after.substr(0, identity.tensor_after.find(','));
  for (auto of = probes.rbegin(); of != probes.rend(); ++of) {
    if (!(of->probe == identity.after) || of->replica > 0) continue;
    for (ProbedTensor& tensor : of->tensors)
      if (tensor.what.name == name) return reinterpret_cast<float*>(tensor.bytes.data());
  }
  return nullptr;
}

TEST_P(Identities, StandUnderEachCollectiveAndHold) {
  const std::vector<ProbedIdentity> all = identities();
  std::size_t checked = 0;
  for (const LayerSteps& layer : layers_)
    for (std::size_t step = 0; step < layer.steps.size(); ++step) {
      if (!is_checked(layer, step)) continue;
      ++checked;
      const ProbedIdentity* identity = identity_at(all, layer.choice, step);
      ASSERT_NE(identity, nullptr)
          << "layer " << layer.choice.layer << " part " << int(layer.choice.place) << " step "
          << step << (layer.choice.backward ? " of the backward" : " of the forward");
      const std::string text = sentence_of(*identity).text;
      EXPECT_GT(identity->largest_value, 0) << text;
      // Ranks add up in another order; all else is the same bit for bit.
      const bool sum = identity->kind == IdentityKind::kSum;
      EXPECT_LE(identity->largest_difference, sum ? 1e-6 * identity->largest_value : 0) << text;
      // A sum on its way is no tensor of one rank's, which computes nothing again either.
      if (identity->kind == IdentityKind::kRingSums || identity->after.phase == Phase::kRecompute)
        continue;
      ASSERT_TRUE(identity->one_rank_difference.has_value()) << text;
      EXPECT_LE(*identity->one_rank_difference, 2e-5 * identity->largest_value) << text;
    }
  EXPECT_GE(checked, 3u);
}

TEST_P(Identities, TellOfOneWrongNumberOnOneRank) {
  for (const ProbedIdentity& identity : identities()) {
    if (identity.kind == IdentityKind::kOutputs) continue;  // of no collective
    float* const number = found_number(probes_, identity);
    ASSERT_NE(number, nullptr) << sentence_of(identity).text;
    const float right = *number;
    *number += 0.5F;
    const std::vector<ProbedIdentity> wrong = identities();
    const ProbedIdentity* told =
        identity_at(wrong, identity.of, static_cast<std::size_t>(identity.layer_step));
    ASSERT_NE(told, nullptr);
    EXPECT_NEAR(told->largest_difference, 0.5, 1e-4) << sentence_of(*told).text;
    *number = right;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Meshes, Identities,
    testing::Values("tp=2", "vocab=257 tp=4 sequence-parallel=true",
                    "llama tp=2 sequence-parallel=true dp=2 micro-batch=2",
                    "tp=2 sequence-parallel=true ring-tensor=true",
                    "tp=2 pp=2 sequence-parallel=true",
                    "pp=2 tp=2 sequence-parallel=true stage-layers=0,2",
                    "tp=2 sequence-parallel=true dropout=0.1",
                    "llama tp=2 sequence-parallel=true recompute=full",
                    "tp=2 sequence-parallel=true overlap-tensor=true recompute=norms",
                    "experts=4 top-k=2 expert-ffn=12 tp=2 sequence-parallel=true",
                    "cp=4 attention=fused", "llama cp=4 attention=fused micro-batch=2",
                    "llama tp=4 cp=2 attention=fused",
                    "cp=4 context-parallel=all-gather attention=fused",
                    "llama tp=2 cp=2 context-parallel=all-gather attention=fused "
                    "sequence-parallel=true",
                    "llama cp=2 tp=2 context-parallel=ulysses"),
    name_of_case);

}  // namespace
}  // namespace parallelarium
