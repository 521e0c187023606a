// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/compare.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

namespace parallelarium {
namespace {

Prediction predicted() {
  Result<Prediction> prediction = predict(default_setup(), uncalibrated_local_machine(), true);
  EXPECT_TRUE(prediction.ok()) << prediction.error().text;
  return *prediction;
}

// An observation that saw exactly what was predicted.
Observation same_as(const Prediction& prediction) {
  Observation observation;
  observation.setup = prediction.setup;
  observation.step = prediction.step;
  observation.bubble = prediction.bubble;
  observation.timeline = prediction.timeline;
  observation.memory = memory_of(prediction.program);
  for (int rank = 0; rank < static_cast<int>(prediction.program.ranks.size()); ++rank)
    observation.traffic.push_back(traffic_of(prediction.program, rank));
  return observation;
}

std::map<std::string, Comparison> by_metric(const std::vector<Comparison>& list) {
  std::map<std::string, Comparison> map;
  for (const Comparison& comparison : list) {
    EXPECT_FALSE(map.count(comparison.metric)) << comparison.metric << " stands twice";
    map.emplace(comparison.metric, comparison);
  }
  return map;
}

TEST(Compare, WhatWasPredictedExactlyHasNoError) {
  const Prediction prediction = predicted();
  const auto list = by_metric(compare_with(prediction, same_as(prediction)));
  for (const auto& [metric, comparison] : list) {
    EXPECT_EQ(comparison.predicted, comparison.observed) << metric;
    if (comparison.observed == 0)
      EXPECT_FALSE(comparison.error.has_value()) << metric;
    else
      EXPECT_EQ(*comparison.error, 0) << metric;
  }
  EXPECT_TRUE(list.count("step.seconds"));
  EXPECT_TRUE(list.count("bubble.of_total"));
  EXPECT_TRUE(list.count("bubble.over_ideal"));
  EXPECT_TRUE(list.count("step.tokens_per_second"));
  for (int stage = 0; stage < 4; ++stage)
    EXPECT_TRUE(list.count(fmt::format("memory.ranks.{}.peak_bytes", stage)));
  EXPECT_TRUE(list.count("traffic.pp.send_recv.activations.sent_bytes"));
}

TEST(Compare, ErrorIsPredictedOverMeasuredMinusOne) {
  const Prediction prediction = predicted();
  Observation observation = same_as(prediction);
  observation.step.seconds *= 2;
  observation.memory[1].peak_bytes *= 4;
  observation.traffic[0].clear();
  const auto list = by_metric(compare_with(prediction, observation));
  EXPECT_DOUBLE_EQ(*list.at("step.seconds").error, -0.5);
  EXPECT_DOUBLE_EQ(*list.at("memory.ranks.1.peak_bytes").error, -0.75);
  const Comparison& sent = list.at("traffic.pp.send_recv.activations.sent_bytes");
  EXPECT_GT(sent.predicted, 0);
  EXPECT_EQ(sent.observed, 0);
  EXPECT_FALSE(sent.error.has_value());
  const nlohmann::json json = to_json(std::vector{sent});
  EXPECT_TRUE(json[0]["error"].is_null());
  EXPECT_EQ(json[0]["measured"], 0);
}

TEST(Compare, TimesStandBesideARunOnTheDevicesThatWerePredictedOnly) {
  Machine gpus = uncalibrated_local_machine();
  gpus.name = kLocalGpus;
  const Machine cores = uncalibrated_local_machine();
  const auto says = [](const Machine& machine, const char* backend, Source source, int ranks = 1) {
    Observation observation;
    observation.setup.mesh = {};
    observation.setup.mesh.dp = ranks;
    observation.backend = backend;
    observation.source = source;
    return predicts_times(machine, observation);
  };
  EXPECT_TRUE(says(cores, "cpu", Source::kOversubscribed));
  EXPECT_TRUE(says(cores, "paced", Source::kPaced));
  EXPECT_FALSE(says(cores, "cuda", Source::kMeasured));
  EXPECT_TRUE(says(gpus, "cuda", Source::kMeasured));
  EXPECT_TRUE(says(gpus, "cuda", Source::kSharedGpu, 4));
  EXPECT_FALSE(says(gpus, "cuda", Source::kMeasured, 4)) << "of another host's GPUs, too";
  EXPECT_FALSE(says(gpus, "cpu", Source::kMeasured));
}

}  // namespace
}  // namespace parallelarium
