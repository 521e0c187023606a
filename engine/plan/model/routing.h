// SPDX-License-Identifier: Apache-2.0
// Which token goes to which expert, and what follows: gate weights, drops, loads, what travels
// between the ranks of an EP group, and the balance terms. Pure functions; the kernels of the
// engine compute the same in fp32. Routing changes sizes of a Program, never its structure.
//
// Capacity, drops and balance terms count one micro-batch of one data-parallel rank, whatever EP
// is. So a token's fate does not depend on where experts are. If each TP rank sends its own tokens
// to whole experts, it is a home by itself, and capacity counts its tokens.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "engine/plan/setup/setup.h"

namespace parallelarium {

// What one router did with one micro-batch of one home. A home is a data-parallel rank. If experts
// are whole, each of its TP ranks is a home that sends its own tokens.
struct RouterLoad {
  std::vector<std::int64_t> chosen;  // tokens that chose each expert, [E]
  std::vector<std::int64_t> kept;    // tokens that each expert's capacity let in, [E]
  // E sum f_i P_i with f_i the share of choices and P_i the mean normalised affinity: 1 when even.
  // The balance loss is alpha times this. Source: Fedus et al. 2021 (Switch), eq. (4) to (6);
  // DeepSeek-AI 2024 (V3), eq. (17) to (20), counts likewise.
  double balance = 0;
  // The mean squared log-sum-exp of a token's logits. Source: Zoph et al. 2022 (ST-MoE), eq. (5).
  double z = 0;

