// SPDX-License-Identifier: Apache-2.0
// The estimated noise scale against gradients that are drawn with a known mean and variance.
#include "engine/predict/training/noise_scale.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

namespace parallelarium {
namespace {

Observation data_parallel_run(int ranks, int microbatches) {
  Observation seen;
  seen.setup.mesh = Mesh{};
  seen.setup.mesh.dp = ranks;
  seen.setup.microbatches = microbatches;
  seen.setup.micro_batch = 2;
  seen.setup.model.sequence = 128;
  return seen;
}

// One step whose sequences have gradients of mean (1, ..., 1) and variance `variance` in each of
// `size` directions. A rank's is the mean over its sequences, shared over ranks.
Observation drawn(int ranks, int microbatches, int size, double variance, std::mt19937& random) {
  Observation seen = data_parallel_run(ranks, microbatches);
  std::normal_distribution<double> noise(0, std::sqrt(variance / (2.0 * microbatches)));
  std::vector<double> mean(static_cast<std::size_t>(size), 0);
  for (int rank = 0; rank < ranks; ++rank) {
    double own = 0;
    for (double& direction : mean) {
      const double gradient = 1 + noise(random);
      own += gradient * gradient;
      direction += gradient / ranks;
    }
    RankState state;
    state.rank = rank;
    state.gradient_norm = std::sqrt(own) / ranks;
    seen.ranks_state.push_back(state);
  }
  double all = 0;
  for (const double direction : mean) all += direction * direction;
  seen.gradient_norms = {7, std::sqrt(all)};  // of the last step
  return seen;
}

class NoiseOfGradients : public testing::TestWithParam<std::tuple<int, int, double>> {};

TEST_P(NoiseOfGradients, IsFoundFromNormsAlone) {
  const auto [ranks, microbatches, variance] = GetParam();
  std::mt19937 random(11);
  std::vector<NoiseScale> runs;
  for (int run = 0; run < 400; ++run) {
    const auto found = noise_scale_of(drawn(ranks, microbatches, 64, variance, random));
    ASSERT_TRUE(found);
    runs.push_back(*found);
  }
  const NoiseScale mean = average(runs);
  EXPECT_EQ(mean.small, 2 * microbatches);
  EXPECT_EQ(mean.big, std::int64_t{2} * microbatches * ranks);
  EXPECT_NEAR(mean.gradient_squared, 64, 3) << "sum of squares of the mean";
  EXPECT_NEAR(mean.noise, 64 * variance, 64 * variance * 0.05) << "sum of variances";
  ASSERT_TRUE(mean.sequences());
  EXPECT_NEAR(*mean.sequences(), variance, variance * 0.08);
  const nlohmann::json json = to_json(runs);
  EXPECT_EQ(json["runs"].size(), 400u);
  EXPECT_NEAR(json["tokens"].get<double>(), *mean.sequences() * 128, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(All, NoiseOfGradients,
                         testing::Values(std::tuple{2, 1, 1.0}, std::tuple{2, 3, 5.0},
                                         std::tuple{4, 1, 0.3}, std::tuple{5, 2, 4.0},
                                         std::tuple{8, 4, 12.0}));

TEST(NoiseScale, IsUnknownWhereNormsDoNotTellIt) {
  std::mt19937 random(5);
  const Observation known = drawn(4, 1, 8, 1, random);
  EXPECT_TRUE(noise_scale_of(known));
  Observation seen = known;
  seen.ranks_state[2].gradient_norm.reset();  // ZeRO 3
  EXPECT_FALSE(noise_scale_of(seen));
  seen = known;
  seen.setup.mesh.tp = 2;
  EXPECT_FALSE(noise_scale_of(seen));
  seen = known;
  seen.setup.mesh.dp = 1;
  EXPECT_FALSE(noise_scale_of(seen));
}

// Where four ranks' gradients point everywhere, the mean is smaller than noise alone would leave.
TEST(NoiseScale, SaysWhereNoiseHidesTheGradient) {
  Observation seen = data_parallel_run(4, 1);
  for (int rank = 0; rank < 4; ++rank) {
    RankState state;
    state.rank = rank;
    state.gradient_norm = 1;
    seen.ranks_state.push_back(state);
  }
  seen.gradient_norms = {1.5};  // 2 of noise alone
  const auto found = noise_scale_of(seen);
  ASSERT_TRUE(found);
  EXPECT_LT(found->gradient_squared, 0);
  EXPECT_FALSE(found->sequences());
  const nlohmann::json json = to_json(std::span(&*found, 1));
  EXPECT_TRUE(json["sequences"].is_null());
  EXPECT_TRUE(json["least"].is_null());
}

}  // namespace
}  // namespace parallelarium
