// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise/dropout.h"

#include <gtest/gtest.h>

#include "kernels/attention/attention.h"
#include "tests/kernels/reference.h"

namespace parallelarium {
namespace {

using namespace reference;

// A binomial count lies within five deviations of its mean.
TEST(Dropout, DropsAsOftenAsAskedAndKeepsTheMean) {
  constexpr std::int64_t kCount = 200'000;
  for (const double probability : {0.0, 0.1, 0.5, 0.9}) {
    const Dropout dropout = make_dropout(probability, 42);
    std::int64_t dropped = 0;
    for (std::int64_t i = 0; i < kCount; ++i) dropped += dropout.keeps(i) ? 0 : 1;
    const double deviation = std::sqrt(kCount * probability * (1 - probability));
    EXPECT_NEAR(static_cast<double>(dropped), kCount * probability, 5 * deviation);
    EXPECT_NEAR(dropout.scale * (1 - probability), 1, 1e-4);
  }
}

// Neighbours, which share a draw, and other keys are as good as independent.
TEST(Dropout, ElementsAndKeysAreIndependent) {
  constexpr std::int64_t kCount = 200'000;
  const Dropout one = make_dropout(0.5, 1), other = make_dropout(0.5, 2);
  for (const std::int64_t apart : {1, 2, 3, 4, 64}) {
    std::int64_t equal = 0;
    for (std::int64_t i = 0; i < kCount; ++i) equal += one.keeps(i) == one.keeps(i + apart);
    EXPECT_NEAR(static_cast<double>(equal), kCount * 0.5, 5 * std::sqrt(kCount * 0.25)) << apart;
  }
  std::int64_t equal = 0;
  for (std::int64_t i = 0; i < kCount; ++i) equal += one.keeps(i) == other.keeps(i);
  EXPECT_NEAR(static_cast<double>(equal), kCount * 0.5, 5 * std::sqrt(kCount * 0.25));
}

// However the elements are shared out, each is dropped or kept as in the whole.
TEST(Dropout, AShareIsItsPartOfTheWhole) {
  constexpr std::size_t kCount = 1001;
  const Dropout dropout = make_dropout(0.3, 7);
  const Floats stream = random_floats(kCount, 1), branch = random_floats(kCount, 2);
  Floats whole(kCount, 7.0F), parts(kCount, 7.0F);
  std::vector<std::uint8_t> mask(kCount, 7), part_mask(kCount, 7);
  dropout_residual_cpu(whole.data(), mask.data(), stream.data(), branch.data(), dropout, 5, kCount);
  for (std::size_t begin = 0; begin < kCount; begin += 77) {
    const std::size_t count = std::min<std::size_t>(77, kCount - begin);
    dropout_residual_cpu(parts.data() + begin, part_mask.data() + begin, stream.data() + begin,
                         branch.data() + begin, dropout, 5 + static_cast<std::int64_t>(begin),
                         count);
  }
  EXPECT_EQ(whole, parts);
  EXPECT_EQ(mask, part_mask);
  Floats dbranch(kCount, 7.0F);
  dropout_grad_cpu(dbranch.data(), stream.data(), mask.data(), dropout.scale, kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    const bool kept = dropout.keeps(5 + static_cast<std::int64_t>(i));
    EXPECT_EQ(mask[i], kept ? 1 : 0);
    EXPECT_FLOAT_EQ(whole[i], stream[i] + (kept ? branch[i] * dropout.scale : 0.0F));
    EXPECT_FLOAT_EQ(dbranch[i], kept ? stream[i] * dropout.scale : 0.0F);
  }
}

class DroppedAttention : public testing::TestWithParam<AttentionShape> {};

// context = (mask P / keep) V in double precision, and its slope.
TEST_P(DroppedAttention, IsItsDefinitionAndItsGradientTheSlope) {
  const AttentionShape shape = GetParam();
  const auto [B, T, H, K, D] = shape;
  const std::int64_t A = (H + 2 * K) * D;
  const Floats qkv = random_floats(B * T * A, 1), dcontext = random_floats(B * T * H * D, 2);
  const auto square = static_cast<std::size_t>(B * H * T * T);
  Floats context(dcontext.size(), 7.0F), probabilities(square, 7.0F), dropped(square, 7.0F);
  Floats dqkv(qkv.size(), 7.0F), scratch(static_cast<std::size_t>(T * T), 7.0F);
  std::vector<std::uint8_t> mask(square, 7);
  const AttentionDropout of{make_dropout(0.3, 9), 3, 1, H + 2, T + 1};
  const DroppedProbabilities<float> dropout{mask.data(), dropped.data(), of};
  attention_forward_cpu(context.data(), probabilities.data(), qkv.data(), shape, dropout);
  attention_backward_cpu(dqkv.data(), scratch.data(), dcontext.data(), qkv.data(),
                         probabilities.data(), shape, dropout);
  const auto definition = [&](const Doubles& at) {
    const Doubles p = reference::attention(at, shape).probabilities;
    Doubles out(dcontext.size(), 0.0);
    for (std::int64_t b = 0; b < B; ++b)
      for (std::int64_t h = 0; h < H; ++h)
        for (std::int64_t i = 0; i < T; ++i)
          for (std::int64_t j = 0; j <= i; ++j) {
            const double weight = p[static_cast<std::size_t>(((b * H + h) * T + i) * T + j)] *
                                  of.dropout.factor(of.row(b, h, i) + j);
            for (std::int64_t d = 0; d < D; ++d)
              out[static_cast<std::size_t>((b * T + i) * H * D + h * D + d)] +=
                  weight *
                  at[static_cast<std::size_t>((b * T + j) * A + (H + K + h / (H / K)) * D + d)];
          }
    return out;
  };
  EXPECT_LE(relative_difference(context, definition(doubles(qkv))), kFloatBound);
  const auto slope = reference::gradient(definition, doubles(qkv), doubles(dcontext));
  EXPECT_LE(relative_difference(dqkv, slope), kFloatBound);
}

INSTANTIATE_TEST_SUITE_P(AwkwardSizes, DroppedAttention,
                         testing::Values(AttentionShape{1, 1, 1, 1, 2},
                                         AttentionShape{2, 3, 2, 1, 2},
                                         AttentionShape{1, 7, 4, 2, 3},
                                         AttentionShape{2, 5, 3, 3, 2}));

}  // namespace
}  // namespace parallelarium
