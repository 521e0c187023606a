// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/bf16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/attention/fused_attention.h"
#include "kernels/elementwise/accumulate.h"
#include "kernels/elementwise/activation.h"
#include "kernels/elementwise/residual.h"
#include "kernels/norms/norm.h"
#include "kernels/optimizer/sum_of_squares.h"
#include "kernels/products/linear.h"
#include "kernels/vocabulary/cross_entropy.h"
#include "kernels/vocabulary/embedding.h"
#include "tests/kernels/bf16_kernels.h"

namespace parallelarium {
namespace {

Bf16 of_bits(unsigned bits) { return {static_cast<std::uint16_t>(bits)}; }
bool is_nan(unsigned bits) { return (bits & 0x7FFF) > 0x7F80; }

TEST(Bf16, EveryOfThe65536ValuesComesBackFromFp32) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const float value = widen(of_bits(bits));
    EXPECT_EQ(std::isnan(value), is_nan(bits));
    const unsigned back = round_to_bf16(value).bits;
    if (is_nan(bits))
      EXPECT_TRUE(is_nan(back) && back >> 15 == bits >> 15 && (back & 0x40) != 0) << bits;
    else
      EXPECT_EQ(back, bits);
  }
}

// Between every value and the next of larger magnitude: the middle goes to the even one, its
// neighbours in fp32 to the nearer one. Distances in double precision, where they are exact; the
// first number beyond the largest counts as 2^128, as IEEE 754 has it.
TEST(Bf16, RoundsToTheNearestAndTiesToEven) {
  const auto size = [](unsigned magnitude) {
    return magnitude == 0x7F80 ? std::ldexp(1.0, 128) : double{widen(of_bits(magnitude))};
  };
  for (unsigned sign : {0U, 0x8000U})
    for (unsigned low = 0; low < 0x7F80; ++low)
      for (const std::uint32_t rest : {0x0001U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU}) {
        const float value = std::bit_cast<float>((sign | low) << 16 | rest);
        const double below = std::abs(double{value}) - size(low);
        const double above = size(low + 1) - std::abs(double{value});
        const bool up = above < below || (above == below && low % 2 == 1);
        ASSERT_EQ(round_to_bf16(value).bits, sign | (up ? low + 1 : low)) << low << " " << rest;
      }
}

TEST(Bf16, InfinityStaysAndANaNIsNeverInfinity) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(round_to_bf16(infinity).bits, 0x7F80);
  EXPECT_EQ(round_to_bf16(-infinity).bits, 0xFF80);
  for (const std::uint32_t payload : {1U, 0xFFFFU, 0x10000U, 0x7FFFFFU}) {
    EXPECT_TRUE(is_nan(round_to_bf16(std::bit_cast<float>(0x7F800000U | payload)).bits));
    EXPECT_TRUE(is_nan(round_to_bf16(std::bit_cast<float>(0xFF800000U | payload)).bits));
  }
}

TEST_F(Bf16Kernels, ElementwiseAndNormsAreTheFp32KernelsRounded) {
  const auto x = random(kN * kC), dy = random(kN * kC), gain = random(kC), bias = random(kC);
  const Floats x32 = widened(x), dy32 = widened(dy), gain32 = widened(gain), bias32 = widened(bias);
  std::vector<Bf16> out(x.size());
  Floats expected(x.size()), stats(2 * kN), stats32(2 * kN);
  gelu_forward_cpu(out.data(), x.data(), x.size());
  gelu_forward_cpu(expected.data(), x32.data(), x.size());
  EXPECT_EQ(widened(out), rounded(expected));
  gelu_backward_cpu(out.data(), dy.data(), x.data(), x.size());
  gelu_backward_cpu(expected.data(), dy32.data(), x32.data(), x.size());
  EXPECT_EQ(widened(out), rounded(expected));
  residual_bias_add_cpu(out.data(), x.data(), dy.data(), bias.data(), kN, kC);
  for (std::size_t at = 0; at < x.size(); ++at)
    expected[at] = x32[at] + (dy32[at] + bias32[at % kC]);
  EXPECT_EQ(widened(out), rounded(expected));
  layer_norm_forward_cpu(out.data(), stats.data(), x.data(), gain.data(), bias.data(), kN, kC);
  layer_norm_forward_cpu(expected.data(), stats32.data(), x32.data(), gain32.data(), bias32.data(),
                         kN, kC);
  EXPECT_EQ(widened(out), rounded(expected));
  EXPECT_EQ(stats, stats32);
  out = dy;
  expected = dy32;
  layer_norm_input_grad_cpu(out.data(), dy.data(), x.data(), gain.data(), stats.data(), true, kN,
                            kC);
  layer_norm_input_grad_cpu(expected.data(), dy32.data(), x32.data(), gain32.data(), stats.data(),
                            true, kN, kC);
  EXPECT_EQ(widened(out), rounded(expected));
  auto dgain = gain;
  Floats dgain32 = gain32, main_gain = gain32;
  norm_weight_grad_cpu<Bf16>(dgain.data(), nullptr, dy.data(), x.data(), stats.data(), kN, kC);
  norm_weight_grad_cpu<float>(main_gain.data(), nullptr, dy.data(), x.data(), stats.data(), kN, kC);
  norm_weight_grad_cpu(dgain32.data(), nullptr, dy32.data(), x32.data(), stats.data(), kN, kC);
  EXPECT_EQ(main_gain, dgain32);
  EXPECT_EQ(widened(dgain), rounded(dgain32));
}

