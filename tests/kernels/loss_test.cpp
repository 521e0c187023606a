// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "kernels/vocabulary/cross_entropy.h"
#include "kernels/vocabulary/embedding.h"
#include "tests/kernels/reference.h"

namespace parallelarium {
namespace {

using namespace reference;

std::vector<std::int32_t> random_tokens(std::int64_t count, std::int64_t rows, unsigned seed) {
  std::mt19937 bits(seed);
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(count));
  for (std::int32_t& token : tokens)
    token = static_cast<std::int32_t>(bits() % static_cast<std::uint32_t>(rows));
  return tokens;
}

using LossSizes = std::tuple<int, int>;
class CrossEntropy : public testing::TestWithParam<LossSizes> {
 protected:
  std::int64_t N = std::get<0>(GetParam());
  std::int64_t V = std::get<1>(GetParam());
  std::vector<std::int32_t> targets = random_tokens(N, V, 3);
  Floats row_max = Floats(static_cast<std::size_t>(N));
  Floats sum_exp = row_max;
  Floats target_logit = row_max;
  double run(const Floats& logits) {
    double loss = 0;
    loss_max_cpu(row_max.data(), logits.data(), N, V);
    loss_sum_cpu(sum_exp.data(), target_logit.data(), logits.data(), row_max.data(), targets.data(),
                 N, V);
    loss_cpu(&loss, row_max.data(), sum_exp.data(), target_logit.data(), N);
    return loss;
  }
};

TEST_P(CrossEntropy, TheThreePartsMakeTheLoss) {
  const Floats logits = random_floats(N * V, 1);
  const double expected = reference::cross_entropy(doubles(logits), targets);
  EXPECT_NEAR(run(logits), expected, kFloatBound * std::max(expected, 1.0));
}

TEST_P(CrossEntropy, LargeLogitsDoNotOverflow) {
  Floats logits = random_floats(N * V, 1);
  for (float& logit : logits) logit = logit * 40.0F + 3000.0F;
  const double expected = reference::cross_entropy(doubles(logits), targets);
  // A logit near 3000 itself carries an error of 2^-13.
  EXPECT_NEAR(run(logits), expected, static_cast<double>(N) * 3e-4);
}

TEST_P(CrossEntropy, GradientIsTheSlope) {
  const Floats logits = random_floats(N * V, 1);
  run(logits);
  Floats grad = logits;
  loss_grad_cpu(grad.data(), row_max.data(), sum_exp.data(), targets.data(), 0.25F, N, V);
  const auto expected = reference::gradient(
      [&](const Doubles& at) { return Doubles{reference::cross_entropy(at, targets)}; },
      doubles(logits), {0.25});
  if (V > 1) {
    EXPECT_LE(relative_difference(grad, expected), kFloatBound);
  }
  double sum = 0;
  for (const float value : grad) sum += double{value};
  EXPECT_NEAR(sum, 0, 1e-6 * static_cast<double>(N));
}

// What PyTorch adds up: the softmax without its targets, and the gradient of the log-probabilities,
// which is that of logits of which none is possible, with sums so large that 0 is exact.
TEST_P(CrossEntropy, GradientIsSoftmaxAndTargetsToTheBit) {
  const Floats logits = random_floats(N * V, 1);
  run(logits);
  Floats grad = logits, softmax = logits, of_targets(logits.size(), -1e30F);
  const Floats largest(sum_exp.size(), std::numeric_limits<float>::max());
  const auto make = [&](Floats& of, const Floats& sums, const std::int32_t* at) {
    loss_grad_cpu(of.data(), row_max.data(), sums.data(), at, 0.25F, N, V);
  };
  make(grad, sum_exp, targets.data());
  make(softmax, sum_exp, nullptr);
  make(of_targets, largest, targets.data());
  for (std::int64_t n = 0; n < N; ++n)
    for (std::int64_t v = 0; v < V; ++v) {
      const auto at = static_cast<std::size_t>(n * V + v);
      EXPECT_EQ(of_targets[at], v == targets[static_cast<std::size_t>(n)] ? -0.25F : 0.0F);
      EXPECT_EQ(softmax[at] + of_targets[at], grad[at]);
    }
}

TEST_P(CrossEntropy, MaximaAndSumsAtOnceAreTheSameToTheBit) {
  const Floats logits = random_floats(N * V, 1);
  run(logits);
  Floats max_(row_max.size()), sum(row_max.size()), target(row_max.size());
  loss_max_sum_cpu(max_.data(), sum.data(), target.data(), logits.data(), targets.data(), N, V);
  EXPECT_EQ(max_, row_max);
  EXPECT_EQ(sum, sum_exp);
  EXPECT_EQ(target, target_logit);
}

// To the bit, whatever lies between the rows.
TEST_P(CrossEntropy, RowsMayBeApart) {
  const std::int64_t pitch = V + 5;
  Floats logits = random_floats(N * V, 1);
  Floats apart(static_cast<std::size_t>(N * pitch), 1e30F);
  for (std::int64_t n = 0; n < N; ++n)
    std::copy_n(logits.begin() + n * V, V, apart.begin() + n * pitch);
  run(logits);
  Floats max_apart(row_max.size()), sum_apart(row_max.size()), target_apart(row_max.size());
  loss_max_cpu(max_apart.data(), apart.data(), N, V, pitch);
  loss_sum_cpu(sum_apart.data(), target_apart.data(), apart.data(), max_apart.data(),
               targets.data(), N, V, 0, pitch);
  EXPECT_EQ(max_apart, row_max);
  EXPECT_EQ(sum_apart, sum_exp);
  EXPECT_EQ(target_apart, target_logit);
  loss_grad_cpu(logits.data(), row_max.data(), sum_exp.data(), targets.data(), 0.25F, N, V);
  loss_grad_cpu(apart.data(), row_max.data(), sum_exp.data(), targets.data(), 0.25F, N, V, 0,
                pitch);
  for (std::int64_t n = 0; n < N; ++n)
    for (std::int64_t v = 0; v < pitch; ++v)
      EXPECT_EQ(apart[static_cast<std::size_t>(n * pitch + v)],
                v < V ? logits[static_cast<std::size_t>(n * V + v)] : 1e30F);
}

INSTANTIATE_TEST_SUITE_P(AwkwardSizes, CrossEntropy,
                         testing::Combine(testing::Values(1, 2, 7), testing::Values(1, 2, 7, 65)));

using EmbeddingSizes = std::tuple<int, int, int>;
class Embedding : public testing::TestWithParam<EmbeddingSizes> {};

TEST_P(Embedding, ForwardAndGradientsAreTheirDefinitions) {
  const std::int64_t T = std::get<1>(GetParam());
  const std::int64_t C = std::get<2>(GetParam());
  const std::int64_t N = std::get<0>(GetParam()) * T;
  const std::int64_t V = 3;  // fewer rows than tokens: rows gather several gradients
  const auto tokens = random_tokens(N, V, 1);
  const Floats table = random_floats(V * C, 2);
  const Floats positions = random_floats(T * C, 3);
  const Floats dx = random_floats(N * C, 4);
  Floats x(dx.size());
  embedding_forward_cpu(x.data(), tokens.data(), table.data(), positions.data(), N, T, C);
  const auto forward = [&](const Doubles& table_, const Doubles& positions_) {
    return reference::embedding(tokens, table_, positions_, static_cast<std::size_t>(T),
                                static_cast<std::size_t>(C));
  };
  EXPECT_LE(relative_difference(x, forward(doubles(table), doubles(positions))), kFloatBound);
  Floats dtable(table.size());
  Floats dpositions(positions.size());
  embedding_grad_cpu(dtable.data(), dpositions.data(), dx.data(), tokens.data(), N, T, C);
  EXPECT_LE(relative_difference(
                dtable, reference::gradient(
                            [&](const Doubles& at) { return forward(at, doubles(positions)); },
                            doubles(table), doubles(dx))),
            kFloatBound);
  EXPECT_LE(relative_difference(
                dpositions,
                reference::gradient([&](const Doubles& at) { return forward(doubles(table), at); },
                                    doubles(positions), doubles(dx))),
            kFloatBound);
  Floats without(x.size());
  embedding_forward_cpu(without.data(), tokens.data(), table.data(), nullptr, N, T, C);
  EXPECT_EQ(doubles(without), forward(doubles(table), {}));
}

INSTANTIATE_TEST_SUITE_P(AwkwardSizes, Embedding,
                         testing::Combine(testing::Values(1, 2), testing::Values(1, 3, 7),
                                          testing::Values(1, 2, 17)));

}  // namespace
}  // namespace parallelarium
