// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/model/balance.h"

#include <algorithm>
#include <numeric>

namespace parallelarium {

namespace {

std::int64_t sum_of(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

}  // namespace

double largest_over_mean(const std::vector<std::int64_t>& counts) {
  const std::int64_t sum = sum_of(counts);
  if (sum == 0) return 1;
  const std::int64_t most = *std::max_element(counts.begin(), counts.end());
  return static_cast<double>(most) * static_cast<double>(counts.size()) / static_cast<double>(sum);
}

std::vector<std::int64_t> tokens_of_ranks(const RoutedLayer& layer) {
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(layer.ep), 0);
  for (std::size_t expert = 0; expert < layer.load.size(); ++expert)
    tokens[static_cast<std::size_t>(layer.rank_of_expert[expert])] += layer.load[expert];
  return tokens;
}

double fullest_over_mean(const RoutedLayer& layer) {
  return largest_over_mean(tokens_of_ranks(layer));
}

std::int64_t assignments(const RoutedLayer& layer) { return layer.tokens * layer.top_k * layer.ep; }

std::int64_t dropped_of(const RoutedLayer& layer) { return sum_of(layer.dropped); }

std::int64_t dispatched_bytes(const RoutedLayer& layer) {
  std::int64_t bytes = 0;
  for (int home = 0; home < layer.ep; ++home) bytes += layer.sent_bytes(home);
  return bytes;
}

double balance_of(const RoutedLayer& layer) {
  double sum = 0;
  for (const TokenRoutes& home : layer.homes) sum += home.load.balance;
  return layer.homes.empty() ? 1 : sum / static_cast<double>(layer.homes.size());
}

std::optional<LayerBalance> balance_of_layer(const Routing& step, int layer, int first_replica,
                                             int replicas) {
  LayerBalance of;
  std::vector<std::int64_t> chosen;
  double balance = 0;
  int entries = 0;
  for (const RoutedMicrobatch& entry : step.entries) {
    const int replica = entry.replica - first_replica;
    if (entry.layer != layer || replica < 0 || replica >= replicas) continue;
    chosen.resize(std::max(chosen.size(), entry.load.chosen.size()), 0);
    for (std::size_t expert = 0; expert < entry.load.chosen.size(); ++expert)
      chosen[expert] += entry.load.chosen[expert];
    balance += entry.load.balance;
    of.dropped += entry.load.dropped();
    ++entries;
  }
  if (entries == 0 || chosen.empty()) return std::nullopt;
  of.fullest = largest_over_mean(chosen);
  of.balance = balance / entries;
  of.choices = sum_of(chosen);
  return of;
}

}  // namespace parallelarium
