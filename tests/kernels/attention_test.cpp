// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention/attention.h"

#include <gtest/gtest.h>

#include "kernels/attention/rotary.h"
#include "tests/kernels/reference.h"

namespace parallelarium {
namespace {

using namespace reference;

class AttentionKernel : public testing::TestWithParam<AttentionShape> {
 protected:
  AttentionShape shape = GetParam();
  Floats qkv = random_floats(shape.B * shape.T * (shape.H + 2 * shape.K) * shape.D, 1);
  Floats dcontext = random_floats(shape.B * shape.T * shape.H * shape.D, 2);
  // Wrong on purpose: the kernels must write all of them.
  Floats context = Floats(dcontext.size(), 7.0F);
  Floats probabilities =
      Floats(static_cast<std::size_t>(shape.B * shape.H * shape.T * shape.T), 7.0F);
  Floats dqkv = Floats(qkv.size(), 7.0F);
  Floats scratch = Floats(static_cast<std::size_t>(shape.T * shape.T), 7.0F);

  void SetUp() override {
    attention_forward_cpu(context.data(), probabilities.data(), qkv.data(), shape);
    attention_backward_cpu(dqkv.data(), scratch.data(), dcontext.data(), qkv.data(),
                           probabilities.data(), shape);
  }
};

TEST_P(AttentionKernel, ForwardIsItsDefinition) {
  const auto expected = reference::attention(doubles(qkv), shape);
  EXPECT_LE(relative_difference(probabilities, expected.probabilities), kFloatBound);
  EXPECT_LE(relative_difference(context, expected.context), kFloatBound);
}

TEST_P(AttentionKernel, NoTokenSeesALaterOne) {
  for (std::size_t at = 0; at < probabilities.size(); ++at) {
    const std::int64_t T = shape.T;
    const auto i = static_cast<std::int64_t>(at) / T % T;
    const auto j = static_cast<std::int64_t>(at) % T;
    if (j > i) {
      ASSERT_EQ(probabilities[at], 0.0F) << i << " sees " << j;
    }
  }
}

TEST_P(AttentionKernel, GradientIsTheSlope) {
  if (qkv.size() > 400) return;  // the slope costs one forward per number; blocks: see below
  const auto expected = reference::gradient(
      [&](const Doubles& at) { return reference::attention(at, shape).context; }, doubles(qkv),
      doubles(dcontext));
  EXPECT_LE(relative_difference(dqkv, expected), kFloatBound);
}

// Along one random direction the slope costs two forwards, whatever the size.
TEST_P(AttentionKernel, GradientIsTheSlopeAlongARandomDirection) {
  const Doubles direction = doubles(random_floats(static_cast<std::int64_t>(qkv.size()), 9));
  const auto forward = [&](double step) {
    Doubles moved = doubles(qkv);
    for (std::size_t at = 0; at < moved.size(); ++at) moved[at] += step * direction[at];
    const Doubles out = reference::attention(moved, shape).context;
    double sum = 0;
    for (std::size_t at = 0; at < out.size(); ++at) sum += out[at] * double{dcontext[at]};
    return sum;
  };
  double along = 0;
  double size = 0;
  for (std::size_t at = 0; at < dqkv.size(); ++at) {
    along += double{dqkv[at]} * direction[at];
    size += std::pow(double{dqkv[at]} * direction[at], 2);
  }
  EXPECT_NEAR(along, (forward(1e-5) - forward(-1e-5)) / 2e-5, 10 * kFloatBound * std::sqrt(size));
}

TEST_P(AttentionKernel, TheTurnIsADefinedRotationAndItsBackIsTheGradient) {
  if (shape.D % 2 != 0) return;
  Floats turned = qkv;
  rotary_cpu(turned.data(), Turn::kForward, shape);
  EXPECT_LE(relative_difference(turned, reference::rotary(doubles(qkv), shape)), kFloatBound);
  const Floats weights = random_floats(static_cast<std::int64_t>(qkv.size()), 3);
  Floats grad = weights;
  rotary_cpu(grad.data(), Turn::kBack, shape);
  if (qkv.size() > 400) return;
  const auto expected =
      reference::gradient([&](const Doubles& at) { return reference::rotary(at, shape); },
                          doubles(qkv), doubles(weights));
  EXPECT_LE(relative_difference(grad, expected), kFloatBound);
}

// B, T, H, K, D; 150 and 300 tokens are more than one block of rows.
INSTANTIATE_TEST_SUITE_P(
    AwkwardSizes, AttentionKernel,
    testing::Values(AttentionShape{1, 1, 1, 1, 1}, AttentionShape{2, 3, 1, 1, 2},
                    AttentionShape{1, 7, 3, 3, 2}, AttentionShape{2, 5, 4, 2, 3},
                    AttentionShape{1, 6, 3, 1, 4}, AttentionShape{3, 2, 2, 2, 4},
                    AttentionShape{1, 150, 2, 1, 4}, AttentionShape{2, 300, 2, 2, 8}));

}  // namespace
}  // namespace parallelarium
