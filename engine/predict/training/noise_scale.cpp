// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/training/noise_scale.h"

#include <algorithm>
#include <cassert>
#include <nlohmann/json.hpp>
#include <vector>

namespace parallelarium {

std::optional<double> NoiseScale::sequences() const {
  if (gradient_squared <= 0) return std::nullopt;
  return std::max(0.0, noise / gradient_squared);
}

std::optional<NoiseScale> noise_scale_of(const Observation& observed) {
  const Setup& setup = observed.setup;
  const Mesh& mesh = setup.mesh;
  if (mesh.dp < 2 || mesh.ranks() != mesh.dp || mesh.ep > 1) return std::nullopt;
  if (observed.ranks_state.size() != static_cast<std::size_t>(mesh.dp) ||
      observed.gradient_norms.empty())
    return std::nullopt;
  // A rank's gradients are its share of the mean over all tokens.
  double own = 0;
  for (const RankState& rank : observed.ranks_state) {
    if (!rank.gradient_norm) return std::nullopt;
    const double norm = *rank.gradient_norm * mesh.dp;
    own += norm * norm / mesh.dp;
  }
  const double all = observed.gradient_norms.back() * observed.gradient_norms.back();
  NoiseScale found;
  found.small = std::int64_t{setup.microbatches} * setup.micro_batch;
  found.big = found.small * mesh.dp;
  found.sequence = setup.model.sequence;
  const auto small = static_cast<double>(found.small), big = static_cast<double>(found.big);
  found.gradient_squared = (big * all - small * own) / (big - small);
  found.noise = (own - all) / (1 / small - 1 / big);
  return found;
}

NoiseScale average(std::span<const NoiseScale> runs) {
  assert(!runs.empty());
  NoiseScale mean = runs.front();
  mean.gradient_squared = mean.noise = 0;
  for (const NoiseScale& run : runs) {
    mean.gradient_squared += run.gradient_squared / static_cast<double>(runs.size());
    mean.noise += run.noise / static_cast<double>(runs.size());
  }
  return mean;
}

nlohmann::json to_json(std::span<const NoiseScale> runs) {
  const auto number = [](std::optional<double> value) {
    return value ? nlohmann::json(*value) : nlohmann::json();
  };
  const NoiseScale mean = average(runs);
  nlohmann::json each = nlohmann::json::array();
  std::vector<double> known;
  for (const NoiseScale& run : runs) {
    each.push_back(number(run.sequences()));
    if (run.sequences()) known.push_back(*run.sequences());
  }
  nlohmann::json json{{"sequences", number(mean.sequences())},
                      {"tokens", nullptr},
                      {"gradient_squared", mean.gradient_squared},
                      {"noise", mean.noise},
                      {"small_batch", mean.small},
                      {"big_batch", mean.big},
                      {"runs", std::move(each)},
                      {"least", nullptr},
                      {"most", nullptr}};
  if (mean.sequences()) json["tokens"] = *mean.sequences() * static_cast<double>(mean.sequence);
  if (known.size() == runs.size()) {
    json["least"] = *std::min_element(known.begin(), known.end());
    json["most"] = *std::max_element(known.begin(), known.end());
  }
  return json;
}

}  // namespace parallelarium
