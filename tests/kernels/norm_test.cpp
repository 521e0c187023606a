// SPDX-License-Identifier: Apache-2.0
#include "kernels/norms/norm.h"

#include <gtest/gtest.h>

#include "tests/kernels/reference.h"

namespace parallelarium {
namespace {

using namespace reference;

using NormSizes = std::tuple<int, int, bool>;  // tokens, channels, RMSNorm
class NormKernel : public testing::TestWithParam<NormSizes> {
 protected:
  std::int64_t N = std::get<0>(GetParam());
  std::int64_t C = std::get<1>(GetParam());
  bool rms = std::get<2>(GetParam());
  Floats x = random_floats(N * C, 1);
  Floats gain = random_floats(C, 2);
  Floats bias = random_floats(C, 3);
  Floats dy = random_floats(N * C, 4);
  Floats y = Floats(x.size());
  Floats stats = Floats(static_cast<std::size_t>(2 * N));

  void SetUp() override {
    if (rms)
      rms_norm_forward_cpu(y.data(), stats.data(), x.data(), gain.data(), N, C);
    else
      layer_norm_forward_cpu(y.data(), stats.data(), x.data(), gain.data(), bias.data(), N, C);
  }
  Doubles forward(const Doubles& x_, const Doubles& gain_, const Doubles& bias_) const {
    return rms ? reference::rms_norm(x_, gain_) : reference::layer_norm(x_, gain_, bias_);
  }
  Floats input_grad(Floats dx, bool accumulate) const {
    if (rms)
      rms_norm_input_grad_cpu(dx.data(), dy.data(), x.data(), gain.data(), stats.data(), accumulate,
                              N, C);
    else
      layer_norm_input_grad_cpu(dx.data(), dy.data(), x.data(), gain.data(), stats.data(),
                                accumulate, N, C);
    return dx;
  }
};

TEST_P(NormKernel, ForwardIsItsDefinition) {
  EXPECT_LE(relative_difference(y, forward(doubles(x), doubles(gain), doubles(bias))), kFloatBound);
}

TEST_P(NormKernel, InputGradientIsTheSlopeOverwrittenOrAdded) {
  const Doubles slope = reference::gradient(
      [&](const Doubles& at) { return forward(at, doubles(gain), doubles(bias)); }, doubles(x),
      doubles(dy));
  // A norm over few channels is ill-conditioned, so the error is measured against its inputs.
  const Floats before = random_floats(N * C, 5);
  Doubles added = slope;
  for (std::size_t at = 0; at < added.size(); ++at) added[at] += double{before[at]};
  EXPECT_LE(relative_difference(input_grad(before, true), added), 10 * kFloatBound);
  if (C > 2) {
    EXPECT_LE(relative_difference(input_grad(before, false), slope), 10 * kFloatBound);
  }
}

TEST_P(NormKernel, WeightGradientsAreSlopesAddedToWhatWasThere) {
  const Floats gain_before = random_floats(C, 6);
  const Floats bias_before = random_floats(C, 7);
  Floats dgain = gain_before;
  Floats dbias = bias_before;
  norm_weight_grad_cpu(dgain.data(), rms ? nullptr : dbias.data(), dy.data(), x.data(),
                       stats.data(), N, C);
  Doubles expected =
      reference::gradient([&](const Doubles& at) { return forward(doubles(x), at, doubles(bias)); },
                          doubles(gain), doubles(dy));
  for (std::size_t at = 0; at < expected.size(); ++at) expected[at] += double{gain_before[at]};
  EXPECT_LE(relative_difference(dgain, expected), kFloatBound);
  if (rms) return;
  expected =
      reference::gradient([&](const Doubles& at) { return forward(doubles(x), doubles(gain), at); },
                          doubles(bias), doubles(dy));
  for (std::size_t at = 0; at < expected.size(); ++at) expected[at] += double{bias_before[at]};
  EXPECT_LE(relative_difference(dbias, expected), kFloatBound);
}

INSTANTIATE_TEST_SUITE_P(AwkwardSizes, NormKernel,
                         testing::Combine(testing::Values(1, 2, 7),
                                          testing::Values(2, 3, 7, 64, 65), testing::Bool()));

}  // namespace
}  // namespace parallelarium