TEST_F(Bf16Kernels, EmbeddingAndItsGradientAreTheFp32KernelsRounded) {
  constexpr std::int64_t kRows = 5, kTokens = 12, kSequence = 4, kWidth = 33;
  // -1: in another rank's part of the table.
  const std::vector<std::int32_t> tokens = {3, 0, 3, -1, 4, 3, -1, 2, 0, 3, 2, 2};
  const auto table = random(kRows * kWidth), positions = random(kSequence * kWidth);
  const auto dx = random(kTokens * kWidth);
  const Floats table32 = widened(table), positions32 = widened(positions), dx32 = widened(dx);
  for (const bool placed : {true, false}) {
    std::vector<Bf16> x(kTokens * kWidth), dtable = table, dpositions = positions;
    Floats x32(x.size()), main_table = table32, dtable32 = table32, dpositions32 = positions32;
    Floats main_positions = positions32;
    const auto or_null = [&](auto* values) { return placed ? values : nullptr; };
    embedding_forward_cpu(x.data(), tokens.data(), table.data(), or_null(positions.data()), kTokens,
                          kSequence, kWidth);
    embedding_forward_cpu(x32.data(), tokens.data(), table32.data(), or_null(positions32.data()),
                          kTokens, kSequence, kWidth);
    EXPECT_EQ(widened(x), rounded(x32));
    embedding_grad_cpu(dtable32.data(), or_null(dpositions32.data()), dx32.data(), tokens.data(),
                       kTokens, kSequence, kWidth);
    embedding_grad_cpu(dtable.data(), or_null(dpositions.data()), dx.data(), tokens.data(), kTokens,
                       kSequence, kWidth);
    embedding_grad_cpu(main_table.data(), or_null(main_positions.data()), dx.data(), tokens.data(),
                       kTokens, kSequence, kWidth);
    EXPECT_EQ(widened(dtable), rounded(dtable32));
    EXPECT_EQ(widened(dpositions), rounded(dpositions32));
    EXPECT_EQ(main_table, dtable32);
    EXPECT_EQ(main_positions, dpositions32);
  }
}

