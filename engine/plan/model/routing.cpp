// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/model/routing.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <tuple>

namespace parallelarium {

namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// The indices of the `count` largest, largest first, the lower index where they are equal.
std::vector<int> largest(std::span<const double> values, int count) {
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](int a, int b) {
    return values[at(a)] != values[at(b)] ? values[at(a)] > values[at(b)] : a < b;
  });
  order.resize(at(count));
  return order;
}

// Leaves out the experts of groups that a token may not use.
void limit_groups(const Experts& experts, std::vector<double>& selection) {
  if (experts.groups == 0 || experts.group_limit == experts.groups) return;
  const int width = experts.count / experts.groups;
  std::vector<double> sums;
  for (int group = 0; group < experts.groups; ++group) {
    const std::span<const double> own(selection.data() + group * width, at(width));
    double sum = 0;
    for (const int expert : largest(own, std::min(2, width))) sum += own[at(expert)];
    sums.push_back(sum);
  }
  std::vector<bool> used(at(experts.groups));
  for (const int group : largest(sums, experts.group_limit)) used[at(group)] = true;
  for (int expert = 0; expert < experts.count; ++expert) {
    if (!used[at(expert / width)]) selection[at(expert)] = -std::numeric_limits<double>::infinity();
  }
}

}  // namespace

std::int64_t RouterLoad::dropped() const {
  return std::accumulate(chosen.begin(), chosen.end(), std::int64_t{0}) -
         std::accumulate(kept.begin(), kept.end(), std::int64_t{0});
}

std::int64_t expert_capacity(const Experts& experts, std::int64_t tokens) {
  if (experts.capacity == 0) return 0;
  const double even = static_cast<double>(tokens * experts.top_k) / experts.count;
  return static_cast<std::int64_t>(std::ceil(even * experts.capacity));
}

bool is_skewed(std::int64_t token, double skew) {
  const auto t = static_cast<double>(token);
  return std::floor((t + 1) * skew) > std::floor(t * skew);
}

TokenRoutes route_tokens(const Experts& experts, std::span<const double> logits,
                         std::span<const double> bias, double skew) {
  const int E = experts.count, k = experts.top_k;
  const auto T = static_cast<std::int64_t>(logits.size()) / E;
  const std::int64_t capacity = expert_capacity(experts, T);
  TokenRoutes routes;
  RouterLoad& load = routes.load;
  load.chosen.assign(at(E), 0);
  load.kept.assign(at(E), 0);
  std::vector<double> affinity(at(E)), selection, mean(at(E), 0.0);
  for (std::int64_t token = 0; token < T; ++token) {
    const std::span<const double> row = logits.subspan(at(token * E), at(E));
    const double most = *std::max_element(row.begin(), row.end());
    double exponentials = 0;
    for (const double logit : row) exponentials += std::exp(logit - most);
    const double log_sum = most + std::log(exponentials);
    load.z += log_sum * log_sum;
    double sum = 0;
    for (int expert = 0; expert < E; ++expert) {
      const double logit = row[at(expert)];
      affinity[at(expert)] = experts.router == Router::kSoftmax ? std::exp(logit - log_sum)
                                                                : 1 / (1 + std::exp(-logit));
      sum += affinity[at(expert)];
    }
    selection = affinity;
    for (std::size_t expert = 0; expert < bias.size(); ++expert) selection[expert] += bias[expert];
    if (is_skewed(token, skew)) selection[0] = std::numeric_limits<double>::infinity();
    limit_groups(experts, selection);
    double chosen_sum = 0;
    const std::vector<int> chosen = largest(selection, k);
    for (const int expert : chosen) chosen_sum += affinity[at(expert)];
    for (const int expert : chosen) {
      const bool fits = capacity == 0 || load.kept[at(expert)] < capacity;
      ++load.chosen[at(expert)];
      load.kept[at(expert)] += fits ? 1 : 0;
      routes.expert.push_back(expert);
      routes.gate.push_back(k == 1 ? affinity[at(expert)] : affinity[at(expert)] / chosen_sum);
      routes.kept.push_back(fits ? 1 : 0);
    }
    for (int expert = 0; expert < E; ++expert) mean[at(expert)] += affinity[at(expert)] / sum;
  }
  for (int expert = 0; expert < E; ++expert) {
    const double share = static_cast<double>(load.chosen[at(expert)]) /
                         static_cast<double>(std::max<std::int64_t>(1, T * k));
    load.balance +=
        E * share * mean[at(expert)] / static_cast<double>(std::max<std::int64_t>(1, T));
  }
  load.z /= static_cast<double>(std::max<std::int64_t>(1, T));
  return routes;
}

