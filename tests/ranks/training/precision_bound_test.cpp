// SPDX-License-Identifier: Apache-2.0
// The bounds of the proof in 16 bit: right plans of very small models pass, wrong ones fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

std::string said(const Proof& proof) {
  return fmt::format("loss {:.1e} of {:.1e}, gradient {:.1e} of {:.1e}", proof.loss_difference,
                     proof.loss_bound, proof.gradient_difference, proof.gradient_bound);
}

Proof proved(const parallelarium::Setup& setup, const Program& program) {
  const Result<RunResult> result = run_now(setup, program, {.gradients = true});
  EXPECT_TRUE(result.ok()) << result.error().text;
  return result ? proof_of(*result, setup) : Proof{};
}

// Sizes at which few tokens and few numbers average little, with the meshes that round most.
std::string drawn(std::mt19937& random) {
  const auto one_of = [&](const auto& choices) {
    return choices[std::uniform_int_distribution<std::size_t>(0, std::size(choices) - 1)(random)];
  };
  static const char* const kMeshes[] = {"tp=2",
                                        "tp=4",
                                        "tp=8",
                                        "dp=2 zero=3",
                                        "dp=4",
                                        "pp=2 tp=2",
                                        "tp=2 dp=2",
                                        "pp=2 schedule=zb-h1",
                                        "cp=2 attention=fused sequence=16"};
  static const char* const kRecipes[] = {"mixed-16", "mixed-16-main-grads", "bf16-states"};
  static const char* const kModels[] = {"", "llama", "experts=4 top-k=2 expert-ffn=16 capacity=0"};
  static const int kHidden[] = {8, 16, 32}, kTokens[] = {4, 8, 16}, kLayers[] = {1, 2},
                   kMany[] = {1, 2, 8}, kSequences[] = {1, 2};
  const std::string mesh = one_of(kMeshes);
  const int hidden = one_of(kHidden);
  const int layers = mesh.starts_with("pp=2") ? 2 : one_of(kLayers);
  const int heads = mesh.starts_with("tp=8") ? 8 : 4;
  const char* const model = mesh.starts_with("cp") ? kModels[1] : one_of(kModels);
  const int tokens = one_of(kTokens), many = one_of(kMany), sequences = one_of(kSequences);
  const char* const recipe = one_of(kRecipes);
  return fmt::format(
      "{} sequence={} hidden={} heads={} kv-heads={} ffn={} layers={} precision={} "
      "microbatches={} micro-batch={} seed={} {}",
      model, tokens, hidden, heads, heads, 2 * hidden, layers, recipe, many, sequences,
      random() % 1000, mesh);
}

TEST(PrecisionBound, PassesRightPlansOfVerySmallModels) {
  std::mt19937 random(5);
  std::vector<std::string> all = {
      // Of some 500 such setups these were the furthest beyond one rank's rounding.
      "sequence=4 hidden=16 ffn=64 layers=1 precision=mixed-16 microbatches=2 micro-batch=2 "
      "seed=353 attention=fused tp=2",
      "sequence=4 hidden=32 heads=16 kv-heads=16 ffn=128 layers=1 precision=bf16-states "
      "microbatches=2 seed=403 attention=fused tp=2 learning-rate=0.01",
      "model=moe-tiny sequence=4 hidden=64 heads=16 kv-heads=16 ffn=128 layers=4 "
      "precision=mixed-16 microbatches=2 micro-batch=2 seed=807 attention=fused tp=2 pp=1",
      "model=moe-tiny sequence=8 hidden=8 heads=4 kv-heads=4 ffn=32 layers=1 precision=mixed-16 "
      "microbatches=8 micro-batch=2 seed=160 tp=2 pp=1 learning-rate=0.01"};
  for (int i = 0; i < 24; ++i) all.push_back(drawn(random));
  for (const std::string& words : all) {
    const parallelarium::Setup setup = small_model(words);
    const Proof proof = proved(setup, built(setup));
    EXPECT_TRUE(proof.holds()) << words << ": " << said(proof);
  }
}

bool is_collective(const Program& program, const Op& op, CollectiveKind kind) {
  return op.kind == OpKind::kCollective && op.collective == kind &&
         program.groups[static_cast<std::size_t>(op.group)].ranks.size() > 1;
}

// Leaves each rank alone in its first sum, so that it keeps its own part.
void miss_a_sum(Program& program) {
  for (RankProgram& rank : program.ranks) {
    const auto op = std::find_if(rank.ops.begin(), rank.ops.end(), [&](const Op& each) {
      return is_collective(program, each, CollectiveKind::kAllReduce) &&
             each.reduction == Reduction::kSum && each.bytes > 64;
    });
    ASSERT_NE(op, rank.ops.end());
    op->group = static_cast<std::int32_t>(program.groups.size());
    program.groups.push_back({Axis::kWorld, {rank.rank}});
  }
}

// The last rank brings what stands behind the beginning of its shard to the first gather.
void shift_a_shard(Program& program) {
  RankProgram& rank = program.ranks.back();
  const auto op = std::find_if(rank.ops.begin(), rank.ops.end(), [&](const Op& each) {
    return is_collective(program, each, CollectiveKind::kAllGather);
  });
  ASSERT_NE(op, rank.ops.end());
  for (std::int32_t at = op->operand_first; at < op->operand_first + op->operand_count; ++at) {
    Operand& operand = rank.operands[static_cast<std::size_t>(at)];
    if (operand.access != Access::kRead) continue;
    operand.offset += 1;
    return;
  }
  FAIL() << "nothing is read";
}

// The last rank leaves its first weights as they were.
void keep_old_weights(Program& program) {
  RankProgram& rank = program.ranks.back();
  const auto op = std::find_if(rank.ops.begin(), rank.ops.end(),
                               [](const Op& each) { return each.piece == Piece::kOptimizer; });
  ASSERT_NE(op, rank.ops.end());
  rank.operands[static_cast<std::size_t>(op->operand_first)].count = 0;
}

struct Fault {
  const char* words;
  void (*plant)(Program&);
};

TEST(PrecisionBound, RefusesWrongPlansOfTheSameModels) {
  const Fault faults[] = {{"tp=2", miss_a_sum},
                          {"dp=2", miss_a_sum},
                          {"dp=2 zero=3", shift_a_shard},
                          {"dp=2 zero=1", keep_old_weights}};
  for (const Fault& fault : faults)
    for (const char* sizes : {"sequence=8 hidden=16 layers=1", "sequence=16 hidden=32 layers=2"})
      for (const char* recipe : {"mixed-16", "mixed-16-main-grads"}) {
        const std::string words = fmt::format("{} precision={} {}", sizes, recipe, fault.words);
        const parallelarium::Setup setup = small_model(words);
        const Proof right = proved(setup, built(setup));
        EXPECT_TRUE(right.holds()) << words << ": " << said(right);
        Program faulty = built(setup);
        fault.plant(faulty);
        const Proof wrong = proved(setup, faulty);
        EXPECT_FALSE(wrong.holds()) << words << ": " << said(wrong);
      }
}

}  // namespace
}  // namespace parallelarium
