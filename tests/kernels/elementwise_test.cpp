// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kernels/elementwise/accumulate.h"
#include "kernels/elementwise/fill.h"
#include "kernels/elementwise/residual.h"
#include "kernels/optimizer/adamw.h"
#include "kernels/optimizer/sum_of_squares.h"
#include "tests/kernels/reference.h"

namespace parallelarium {
namespace {

using namespace reference;

class Elementwise : public testing::TestWithParam<int> {
 protected:
  std::int64_t count = GetParam();
  std::size_t size = static_cast<std::size_t>(count);
};

TEST_P(Elementwise, AccumulateAddsEachPartOnce) {
  Floats sum(size);
  Floats part(size);
  std::vector<double> precise(size);
  std::vector<double> precise_part(size);
  for (std::size_t at = 0; at < size; ++at) {
    sum[at] = static_cast<float>(at);
    part[at] = static_cast<float>(1000 * at + 1);
    precise[at] = static_cast<double>(at);
    precise_part[at] = 1e-12;
  }
  accumulate_cpu(sum.data(), part.data(), size);
  accumulate_cpu(precise.data(), precise_part.data(), size);
  for (std::size_t at = 0; at < size; ++at) {
    EXPECT_EQ(sum[at], static_cast<float>(1001 * at + 1));
    EXPECT_EQ(precise[at], static_cast<double>(at) + 1e-12);
  }
}

TEST_P(Elementwise, ResidualAddsStreamAndBranch) {
  const Floats stream = random_floats(count, 1);
  const Floats branch = random_floats(count, 2);
  Floats out(size);
  residual_add_cpu(out.data(), stream.data(), branch.data(), size);
  for (std::size_t at = 0; at < size; ++at) EXPECT_EQ(out[at], stream[at] + branch[at]);
}

TEST_P(Elementwise, FillTouchesExactlyItsRange) {
  Floats values(size + 1, 5.0F);
  fill_cpu(values.data(), 2.0F, size);
  for (std::size_t at = 0; at < size; ++at) EXPECT_EQ(values[at], 2.0F);
  EXPECT_EQ(values[size], 5.0F);
}

TEST_P(Elementwise, SumOfSquaresAddsInDoublePrecision) {
  const Floats values = random_floats(count, 1);
  double expected = 1e6;  // in float precision, nothing below 0.06 would be added to this
  for (const float value : values) expected += double{value} * double{value};
  double sum = 1e6;
  sum_of_squares_cpu(&sum, values.data(), size);
  EXPECT_NEAR(sum, expected, 1e-9);
}

// The algorithm by its paper's letters, in double precision.
TEST_P(Elementwise, AdamWFollowsItsAlgorithmOverSeveralSteps) {
  for (const float clip : {0.0F, 0.5F, 1e6F}) {
    Floats p = random_floats(count, 1);
    Floats m(size);
    Floats v(size);
    Doubles theta = doubles(p);
    Doubles first(size);
    Doubles second(size);
    AdamW settings;
    settings.learning_rate = 0.01F;
    for (int step = 1; step <= 4; ++step) {
      settings.step = step;
      const Floats g = random_floats(count, 10 + static_cast<unsigned>(step));
      double squares = 0;
      sum_of_squares_cpu(&squares, g.data(), size);
      adamw_cpu(p.data(), g.data(), m.data(), v.data(), &squares, clip, settings, size);
      const double norm = std::sqrt(squares);
      const double scale = clip > 0 && norm > double{clip} ? double{clip} / norm : 1.0;
      for (std::size_t at = 0; at < size; ++at) {
        const double gradient = double{g[at]} * scale;
        first[at] = 0.9 * first[at] + 0.1 * gradient;
        second[at] = 0.95 * second[at] + 0.05 * gradient * gradient;
        const double first_hat = first[at] / (1 - std::pow(0.9, step));
        const double second_hat = second[at] / (1 - std::pow(0.95, step));
        theta[at] -= 0.01 * (first_hat / (std::sqrt(second_hat) + 1e-8) + 0.1 * theta[at]);
      }
    }
    EXPECT_LE(relative_difference(p, theta), kFloatBound) << "clip " << clip;
  }
}

INSTANTIATE_TEST_SUITE_P(AwkwardSizes, Elementwise, testing::Values(1, 2, 3, 7, 16, 33, 1000));

TEST(Elementwise, AnEmptyRangeIsLeftAlone) {
  float value = 3;
  accumulate_cpu(&value, &value, 0);
  fill_cpu(&value, 9, 0);
  EXPECT_EQ(value, 3);
}

}  // namespace
}  // namespace parallelarium