TEST_F(Bf16Kernels, DropoutIsTheFp32KernelsRounded) {
  const auto x = random(kN * kC), branch = random(kN * kC);
  const Floats x32 = widened(x), branch32 = widened(branch);
  const Dropout dropout = make_dropout(0.3, 9);
  std::vector<Bf16> out(x.size());
  Floats expected(x.size());
  std::vector<std::uint8_t> mask(x.size(), 7), expected_mask(x.size());
  dropout_residual_cpu(out.data(), mask.data(), x.data(), branch.data(), dropout, 5, x.size());
  dropout_residual_cpu(expected.data(), expected_mask.data(), x32.data(), branch32.data(), dropout,
                       5, x.size());
  EXPECT_EQ(widened(out), rounded(expected));
  EXPECT_EQ(mask, expected_mask);
  dropout_grad_cpu(out.data(), x.data(), mask.data(), dropout.scale, x.size());
  dropout_grad_cpu(expected.data(), x32.data(), mask.data(), dropout.scale, x.size());
  EXPECT_EQ(widened(out), rounded(expected));

  const AttentionShape shape{2, 7, 4, 2, 6};
  const auto square = static_cast<std::size_t>(shape.B * shape.H * shape.T * shape.T);
  const AttentionDropout of{dropout, 3, 1, 6, 9};
  const auto qkv = random(2 * 7 * 8 * 6), dcontext = random(2 * 7 * 4 * 6);
  const Floats qkv32 = widened(qkv), dcontext32 = widened(dcontext);
  std::vector<Bf16> context(dcontext.size()), p(square), dropped(square), dqkv(qkv.size());
  Floats context32(dcontext.size()), p32(square), dropped32(square), dqkv32(qkv.size());
  Floats scratch(49);
  std::vector<std::uint8_t> kept(square, 7), kept32(square, 7);
  attention_forward_cpu(context.data(), p.data(), qkv.data(), shape,
                        {kept.data(), dropped.data(), of});
  attention_forward_cpu(context32.data(), p32.data(), qkv32.data(), shape,
                        {kept32.data(), dropped32.data(), of});
  EXPECT_EQ(kept, kept32);
  EXPECT_EQ(widened(context), rounded(context32));
  EXPECT_EQ(widened(p), rounded(p32));
  EXPECT_EQ(widened(dropped), rounded(dropped32));
  // From the stored, so rounded, probabilities.
  p32 = widened(p);
  dropped32 = widened(dropped);
  attention_backward_cpu(dqkv.data(), scratch.data(), dcontext.data(), qkv.data(), p.data(), shape,
                         {kept.data(), dropped.data(), of});
  attention_backward_cpu(dqkv32.data(), scratch.data(), dcontext32.data(), qkv32.data(), p32.data(),
                         shape, {kept32.data(), dropped32.data(), of});
  EXPECT_EQ(widened(dqkv), rounded(dqkv32));
}

TEST_F(Bf16Kernels, LossAndItsGradientAreTheFp32KernelsRounded) {
  constexpr std::int64_t kPitch = kC + 7;
  auto logits = random(kN * kPitch);
  Floats logits32 = widened(logits);
  std::vector<std::int32_t> targets{0, 1, 5, 4096, 4097, 7, 8193, 2, 3};
  Floats row_max(kN), sum(kN), target(kN), row_max32(kN), sum32(kN), target32(kN);
  loss_max_cpu(row_max.data(), logits.data(), kN, kC, kPitch);
  loss_sum_cpu(sum.data(), target.data(), logits.data(), row_max.data(), targets.data(), kN, kC, 1,
               kPitch);
  loss_max_cpu(row_max32.data(), logits32.data(), kN, kC, kPitch);
  loss_sum_cpu(sum32.data(), target32.data(), logits32.data(), row_max32.data(), targets.data(), kN,
               kC, 1, kPitch);
  EXPECT_EQ(row_max, row_max32);
  EXPECT_EQ(sum, sum32);
  EXPECT_EQ(target, target32);
  loss_grad_cpu(logits.data(), row_max.data(), sum.data(), targets.data(), 0.5F, kN, kC, 1, kPitch);
  loss_grad_cpu(logits32.data(), row_max.data(), sum.data(), targets.data(), 0.5F, kN, kC, 1,
                kPitch);
  EXPECT_EQ(widened(logits), rounded(logits32));
}

TEST_F(Bf16Kernels, AVocabularyInTwoPartsGivesTheWholeLossAndGradient) {
  constexpr std::int64_t N = 5;
  constexpr std::int64_t V = 11;
  constexpr std::int64_t kCut = 4;
  const Floats logits = random_floats(N * V, 1);
  const std::vector<std::int32_t> targets{0, 3, 4, 10, 7};
  Floats parts[2], grads[2];
  for (std::int64_t n = 0; n < N; ++n)
    for (std::int64_t v = 0; v < V; ++v)
      parts[v < kCut ? 0 : 1].push_back(logits[static_cast<std::size_t>(n * V + v)]);
  Floats row_max(N), sum(N), target(N), whole_sum(N), whole_target(N);
  loss_max_cpu(row_max.data(), logits.data(), N, V);
  loss_sum_cpu(whole_sum.data(), whole_target.data(), logits.data(), row_max.data(), targets.data(),
               N, V);
  Floats sums(N), hits(N);
  for (const int part : {0, 1}) {
    const std::int64_t width = part == 0 ? kCut : V - kCut;
    loss_sum_cpu(sum.data(), target.data(), parts[part].data(), row_max.data(), targets.data(), N,
                 width, part * kCut);
    accumulate_cpu(sums.data(), sum.data(), N);
    accumulate_cpu(hits.data(), target.data(), N);
  }
  EXPECT_LE(reference::relative_difference(sums, whole_sum), reference::kFloatBound);
  EXPECT_EQ(hits, whole_target);
  Floats whole = logits;
  loss_grad_cpu(whole.data(), row_max.data(), sums.data(), targets.data(), 0.1F, N, V);
  for (const int part : {0, 1})
    loss_grad_cpu(parts[part].data(), row_max.data(), sums.data(), targets.data(), 0.1F, N,
                  part == 0 ? kCut : V - kCut, part * kCut);
  Floats joined;
  for (std::size_t n = 0; n < N; ++n)
    for (std::size_t v = 0; v < V; ++v)
      joined.push_back(v < kCut ? parts[0][n * kCut + v] : parts[1][n * (V - kCut) + v - kCut]);
  EXPECT_LE(reference::relative_difference(joined, whole), reference::kFloatBound);
}

