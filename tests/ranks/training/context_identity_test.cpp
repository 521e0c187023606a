// SPDX-License-Identifier: Apache-2.0
// What context parallelism establishes, on the tensors of a run: what is sent arrives bit for bit,
// and the ranks' outputs together are one rank's.
#include "engine/run/train/probe/context_identity.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

parallelarium::Setup context_setup(const std::string& words) {
  return small_model("layers=2 steps=1 warmup=0 micro-batch=2 heads=8 kv-heads=8 attention=fused " +
                     words);
}

std::vector<Probe> around_attention(Phase phase) {
  std::vector<Probe> probes;
  for (const Piece piece : {Piece::kQkv, Piece::kAttention, Piece::kProjection})
    probes.push_back({0, piece, 1, phase, 1});
  return probes;
}

struct ProbedPair {
  parallelarium::Setup setup;
  Program program;
  std::vector<ProbedRank> ranks, alone;
  std::vector<ProbedIdentity> identities() const {
    return identities_of(setup, program, ranks, alone);
  }
};

ProbedPair probed(const std::string& words, Phase phase = Phase::kForward) {
  ProbedPair out;
  out.setup = context_setup(words);
  out.program = built(out.setup);
  Result<RunResult> run = run_now(out.setup, out.program, {.probes = around_attention(phase)});
  EXPECT_TRUE(run.ok()) << words << ": " << run.error().text;
  if (run) out.ranks = std::move(run->probes);
  const parallelarium::Setup alone = one_rank_setup(out.setup);
  Result<RunResult> one = run_now(alone, built(alone), {.probes = around_attention(phase)});
  EXPECT_TRUE(one.ok()) << words << ": " << one.error().text;
  if (one) out.alone = std::move(one->probes);
  return out;
}

std::size_t count_of(const std::vector<ProbedIdentity>& identities, IdentityKind kind) {
  return static_cast<std::size_t>(
      std::count_if(identities.begin(), identities.end(),
                    [&](const ProbedIdentity& identity) { return identity.kind == kind; }));
}

// Adds to one element of a rank's tensor. False: there is none.
bool spoil(std::vector<ProbedRank>& probes, Piece piece, const std::string& name, int rank,
           float by) {
  for (ProbedRank& of : probes)
    for (ProbedTensor& tensor : of.tensors) {
      if (of.rank != rank || of.probe.piece != piece || tensor.what.name != name) continue;
      const float wrong = static_cast<float>(tensor.value(5)) + by;
      std::memcpy(tensor.bytes.data() + 5 * sizeof wrong, &wrong, sizeof wrong);
      return true;
    }
  return false;
}

double most_of(const std::vector<ProbedIdentity>& identities, IdentityKind kind) {
  double most = 0;
  for (const ProbedIdentity& identity : identities)
    if (identity.kind == kind) most = std::max(most, identity.largest_difference);
  return most;
}

class ContextIdentities : public testing::TestWithParam<std::tuple<int, int, std::string>> {};

TEST_P(ContextIdentities, HoldOnTheTensorsOfARun) {
  const auto& [tp, cp, kind] = GetParam();
  const std::string words =
      "tp=" + std::to_string(tp) + " cp=" + std::to_string(cp) + " context_parallel=" + kind;
  ProbedPair of = probed(words);
  const std::vector<ProbedIdentity> identities = of.identities();
  const bool ring = kind.rfind("ring", 0) == 0, turned = kind == "ulysses";
  const IdentityKind sent = ring     ? IdentityKind::kRing
                            : turned ? IdentityKind::kTurned
                                     : IdentityKind::kShards;
  EXPECT_EQ(count_of(identities, sent), ring ? std::size_t(cp) - 1 : turned ? 2u : 1u);
  EXPECT_EQ(count_of(identities, IdentityKind::kOutputs), 1u);
  for (const ProbedIdentity& identity : identities) {
    EXPECT_EQ(identity.ranks.size(), std::size_t(tp * cp)) << sentence_of(identity).text;
    EXPECT_GT(identity.largest_value, 0);
    ASSERT_TRUE(identity.one_rank_difference.has_value()) << sentence_of(identity).text;
    EXPECT_LE(*identity.one_rank_difference, 1e-5 * identity.largest_value);
    // What is sent is the same bit for bit.
    if (identity.kind == sent) {
      EXPECT_EQ(identity.largest_difference, 0);
    }
  }
  // One wrong element that a rank finds is told, as large as it is.
  ASSERT_TRUE(
      spoil(of.ranks, Piece::kAttention, ring ? "k-step-2" : "k", of.ranks.back().rank, 0.5F));
  EXPECT_NEAR(most_of(of.identities(), sent), 0.5, 1e-5);
  ASSERT_TRUE(spoil(of.ranks, Piece::kAttention, "context", of.ranks.back().rank, 0.25F));
  EXPECT_NEAR(most_of(of.identities(), IdentityKind::kOutputs), 0.25, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, ContextIdentities,
    testing::Combine(testing::Values(1, 2), testing::Values(2, 4),
                     testing::Values("ring", "ring cp-split=contiguous", "all-gather",
                                     "all-gather cp-split=contiguous", "ulysses")));

TEST(ContextIdentity, OfABackwardAreTheTurnedGradientsAndTheAddedUpOnes) {
  const auto turned = probed("cp=2 context_parallel=ulysses", Phase::kInputGrad).identities();
  ASSERT_EQ(count_of(turned, IdentityKind::kTurned), 2u);
  EXPECT_EQ(most_of(turned, IdentityKind::kTurned), 0);
  EXPECT_EQ(turned.front().tensor_before, "dcontext");
  const auto added = probed("cp=4 context_parallel=all-gather", Phase::kInputGrad).identities();
  ASSERT_EQ(count_of(added, IdentityKind::kSum), 1u);
  EXPECT_EQ(added.front().tensor_before, "dk, dv");
  EXPECT_LE(added.front().largest_difference, 1e-6 * added.front().largest_value);
  EXPECT_LE(*added.front().one_rank_difference, 1e-5 * added.front().largest_value);
}

// Fewer heads of keys and values than ranks: Ulysses repeats them, and none differs from its copy.
TEST(ContextIdentity, HoldsWithRepeatedHeadsOfKeysAndValues) {
  const auto identities =
      probed("llama heads=4 kv-heads=2 cp=4 context_parallel=ulysses").identities();
  ASSERT_EQ(count_of(identities, IdentityKind::kTurned), 2u);
  EXPECT_EQ(most_of(identities, IdentityKind::kTurned), 0);
}

// Own tokens only is another function: nothing is sent, and the outputs are not one rank's.
TEST(ContextIdentity, TellsThatLocalAttentionIsAnotherFunction) {
  const auto identities = probed("cp=2 context_parallel=local").identities();
  ASSERT_EQ(identities.size(), 1u);
  EXPECT_EQ(identities[0].kind, IdentityKind::kOutputs);
  EXPECT_GT(identities[0].largest_difference, 0.05 * identities[0].largest_value);
  EXPECT_THAT(sentence_of(identities[0]).text, testing::HasSubstr("differs from one rank's by"));
}

}  // namespace
}  // namespace parallelarium
