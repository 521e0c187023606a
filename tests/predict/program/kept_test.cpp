// SPDX-License-Identifier: Apache-2.0
// What a layer of DeepSeek-V3 keeps for its backward, counted by hand from sections 2.1, 3.2.3 and
// 3.3.3 of its report (arXiv 2412.19437), and what each of its choices saves.
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "engine/predict/predict.h"
#include "tests/predict/built.h"

namespace parallelarium {
namespace {

constexpr double kKeptTokens = 4096, kHidden = 7168, kKeptHeads = 128, kValue = 128, kExperts = 256,
                 kChosen = 8, kInner = 2 * 2048, kWidth = 2048;
// Eight bits, and a scale of four bytes for 128 of them.
constexpr double kEighths = 1 + 4.0 / 128;

// One expert layer on each of two stages, all micro-batches forward before any backward.
parallelarium::Setup layer(int microbatches) {
  parallelarium::Setup setup = default_setup();
  setup.model = *find_model("deepseek-v3");
  setup.model.layers = 2;
  setup.model.stage_layers.clear();
  setup.model.experts.first_dense = 0;
  setup.mesh = Mesh();
  setup.mesh.pp = 2;
  setup.mesh.dp = setup.mesh.ep = 16;
  setup.machine = "hgx-h800";
  setup.schedule = "gpipe";
  setup.microbatches = microbatches;
  setup.precision = *find_precision("mixed-16");
  setup.attention = Attention::kFused;
  setup.recompute = Recompute::kNorms | Recompute::kActivation | Recompute::kUpProjection;
  setup.products = ProductType::kFp8;
  setup.kept = KeptType::kFp8;
  setup.expert_gates = ExpertGates::kActivations;
  return setup;
}

// Bytes that one more micro-batch adds to the activations of the first stage.
double kept(const std::function<void(parallelarium::Setup&)>& change) {
  const auto activations = [&](int microbatches) {
    parallelarium::Setup setup = layer(microbatches);
    change(setup);
    const Program program = built(setup, {});
    for (const Message& fault : check(program)) ADD_FAILURE() << fault.text;
    return memory_of(program).front().bytes[static_cast<int>(Category::kActivations)];
  };
  return static_cast<double>(activations(5) - activations(4));
}

double chosen_by_deepseek() {
  const double residuals = 2 * 2 * kHidden;
  const double latents = 2 * (1536 + 512 + 64);
  const double context =
      kKeptHeads * kValue * (1.5 + 4.0 / 128) + 4 * kKeptHeads;       // E5M6, and statistics
  const double router = 4 * (kExperts + kChosen + 2 * kChosen);       // logits, gates and routes
  const double rows = kChosen * ((kHidden + kInner) * kEighths + 4);  // with their gates
  const double shared = kInner * kEighths;
  // Choices by expert, rows by place, and by the rank that they came from.
  return kKeptTokens * (residuals + latents + context + router + rows + shared) + 3 * 4 * kExperts;
}

TEST(Kept, IsWhatTheReportOfDeepSeekSays) {
  EXPECT_DOUBLE_EQ(kept([](parallelarium::Setup&) {}), chosen_by_deepseek());
}

TEST(Kept, GrowsByWhatAChoiceSaves) {
  using Change = std::function<void(parallelarium::Setup&)>;
  const double statistics = 2 * 4;  // of a norm
  const std::pair<Change, double> changes[] = {
      // Results wait for the gradients of their gates; gates no longer travel.
      {[](auto& setup) { setup.expert_gates = ExpertGates::kResults; },
       kChosen * (2 * kHidden - 4)},
      {[](auto& setup) { setup.recompute = Recompute::kNorms | Recompute::kUpProjection; },
       (kChosen + 1) * kWidth * kEighths},
      {[](auto& setup) { setup.recompute = Recompute::kActivation | Recompute::kUpProjection; },
       2 * (kHidden * kEighths + statistics)},
      // Queries, keys and values in place of the latents.
      {[](auto& setup) { setup.recompute = Recompute::kNorms | Recompute::kActivation; },
       2 * kKeptHeads * (2 * 192 + kValue) - 2 * (1536 + 512 + 64)},
      // All in 16 bit.
      {[](auto& setup) { setup.kept = KeptType::kSame; },
       kKeptHeads * kValue * (0.5 - 4.0 / 128) +
           (kChosen * (kHidden + kInner) + kInner) * (2 - kEighths)}};
  for (const auto& [change, bytes] : changes)
    EXPECT_DOUBLE_EQ(kept(change) - chosen_by_deepseek(), kKeptTokens * bytes);
}

// TP cuts heads, shared experts and the width of experts, and no rows.
TEST(Kept, IsCutByTensorParallelism) {
  const double whole = chosen_by_deepseek();
  const double cut =
      kKeptHeads * kValue * (1.5 + 4.0 / 128) + 4 * kKeptHeads + (kChosen + 1) * kInner * kEighths;
  EXPECT_DOUBLE_EQ(kept([](parallelarium::Setup& setup) { setup.mesh.tp = 2; }),
                   whole - kKeptTokens * cut / 2);
}

TEST(Kept, InFp8NeedsProductsInFp8AndIsPredictedOnly) {
  parallelarium::Setup setup = layer(2);
  EXPECT_TRUE(validate(setup).empty());
  EXPECT_EQ(can_execute(setup).error().id, "run-kept-fp8");
  setup.products = ProductType::kSame;
  ASSERT_EQ(validate(setup).size(), 1u);
  EXPECT_EQ(validate(setup).front().id, "kept-fp8-products");
  setup.kept = KeptType::kSame;
  EXPECT_TRUE(validate(setup).empty());
  EXPECT_EQ(can_execute(setup).error().id, "run-expert-gates");
}

}  // namespace
}  // namespace parallelarium