TEST_F(Bf16Kernels, AdamWRoundsItsMasterIntoTheParameters) {
  constexpr std::size_t kCount = 20'001;  // more than one block
  Floats master = random_floats(kCount, 1);
  Floats expected = master;
  const auto gradients = random(kCount);
  const Floats gradients32 = widened(gradients);
  std::vector<Bf16> parameters(kCount);
  Floats m(kCount), v(kCount), m32(kCount), v32(kCount);
  const double squares = 9;
  adamw_cpu(parameters.data(), master.data(), gradients.data(), m.data(), v.data(), &squares, 1.0F,
            AdamW{}, kCount);
  adamw_cpu(expected.data(), gradients32.data(), m32.data(), v32.data(), &squares, 1.0F, AdamW{},
            kCount);
  EXPECT_EQ(master, expected);
  EXPECT_EQ(m, m32);
  EXPECT_EQ(widened(parameters), rounded(expected));
  double sum = 0;
  double sum32 = 0;
  sum_of_squares_cpu(&sum, gradients.data(), kCount);
  sum_of_squares_cpu(&sum32, gradients32.data(), kCount);
  EXPECT_NEAR(sum, sum32, 1e-12 * sum32);
}

// The fused kernel stores no scores; what it computes are the unfused kernel's numbers.
class FusedAttention : public testing::TestWithParam<AttentionShape> {};

TEST_P(FusedAttention, EqualsTheUnfusedKernel) {
  const AttentionShape shape = GetParam();
  const Floats qkv = random_floats(shape.B * shape.T * (shape.H + 2 * shape.K) * shape.D, 1);
  const Floats dcontext = random_floats(shape.B * shape.T * shape.H * shape.D, 2);
  Floats context(dcontext.size()), fused(dcontext.size(), 7.0F);
  Floats dqkv(qkv.size()), fused_dqkv(qkv.size(), 7.0F);
  Floats probabilities(static_cast<std::size_t>(shape.B * shape.H * shape.T * shape.T));
  Floats lse(static_cast<std::size_t>(shape.B * shape.H * shape.T), 7.0F);
  Floats scratch(static_cast<std::size_t>(shape.T * shape.T));
  Floats fused_scratch(static_cast<std::size_t>(fused_attention_scratch(shape)), 7.0F);
  attention_forward_cpu(context.data(), probabilities.data(), qkv.data(), shape);
  attention_backward_cpu(dqkv.data(), scratch.data(), dcontext.data(), qkv.data(),
                         probabilities.data(), shape);
  fused_attention_forward_cpu(fused.data(), lse.data(), fused_scratch.data(), qkv.data(), shape);
  fused_attention_backward_cpu(fused_dqkv.data(), fused_scratch.data(), dcontext.data(), qkv.data(),
                               fused.data(), lse.data(), shape);
  EXPECT_LE(reference::relative_difference(fused, context), reference::kFloatBound);
  if (shape.T > 1) {
    EXPECT_LE(reference::relative_difference(fused_dqkv, dqkv), reference::kFloatBound);
  }
}

INSTANTIATE_TEST_SUITE_P(AwkwardSizes, FusedAttention,
                         testing::Values(AttentionShape{1, 1, 1, 1, 1},
                                         AttentionShape{2, 3, 1, 1, 2},
                                         AttentionShape{2, 5, 4, 2, 3},
                                         AttentionShape{1, 150, 2, 1, 4},
                                         AttentionShape{2, 300, 2, 2, 8}));

}  // namespace
}  // namespace parallelarium
