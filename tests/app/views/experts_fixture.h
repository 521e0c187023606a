// SPDX-License-Identifier: GPL-3.0-or-later
// Small models with experts, their routing and picture, and runs made up to have counted it.
#pragma once

#include "app/views/experts/experts_view.h"
#include "tests/app/pipeline/pipeline_fixture.h"

namespace parallelarium {

inline Setup moe_setup(int ranks, int experts = 8, int top_k = 2, double capacity = 1.25,
                       double skew = 0.2) {
  Setup setup = default_setup();
  const auto set = [&](const char* key, const std::string& value) {
    const Result<void> done = set_field(setup, key, value);
    EXPECT_TRUE(done.ok()) << key << ": " << (done.ok() ? "" : done.error().text);
  };
  set("model", "moe-tiny");
  set("pp", "1");
  set("schedule", "1f1b");
  set("microbatches", "2");
  set("dp", std::to_string(ranks));
  set("ep", std::to_string(ranks));
  set("experts", std::to_string(experts));
  set("top-k", std::to_string(top_k));
  set("capacity", std::to_string(capacity));
  set("skew", std::to_string(skew));
  EXPECT_TRUE(validate(setup).empty()) << validate(setup).front().text;
  return setup;
}

inline RoutedLayer layer_of(const Setup& setup) {
  Result<RoutedLayer> made = routed(setup, {});
  EXPECT_TRUE(made.ok());
  return std::move(*made);
}

inline ExpertPicture picture_of(const Setup& setup, double run_factor = 0) {
  ExpertPicture picture;
  picture.routed = std::make_shared<const RoutedLayer>(layer_of(setup));
  const auto prediction = predicted(setup);
  const auto times = [&](const Timeline& timeline) {
    const auto made = layer_times(*prediction, timeline, *picture.routed);
    EXPECT_TRUE(made.has_value());
    return std::make_shared<const LayerTimes>(*made);
  };
  picture.predicted = times(prediction->timeline);
  picture.predicted_word = QStringLiteral("predicted");
  picture.no_run = QStringLiteral("Not run yet: press Run to see your ranks do it");
  if (run_factor > 0)
    picture.observed = times(stretched(prediction->timeline, run_factor, Source::kPaced));
  return picture;
}

// What a run could have counted in one step: `hot` of all choices for expert 0, the others even as
// far as numbers divide.
inline Routing counted_step(const Setup& setup, double hot) {
  Routing step;
  const Experts& experts = setup.model.experts;
  const std::int64_t choices = setup.micro_batch * setup.model.sequence * experts.top_k;
  const std::int64_t capacity = expert_capacity(experts, setup.micro_batch * setup.model.sequence);
  for (int layer = experts.first_dense; layer < setup.model.layers; ++layer)
    for (int microbatch = 0; microbatch < setup.microbatches; ++microbatch)
      for (int replica = 0; replica < setup.mesh.dp; ++replica) {
        RoutedMicrobatch entry;
        entry.layer = layer;
        entry.microbatch = microbatch;
        entry.replica = replica;
        std::vector<std::int64_t>& chosen = entry.load.chosen;
        const auto first = static_cast<std::int64_t>(hot * static_cast<double>(choices));
        const std::int64_t each = (choices - first) / (experts.count - 1);
        chosen.assign(static_cast<std::size_t>(experts.count), each);
        chosen[0] = choices - each * (experts.count - 1);
        entry.load.kept = chosen;
        if (capacity > 0)
          for (std::int64_t& kept : entry.load.kept) kept = std::min(kept, capacity);
        entry.load.balance = 1 + hot;
        step.entries.push_back(std::move(entry));
      }
  sort_entries(step);
  return step;
}

// A run of `setup` whose training steps sent those shares of all choices to expert 0.
inline RunRecord made_up_expert_run(const Setup& setup, const std::vector<double>& hot) {
  RunRecord run = made_up_run(setup, 1.1);
  run.observation.timeline.step = 1;  // the first after the warm-up
  for (const double share : hot) run.observation.routing.push_back(counted_step(setup, share));
  return run;
}

}  // namespace parallelarium