void update_bias(std::vector<double>& bias, std::span<const std::int64_t> chosen, double rate) {
  assert(bias.size() == chosen.size());
  const auto all = std::accumulate(chosen.begin(), chosen.end(), std::int64_t{0});
  const auto experts = static_cast<std::int64_t>(chosen.size());
  for (std::size_t expert = 0; expert < bias.size(); ++expert) {
    const std::int64_t over = chosen[expert] * experts - all;
    if (over != 0) bias[expert] += over > 0 ? -rate : rate;
  }
}

std::vector<double> even_logits(const Experts& experts, std::int64_t tokens, std::uint64_t seed) {
  constexpr double kAssigned = 4;  // above all noise
  const int E = experts.count, k = experts.top_k;
  std::mt19937_64 random(seed);  // the same numbers on every computer
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
  };
  std::vector<double> logits(at(tokens * E));
  for (double& logit : logits) logit = static_cast<double>(random() >> 11) * 0x1p-53;
  std::vector<std::int64_t> order(at(tokens));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t i = tokens - 1; i > 0; --i) std::swap(order[at(i)], order[at(below(i + 1))]);
  // Experts are dealt out round by round. Where a token's choices would lie in two rounds they
  // could be the same one, so then the rounds are alike.
  std::vector<int> round(at(E));
  std::iota(round.begin(), round.end(), 0);
  std::int64_t slot = 0;
  for (const std::int64_t token : order) {
    for (int choice = 0; choice < k; ++choice, ++slot) {
      if (slot % E == 0 && E % k == 0) {
        for (int i = E - 1; i > 0; --i) std::swap(round[at(i)], round[at(below(i + 1))]);
      }
      logits[at(token * E + round[at(slot % E)])] += kAssigned;
    }
  }
  return logits;
}

ExpertHome home_of_expert(int expert, int experts, int ep, ExpertPlacement placement) {
  const int each = experts / ep;
  if (placement == ExpertPlacement::kBlocked) return {expert / each, expert % each};
  return {expert % ep, expert / ep};
}

int expert_at(ExpertHome home, int experts, int ep, ExpertPlacement placement) {
  return placement == ExpertPlacement::kBlocked ? home.rank * (experts / ep) + home.place
                                                : home.place * ep + home.rank;
}

void sort_entries(Routing& routing) {
  const auto key = [](const RoutedMicrobatch& entry) {
    return std::tuple(entry.layer, entry.microbatch, entry.replica);
  };
  std::vector<RoutedMicrobatch>& entries = routing.entries;
  std::stable_sort(entries.begin(), entries.end(),
                   [&](const auto& a, const auto& b) { return key(a) < key(b); });
  entries.erase(std::unique(entries.begin(), entries.end(),
                            [&](const auto& a, const auto& b) { return key(a) == key(b); }),
                entries.end());
}

const RouterLoad* find_load(const Routing& routing, int layer, int microbatch, int replica) {
  const auto key = std::tuple(layer, microbatch, replica);
  const auto found =
      std::lower_bound(routing.entries.begin(), routing.entries.end(), key,
                       [](const auto& entry, const auto& wanted) {
                         return std::tuple(entry.layer, entry.microbatch, entry.replica) < wanted;
                       });
  if (found == routing.entries.end() ||
      std::tuple(found->layer, found->microbatch, found->replica) != key)
    return nullptr;
  return &found->load;
}

int first_expert_layer(const Model& model) { return model.experts.first_dense; }

std::int64_t RoutedLayer::sent_bytes(int home) const {
  std::int64_t bytes = 0;
  for (int rank = 0; rank < ep; ++rank)
    bytes += rank == home ? 0 : rows[at(home)][at(rank)] * row_bytes;
  return bytes;
}

