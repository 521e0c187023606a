// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise/activation.h"

#include <gtest/gtest.h>

#include "kernels/base/vector.h"
#include "tests/kernels/reference.h"

namespace parallelarium {
namespace {

using namespace reference;

Floats wide(std::int64_t count, unsigned seed) {
  Floats values = random_floats(count, seed);
  for (float& value : values) value *= 6.0F;
  return values;
}

class Activation : public testing::TestWithParam<int> {};

TEST_P(Activation, GeluAndItsGradientAreTheirDefinitions) {
  const std::int64_t count = GetParam();
  const Floats u = wide(count, 1);
  const Floats dg = random_floats(count, 2);
  Floats g(u.size());
  Floats du(u.size());
  gelu_forward_cpu(g.data(), u.data(), u.size());
  gelu_backward_cpu(du.data(), dg.data(), u.data(), u.size());
  EXPECT_LE(relative_difference(g, reference::gelu(doubles(u))), kFloatBound);
  EXPECT_LE(relative_difference(
                du, reference::gradient([](const Doubles& at) { return reference::gelu(at); },
                                        doubles(u), doubles(dg))),
            kFloatBound);
}

TEST_P(Activation, SwigluAndItsGradientAreTheirDefinitions) {
  const std::int64_t F = GetParam();
  const std::int64_t N = 3;
  const Floats u = wide(N * 2 * F, 1);
  const Floats dg = random_floats(N * F, 2);
  Floats g(dg.size());
  Floats du(u.size());
  swiglu_forward_cpu(g.data(), u.data(), u.data() + F, N, F, 2 * F);
  swiglu_backward_cpu(du.data(), dg.data(), u.data(), u.data() + F, N, F, 2 * F);
  const auto forward = [&](const Doubles& at) {
    return reference::swiglu(at, static_cast<std::size_t>(F));
  };
  EXPECT_LE(relative_difference(g, forward(doubles(u))), kFloatBound);
  EXPECT_LE(relative_difference(du, reference::gradient(forward, doubles(u), doubles(dg))),
            kFloatBound);
}

INSTANTIATE_TEST_SUITE_P(AwkwardSizes, Activation, testing::Values(1, 2, 3, 7, 16, 33, 100));

TEST(FastExp, IsWithinTwoUnitsInTheLastPlaceOfTheTruth) {
  double worst = 0;
  for (double x = -87.0; x <= 88.0; x += 0.000731) {
    const auto argument = static_cast<float>(x);
    const double truth = std::exp(double{argument});
    worst = std::max(worst, std::abs(double{fast_exp(argument)} - truth) / truth);
  }
  EXPECT_LE(worst, 2 * std::ldexp(1.0, -23));
}

TEST(FastExp, StaysFiniteFarOutside) {
  EXPECT_GT(fast_exp(1e30F), 1e38F);
  EXPECT_TRUE(std::isfinite(fast_exp(1e30F)));
  EXPECT_LT(fast_exp(-1e30F), 1e-37F);
  EXPECT_GE(fast_exp(-1e30F), 0.0F);
}

TEST(Gelu, IsTheIdentityFarRightAndZeroFarLeft) {
  const Floats u{50.0F, -50.0F, 0.0F};
  Floats g(3);
  gelu_forward_cpu(g.data(), u.data(), 3);
  EXPECT_EQ(g[0], 50.0F);
  EXPECT_NEAR(g[1], 0.0F, 1e-30F);
  EXPECT_EQ(g[2], 0.0F);
}

}  // namespace
}  // namespace parallelarium
