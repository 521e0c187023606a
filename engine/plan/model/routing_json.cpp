// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/plan/model/routing.h"

namespace parallelarium {

namespace {

nlohmann::json load_json(const RouterLoad& load) {
  return {{"chosen", load.chosen}, {"kept", load.kept}, {"balance", load.balance}, {"z", load.z}};
}

Message not_routing(const char* key) {
  return message(
      "routing-file",
      "This is no routing of a run: “{}” is missing or not of the form that `run --json` "
      "writes.",
      key);
}

bool read_counts(const nlohmann::json& entry, const char* key, std::vector<std::int64_t>& into) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_array()) return false;
  for (const nlohmann::json& count : *found) {
    if (!count.is_number_integer() || count < 0) return false;
    into.push_back(count.get<std::int64_t>());
  }
  return true;
}

bool read_index(const nlohmann::json& entry, const char* key, int& into) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_number_integer() || *found < 0 || *found > 1 << 24)
    return false;
  into = found->get<int>();
  return true;
}

bool read_number(const nlohmann::json& entry, const char* key, double& into) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_number()) return false;
  into = found->get<double>();
  return true;
}

}  // namespace

nlohmann::json to_json(const Routing& routing) {
  nlohmann::json entries = nlohmann::json::array();
  for (const RoutedMicrobatch& entry : routing.entries) {
    nlohmann::json json = load_json(entry.load);
    json["layer"] = entry.layer;
    json["microbatch"] = entry.microbatch;
    json["replica"] = entry.replica;
    entries.push_back(std::move(json));
  }
  return entries;
}

nlohmann::json to_json(const std::vector<Routing>& steps) {
  nlohmann::json json = nlohmann::json::array();
  for (const Routing& step : steps) json.push_back(to_json(step));
  return json;
}

Result<Routing> routing_from_json(const nlohmann::json& json) {
  Routing routing;
  if (!json.is_array()) return not_routing("routing");
  for (const nlohmann::json& from : json) {
    if (!from.is_object()) return not_routing("routing");
    RoutedMicrobatch entry;
    for (const auto& [key, into] : {std::pair{"layer", &entry.layer},
                                    {"microbatch", &entry.microbatch},
                                    {"replica", &entry.replica}})
      if (!read_index(from, key, *into)) return not_routing(key);
    RouterLoad& load = entry.load;
    if (!read_counts(from, "chosen", load.chosen)) return not_routing("chosen");
    if (!read_counts(from, "kept", load.kept) || load.kept.size() != load.chosen.size())
      return not_routing("kept");
    for (std::size_t expert = 0; expert < load.kept.size(); ++expert)
      if (load.kept[expert] > load.chosen[expert]) return not_routing("kept");
    if (!read_number(from, "balance", load.balance)) return not_routing("balance");
    if (!read_number(from, "z", load.z)) return not_routing("z");
    routing.entries.push_back(std::move(entry));
  }
  sort_entries(routing);
  return routing;
}

nlohmann::json to_json(const RoutedLayer& layer) {
  nlohmann::json homes = nlohmann::json::array(), sent = nlohmann::json::array(),
                 received = nlohmann::json::array();
  const auto k = static_cast<std::size_t>(layer.top_k);
  for (int rank = 0; rank < layer.ep; ++rank) {
    const TokenRoutes& routes = layer.homes[static_cast<std::size_t>(rank)];
    nlohmann::json home = load_json(routes.load);
    home["dropped"] = routes.load.dropped();
    nlohmann::json tokens = nlohmann::json::array();
    for (std::size_t first = 0; first < routes.expert.size(); first += k) {
      nlohmann::json choices = nlohmann::json::array();
      for (std::size_t i = first; i < first + k; ++i)
        choices.push_back({{"expert", routes.expert[i]},
                           {"gate", routes.gate[i]},
                           {"kept", routes.kept[i] != 0}});
      tokens.push_back(std::move(choices));
    }
    if (!tokens.empty()) home["tokens"] = std::move(tokens);
    homes.push_back(std::move(home));
    sent.push_back(layer.sent_bytes(rank));
    received.push_back(layer.received_bytes(rank));
  }
  return {{"layer", layer.layer},
          {"microbatch", layer.microbatch},
          {"first_replica", layer.first_replica},
          {"source", layer.measured ? "measured" : "predicted"},
          {"experts", layer.experts},
          {"top_k", layer.top_k},
          {"ep", layer.ep},
          {"tokens", layer.tokens},
          {"capacity", layer.capacity},
          {"row_bytes", layer.row_bytes},
          {"rank_of_expert", layer.rank_of_expert},
          {"rows", layer.rows},
          {"sent_bytes", sent},
          {"received_bytes", received},
          {"load", layer.load},
          {"dropped", layer.dropped},
          {"balance_loss",
           layer.knows_balance() ? nlohmann::json(layer.balance_loss) : nlohmann::json()},
          {"z_loss", layer.z_loss},
          {"homes", homes}};
}

}  // namespace parallelarium
