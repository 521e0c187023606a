// SPDX-License-Identifier: Apache-2.0
#include "engine/train/parameters.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/base/random.h"

namespace parallelarium {
namespace {

struct Moments {
  double mean = 0, deviation = 0, kurtosis = 0;
};
Moments moments_of(const std::vector<float>& values) {
  Moments m;
  for (const float value : values) m.mean += double{value} / static_cast<double>(values.size());
  double fourth = 0;
  for (const float value : values) {
    const double d = double{value} - m.mean;
    m.deviation += d * d / static_cast<double>(values.size());
    fourth += d * d * d * d / static_cast<double>(values.size());
  }
  m.kurtosis = fourth / (m.deviation * m.deviation);
  m.deviation = std::sqrt(m.deviation);
  return m;
}

TEST(InitialValues, OfWeightsAreNormalWithDeviationTwoHundredths) {
  const auto m = moments_of(initial_values(1, Parameter::kQkvWeight, 0, 1 << 18, 8));
  // Bounds: five standard errors of 2^18 draws, and the kurtosis 3 - 6/(5*12) of twelve uniforms.
  EXPECT_NEAR(m.mean, 0, 5 * 0.02 / 512);
  EXPECT_NEAR(m.deviation, 0.02, 5 * 0.02 / 512);
  EXPECT_NEAR(m.kurtosis, 2.9, 0.05);
}

TEST(InitialValues, OfBranchOutputsShrinkWithTheDepth) {
  for (const Parameter parameter : {Parameter::kProjectionWeight, Parameter::kMlpOutWeight})
    EXPECT_NEAR(moments_of(initial_values(1, parameter, 0, 1 << 16, 8)).deviation, 0.02 / 4, 1e-4);
}

TEST(InitialValues, OfGainsAreOneAndOfBiasesZero) {
  EXPECT_EQ(initial_values(1, Parameter::kNorm1Gain, 2, 3, 8), std::vector<float>(3, 1.0F));
  EXPECT_EQ(initial_values(1, Parameter::kMlpInBias, 2, 3, 8), std::vector<float>(3, 0.0F));
}

TEST(InitialValues, DifferBySeedParameterAndLayerAndByNothingElse) {
  const auto values = initial_values(1, Parameter::kQkvWeight, 0, 100, 8);
  EXPECT_EQ(values, initial_values(1, Parameter::kQkvWeight, 0, 100, 4));
  EXPECT_NE(values, initial_values(2, Parameter::kQkvWeight, 0, 100, 8));
  EXPECT_NE(values, initial_values(1, Parameter::kMlpInWeight, 0, 100, 8));
  EXPECT_NE(values, initial_values(1, Parameter::kQkvWeight, 1, 100, 8));
}

// Written down once: the same on every computer.
TEST(InitialValues, AreTheseOnEveryComputer) {
  const auto values = initial_values(1, Parameter::kTokenTable, -1, 3, 8);
  EXPECT_EQ(values, (std::vector<float>{-0.0204837024F, -0.00583709683F, -0.0420904532F}));
}

// Cores share a long parameter. Each value is a sum of twelve numbers of 16 bits, added one by one
// here.
TEST(InitialValues, OfALongParameterAreDrawnOneByOne) {
  const std::size_t count = (std::size_t{5} << 20) + 3;
  const std::uint64_t key = random_key({7, static_cast<std::uint64_t>(Parameter::kTokenTable), 0});
  const auto values =
      initial_values(7, Parameter::kTokenTable, -1, static_cast<std::int64_t>(count), 8);
  ASSERT_EQ(values.size(), count);
  std::size_t wrong = 0;
  for (std::size_t index = 0; index < count; ++index) {
    std::int64_t sum = 0;
    for (std::uint64_t draw = 0; draw < 3; ++draw)
      for (std::uint64_t shift = 0; shift < 64; shift += 16)
        sum += (random_bits(key, 3 * index + draw) >> shift) & 0xffff;
    wrong += values[index] != 0.02F * (static_cast<float>(sum - 12 * 65535 / 2) / 65536.0F);
  }
  EXPECT_EQ(wrong, 0u);
}

TEST(Decay, IsForMatricesOnly) {
  EXPECT_TRUE(decays(Parameter::kTokenTable));
  EXPECT_TRUE(decays(Parameter::kMlpOutWeight));
  EXPECT_FALSE(decays(Parameter::kNorm1Gain));
  EXPECT_FALSE(decays(Parameter::kQkvBias));
}

}  // namespace
}  // namespace parallelarium
