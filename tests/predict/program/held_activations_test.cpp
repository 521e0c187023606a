// SPDX-License-Identifier: Apache-2.0
// Activations by layer add up to the memory over time, and pipelines hold as many micro-batches as
// their papers say.
#include "engine/plan/program/holdings/held_activations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/predict/built.h"

namespace parallelarium {
namespace {

Prediction predicted_activations(const std::string& schedule, int pp, int dp, int microbatches,
                                 const std::string& model = "gpt-tiny") {
  Setup setup = default_setup();
  EXPECT_TRUE(set_field(setup, "model", model).ok());
  setup.mesh = {};
  setup.mesh.pp = pp;
  setup.mesh.dp = dp;
  setup.schedule = schedule;
  setup.microbatches = microbatches;
  const Result<Prediction> prediction = predict(setup, uncalibrated_local_machine(), true);
  EXPECT_TRUE(prediction) << (prediction ? "" : prediction.error().text);
  return *prediction;
}

std::int64_t bytes_of_all(const std::vector<HeldActivations>& all) {
  return std::accumulate(
      all.begin(), all.end(), std::int64_t{0},
      [](std::int64_t sum, const HeldActivations& each) { return sum + each.bytes; });
}

TEST(HeldActivations, BytesOfAllPlacesAreThoseOfTheMemoryOverTime) {
  for (const char* model : {"gpt-tiny", "llama-tiny", "moe-tiny"})
    for (const int pp : {1, 2, 4}) {
      const Prediction of = predicted_activations("1f1b", pp, 2, 3, model);
      for (int rank = 0; rank < int(of.program.ranks.size()); ++rank) {
        const ActivationsHeld held(of.program, of.timeline, rank);
        int some = 0;
        for (const MemoryPoint& point : memory_over_time(of.program, of.timeline, rank)) {
          const std::vector<HeldActivations> now = held.at(point.time);
          const std::int64_t all = point.bytes[std::size_t(Category::kActivations)];
          EXPECT_EQ(bytes_of_all(now), all) << model << pp << ' ' << point.time.count();
          some += all > 0;
          for (const HeldActivations& each : now) {
            EXPECT_NE(each.place, HeldPlace::kStage);
            EXPECT_LE(int(each.microbatches.size()), held.most_microbatches());
            if (each.place != HeldPlace::kLayer) continue;
            const auto& layers = of.program.ranks[std::size_t(rank)].layers;
            EXPECT_TRUE(std::find(layers.begin(), layers.end(), each.layer) != layers.end());
          }
        }
        EXPECT_GT(some, 10);
      }
    }
}

// Micro-batches of the last layer of each rank, at most.
std::vector<int> most_of_last_layers(const Prediction& of) {
  std::vector<int> most;
  for (int rank = 0; rank < int(of.program.ranks.size()); ++rank) {
    const ActivationsHeld held(of.program, of.timeline, rank);
    most.push_back(0);
    for (const MemoryPoint& point : memory_over_time(of.program, of.timeline, rank))
      for (const HeldActivations& each : held.at(point.time))
        if (each.layer == of.program.ranks[std::size_t(rank)].layers.back())
          most.back() = std::max(most.back(), int(each.microbatches.size()));
  }
  return most;
}

// Source: Narayanan et al. 2021, section 2.2: GPipe stashes all micro-batches, 1F1B of stage s of p
// no more than p - s.
TEST(HeldActivations, PipelinesHoldAsManyMicrobatchesAsTheirPapersSay) {
  EXPECT_EQ(most_of_last_layers(predicted_activations("1f1b", 4, 1, 8)),
            (std::vector<int>{4, 3, 2, 1}));
  EXPECT_EQ(most_of_last_layers(predicted_activations("1f1b", 4, 1, 3)),
            (std::vector<int>{3, 3, 2, 1}));
  EXPECT_EQ(most_of_last_layers(predicted_activations("gpipe", 4, 1, 6)),
            (std::vector<int>{6, 6, 6, 6}));
}

}  // namespace
}  // namespace parallelarium