std::int64_t RoutedLayer::received_bytes(int rank) const {
  std::int64_t bytes = 0;
  for (int home = 0; home < ep; ++home)
    bytes += rank == home ? 0 : rows[at(home)][at(rank)] * row_bytes;
  return bytes;
}

Result<RoutedLayer> route_layer(const Setup& setup, int layer, int microbatch, int group,
                                const Routing* measured) {
  const Model& model = setup.model;
  const Experts& experts = model.experts;
  if (experts.count == 0 || experts.first_dense >= model.layers) {
    Message why = message("route-dense", "{} has no experts; choose moe-tiny or mixtral-8x7b.",
                          title_of(model));
    why.field = "model";
    why.alternatives = {"moe-tiny", "mixtral-8x7b"};
    return why;
  }
  if (layer < experts.first_dense || layer >= model.layers)
    return message("route-layer", "Layer {} has no experts; layers {} to {} have.", layer,
                   experts.first_dense, model.layers - 1);
  if (microbatch < 0 || microbatch >= setup.microbatches)
    return message("route-microbatch", "There is no micro-batch {}; there are 0 to {}.", microbatch,
                   setup.microbatches - 1);
  const int ep = setup.mesh.ep, groups = setup.mesh.expert_groups();
  if (group < 0 || group >= groups)
    return message("route-group", "There is no EP group {}; there are 0 to {}.", group, groups - 1);

  RoutedLayer routed;
  routed.layer = layer;
  routed.microbatch = microbatch;
  routed.first_replica = group * ep;
  routed.measured = measured != nullptr;
  routed.skew = routed.measured ? 0 : setup.skew;
  routed.experts = experts.count;
  routed.top_k = experts.top_k;
  routed.ep = ep;
  routed.tokens = home_tokens(setup);
  routed.capacity = expert_capacity(experts, routed.tokens);
  routed.row_bytes = model.hidden * setup.precision.activation_bytes();
  for (int expert = 0; expert < experts.count; ++expert)
    routed.rank_of_expert.push_back(
        home_of_expert(expert, experts.count, ep, setup.expert_placement).rank);
  routed.rows.assign(at(ep), std::vector<std::int64_t>(at(ep), 0));
  routed.load.assign(at(experts.count), 0);
  routed.dropped = routed.load;
  const bool is_large = ep * routed.tokens * experts.count > kMostAffinities;
  for (int home = 0; home < ep; ++home) {
    const int replica = routed.first_replica + home;
    if (measured == nullptr && home > 0 && is_large) {
      routed.homes.push_back(routed.homes.front());
    } else if (measured == nullptr) {
      std::seed_seq seeds{setup.run.seed, static_cast<std::uint64_t>(replica)};
      std::uint32_t seed[2];
      seeds.generate(seed, seed + 2);
      const std::vector<double> logits = even_logits(
          experts, routed.tokens, (std::uint64_t{seed[0]} << 32) | std::uint64_t{seed[1]});
      routed.homes.push_back(route_tokens(experts, logits, {}, setup.skew));
    } else {
      const RouterLoad* load = find_load(*measured, layer, microbatch, replica);
      const auto sum = [](const std::vector<std::int64_t>& counts) {
        return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
      };
      if (load == nullptr || load->chosen.size() != at(experts.count) ||
          sum(load->chosen) != routed.tokens * experts.top_k)
        return message("route-measured",
                       "The measured routing is not of this Setup: it holds no {} choices among {} "
                       "experts for layer {}, micro-batch {}, replica {}.",
                       routed.tokens * experts.top_k, experts.count, layer, microbatch, replica);
      routed.homes.emplace_back().load = *load;
    }
    const RouterLoad& load = routed.homes.back().load;
    for (int expert = 0; expert < experts.count; ++expert) {
      routed.rows[at(home)][at(routed.rank_of_expert[at(expert)])] += load.kept[at(expert)];
      routed.load[at(expert)] += load.kept[at(expert)];
      routed.dropped[at(expert)] += load.chosen[at(expert)] - load.kept[at(expert)];
    }
    routed.balance_loss += setup.balance_loss * load.balance / ep;
    routed.z_loss += setup.z_loss * load.z / ep;
  }
  return routed;
}

}  // namespace parallelarium
