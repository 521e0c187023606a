// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/predict/cost/simulate.h"

namespace parallelarium {
namespace {

Prediction predicted(const Setup& setup = default_setup(), double* pace = nullptr) {
  const Machine machine = uncalibrated_local_machine();
  Result<Prediction> prediction = predict(setup, machine, true);
  EXPECT_TRUE(prediction.ok()) << prediction.error().text;
  if (pace) {
    const Result<double> factor = pace_factor(setup, machine);
    EXPECT_TRUE(factor.ok()) << factor.error().text;
    *pace = *factor;
  }
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

// The definition of the pace, checked with the machine's own costs added up here.
TEST(Pace, ForwardOfOneSequenceOnOneRankTakesThePace) {
  for (const int micro_batch : {1, 3}) {
    auto setup = default_setup();
    setup.micro_batch = micro_batch;
    setup.run.pace_seconds = 0.123;
    double pace = 0;
    predicted(setup, &pace);
    auto alone = default_setup();
    alone.mesh.pp = 1;
    alone.microbatches = 1;
    const Prediction one = predicted(alone);
    const CostModel cost(one.program, one.machine, alone);
    double forward = 0;
    for (const Op& op : one.program.ranks[0].ops)
      if (op.kind == OpKind::kCompute && op.phase == Phase::kForward)
        forward += cost.seconds(op, 0);
    EXPECT_NEAR(pace * forward, 0.123, 1e-9);
  }
}

TEST(Pace, DilationMultipliesTimesAndLeavesSharesAndBytes) {
  const Prediction prediction = predicted();
  const Prediction once = dilated(prediction, 1);
  const Prediction slow = dilated(prediction, 40);
  EXPECT_NEAR(slow.step.seconds, 40 * once.step.seconds, 1e-9 * slow.step.seconds);
  EXPECT_NEAR(slow.step.tokens_per_second * 40, once.step.tokens_per_second,
              1e-9 * once.step.tokens_per_second);
  EXPECT_EQ(slow.step.mfu, 0);
  EXPECT_EQ(slow.bubble.of_total, once.bubble.of_total);
  EXPECT_EQ(slow.memory[0].peak_bytes, prediction.memory[0].peak_bytes);
  for (std::size_t rank = 0; rank < once.timeline.ranks.size(); ++rank)
    for (std::size_t op = 0; op < once.timeline.ranks[rank].spans.size(); ++op) {
      const Span& a = once.timeline.ranks[rank].spans[op];
      const Span& b = slow.timeline.ranks[rank].spans[op];
      EXPECT_EQ(b.begin, a.begin * 40);
      EXPECT_EQ(b.end, a.end * 40);
    }
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

TEST(Pace, LanesOfAPacedRankDoNotShareItsCore) {
  auto setup = default_setup();
  setup.mesh.dp = 2;
  Machine machine = uncalibrated_local_machine();
  machine.lanes_share_core = true;
  const Result<Prediction> shared = predict(setup, machine, true);
  machine.lanes_share_core = false;
  const Result<Prediction> apart = predict(setup, machine, true);
  ASSERT_TRUE(shared.ok() && apart.ok());
  const Prediction paced = dilated(*shared, 1);
  EXPECT_NEAR(paced.step.seconds, apart->step.seconds, 1e-6 * apart->step.seconds);
}

// A computer whose cores are `slowness` times as slow as the assumed ones, as if it were
// calibrated.
Machine calibrated_here(double slowness) {
  Machine here = uncalibrated_local_machine();
  here.calibrated = "2026-11-21 for a test";
  here.cores = 2;
  here.fp32_flops_per_second.value /= slowness;
  here.memory_bytes_per_second.value /= slowness;
  here.launch_seconds.value *= slowness;
  return here;
}

// Nobody has set a pace: it gives way to the cores, and says by how much.
TEST(PaceOn, ADefaultPaceIsSlowedToWhatTheCoresCanKeep) {
  const Machine quick = calibrated_here(1e-3), slow = calibrated_here(50);
  const Result<Prediction> easy = predict(default_setup(), quick, true);
  ASSERT_TRUE(easy) << easy.error().text;
  const Result<PaceChoice> kept = pace_on(*easy, quick);
  ASSERT_TRUE(kept) << kept.error().text;
  EXPECT_EQ(kept->slowed, 1);
  EXPECT_EQ(kept->factor, *pace_factor(default_setup(), quick));
  const Result<Prediction> hard = predict(default_setup(), slow, true);
  ASSERT_TRUE(hard) << hard.error().text;
  ASSERT_FALSE(can_keep_pace(*hard, *pace_factor(default_setup(), slow), slow));
  const Result<PaceChoice> slowed = pace_on(*hard, slow);
  ASSERT_TRUE(slowed) << slowed.error().text;
  EXPECT_GT(slowed->slowed, 1);
  EXPECT_DOUBLE_EQ(slowed->factor, slowed->slowed * *pace_factor(default_setup(), slow));
  EXPECT_TRUE(can_keep_pace(*hard, slowed->factor, slow));
}

TEST(PaceOn, APaceThatWasSetIsKeptOrRefusedWithOneThatFits) {
  const Machine slow = calibrated_here(50);
  parallelarium::Setup setup = default_setup();
  setup.run.pace_seconds = 0.041;
  const Result<Prediction> hard = predict(setup, slow, true);
  ASSERT_TRUE(hard) << hard.error().text;
  const Result<PaceChoice> refused = pace_on(*hard, slow);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, "pace-too-fast");
  ASSERT_EQ(refused.error().alternatives.size(), 1u);
  ASSERT_TRUE(set_field(setup, refused.error().field, refused.error().alternatives.front()));
  const Result<PaceChoice> kept = pace_on(*predict(setup, slow, true), slow);
  ASSERT_TRUE(kept) << kept.error().text;
  EXPECT_EQ(kept->slowed, 1);
}

}  // namespace
}  // namespace parallelarium