  std::int64_t dropped() const;
  bool operator==(const RouterLoad&) const = default;
};

// The same, token by token.
struct TokenRoutes {
  RouterLoad load;
  std::vector<int> expert;         // [T, k], the largest affinity first
  std::vector<double> gate;        // [T, k], what an expert's output is multiplied with
  std::vector<std::uint8_t> kept;  // [T, k], 0: dropped
};

// ceil(tokens k / E x factor): how many tokens one expert takes of one micro-batch of one
// data-parallel rank. 0: nothing is dropped. Source: Megatron-LM, moe_utils.get_capacity.
std::int64_t expert_capacity(const Experts& experts, std::int64_t tokens);

// Whether `skew` sends this token of a micro-batch to expert 0. It sends floor(tokens x skew) of
// them, spread evenly.
bool is_skewed(std::int64_t token, double skew);

// Routes T tokens with these logits [T, E]. Affinities are the softmax of a token's logits, or
// their sigmoids. The top_k experts with the largest affinity + bias are chosen; of equal ones, the
// lower number. If groups are limited, only the groups with the largest sums of their two largest
// count. The bias [E] (empty: none) takes part in the choice alone. A gate is the affinity over the
// sum of the chosen ones, or the affinity itself if a token visits one expert. Tokens are kept in
// their order until an expert's capacity is full. Sources: Fedus et al. 2021; Jiang et al. 2024
// (Mixtral), section 2.2; DeepSeek-AI 2024 (V3), eq. (12) to (16) and inference/model.py.
// check_model's rules for experts must hold, and logits.size() must be a multiple of E.
TokenRoutes route_tokens(const Experts& experts, std::span<const double> logits,
                         std::span<const double> bias = {}, double skew = 0);

// Updates the bias after a step in which tokens chose each expert `chosen` times. An expert with
// more than the mean loses `rate`; one with fewer gains it. Source: DeepSeek-AI 2024 (V3), section
// 2.1.2.
void update_bias(std::vector<double>& bias, std::span<const std::int64_t> chosen, double rate);

// Logits [tokens, E] with which every expert is chosen equally often, as far as the numbers divide.
// The seed decides which token takes which.
std::vector<double> even_logits(const Experts& experts, std::int64_t tokens, std::uint64_t seed);

// The rank of the EP group, 0 to ep - 1, that holds an expert, and its place among those it holds.
struct ExpertHome {
  int rank = 0, place = 0;
};
ExpertHome home_of_expert(int expert, int experts, int ep, ExpertPlacement placement);
// The inverse of home_of_expert().
int expert_at(ExpertHome home, int experts, int ep, ExpertPlacement placement);

// Elements that a router writes for one micro-batch (pieces.h): its routes, the offsets of the
// counts of choices and of those by place among them, and its record.
constexpr std::int64_t routes_elements(std::int64_t tokens, std::int64_t experts, std::int64_t k) {
  return 2 * tokens * k + 2 * experts;
}
constexpr std::int64_t chosen_offset(std::int64_t tokens, std::int64_t k) { return 2 * tokens * k; }
constexpr std::int64_t counts_offset(std::int64_t tokens, std::int64_t experts, std::int64_t k) {
  return 2 * tokens * k + experts;
}
constexpr std::int64_t record_elements(std::int64_t experts) { return 3 * experts + 1; }

// What a run routed, or what a prediction assumes. There is one entry for every layer with experts,
// micro-batch and home of a step. `replica` is the home's place in the row out of which EP is taken
// (mesh.h). That is the data-parallel rank, unless experts are whole.
struct RoutedMicrobatch {
  int layer = 0, microbatch = 0, replica = 0;
  RouterLoad load;
  bool operator==(const RoutedMicrobatch&) const = default;
};
struct Routing {
  std::vector<RoutedMicrobatch> entries;  // ascending by layer, micro-batch, replica
  bool operator==(const Routing&) const = default;
};
// Sorts the entries. If several are of one layer, micro-batch and replica, it keeps one.
void sort_entries(Routing& routing);
const RouterLoad* find_load(const Routing& routing, int layer, int microbatch, int replica);

// One layer with experts, for one micro-batch and one EP group: what `route` shows.
struct RoutedLayer {
  int layer = 0, microbatch = 0;
  // The place of the group's first home in the row out of which EP is taken.
  int first_replica = 0;
  bool measured = false;
  double skew = 0;  // the skew by which choices are predicted; 0: they are measured
  int experts = 0, top_k = 0, ep = 1;
  std::int64_t tokens = 0;     // tokens of one home
  std::int64_t capacity = 0;   // tokens of one home that an expert takes; 0: none is dropped
  std::int64_t row_bytes = 0;  // bytes of one token on its way
  std::vector<int> rank_of_expert;
  std::vector<TokenRoutes> homes;               // [ep]; if measured, only loads are set
  std::vector<std::vector<std::int64_t>> rows;  // [home][rank], tokens that travel or stay
  std::vector<std::int64_t> load, dropped;      // [E], over all homes
  double balance_loss = 0, z_loss = 0;          // means over the homes, with their coefficients

  // A balance loss compares choices with affinities. A skew moves choices alone, so the loss means
  // nothing.
  bool knows_balance() const { return skew == 0; }
  std::int64_t sent_bytes(int home) const;  // what travels, without what stays: forward, one way
  std::int64_t received_bytes(int rank) const;  // the same for what comes
};
// A prediction must be instant. If the homes have more affinities (tokens times experts) than this
// together, the first home stands for all.
inline constexpr std::int64_t kMostAffinities = 1 << 19;

// Predicts by the Setup's skew, which is assumed alike in every layer and micro-batch, or shows
// `measured`. If the homes have more than kMostAffinities together, the first home's prediction
// stands for all. Errors: the layer has no experts; there is no such layer, micro-batch or group;
// `measured` does not hold it or has other sizes.
Result<RoutedLayer> route_layer(const Setup& setup, int layer, int microbatch, int group,
                                const Routing* measured = nullptr);
// The first layer with experts. The model must have experts.
int first_expert_layer(const Model& model);

nlohmann::json to_json(const Routing& routing);
nlohmann::json to_json(const std::vector<Routing>& steps);
Result<Routing> routing_from_json(const nlohmann::json& json);
// The object of `route --json`. The balance loss is null if it is not known.
nlohmann::json to_json(const RoutedLayer& layer);

}  // namespace parallelarium
