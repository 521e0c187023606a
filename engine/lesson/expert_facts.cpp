// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/lesson/play.h"
#include "engine/plan/model/balance.h"

namespace parallelarium {

nlohmann::json expert_facts(const Setup& setup, const Routing* step) {
  const Model& model = setup.model;
  if (model.experts.count == 0 || model.experts.first_dense >= model.layers) return nullptr;
  const int first = model.experts.first_dense;
  // A skew routes all layers and micro-batches alike.
  const int layers = step == nullptr ? first + 1 : model.layers;
  const int microbatches = step == nullptr ? 1 : setup.microbatches;
  // Where all groups have more affinities than a prediction has time for, one stands for all.
  const std::int64_t affinities =
      home_tokens(setup) * model.experts.count * setup.mesh.expert_row();
  const bool one_for_all = step == nullptr && affinities > kMostAffinities;
  const int groups = one_for_all ? 1 : setup.mesh.expert_groups();
  double exchanges = 0, fullest = 0, balance = 0, bytes = 0;
  double lines = 0, fullest_expert = 0;  // layers and groups
  std::int64_t choices = 0, dropped = 0, most_kept = 0, capacity = 0;
  for (int layer = first; layer < layers; ++layer)
    for (int group = 0; group < groups; ++group) {
      std::vector<std::int64_t> chosen(static_cast<std::size_t>(model.experts.count), 0);
      for (int microbatch = 0; microbatch < microbatches; ++microbatch) {
        const Result<RoutedLayer> routed = route_layer(setup, layer, microbatch, group, step);
        if (!routed) return nullptr;
        ++exchanges;
        fullest += fullest_over_mean(*routed);
        balance += balance_of(*routed);
        bytes += static_cast<double>(dispatched_bytes(*routed));
        choices += assignments(*routed);
        dropped += dropped_of(*routed);
        capacity = routed->capacity;
        for (const TokenRoutes& home : routed->homes) {
          const std::vector<std::int64_t>& kept = home.load.kept;
          most_kept = std::max(most_kept, *std::max_element(kept.begin(), kept.end()));
          for (std::size_t expert = 0; expert < chosen.size(); ++expert)
            chosen[expert] += home.load.chosen[expert];
        }
      }
      ++lines;
      fullest_expert += largest_over_mean(chosen);
    }
  return {{"fullest", fullest / exchanges},
          {"fullest_expert", fullest_expert / lines},
          {"balance", balance / exchanges},
          {"dispatched_bytes", bytes / exchanges},
          {"dropped", static_cast<double>(dropped) / static_cast<double>(choices)},
          {"most_kept", most_kept},
          {"capacity", capacity}};
}

}  // namespace parallelarium
