// SPDX-License-Identifier: Apache-2.0
// `route`: which experts the tokens of one micro-batch go to in one layer, what travels, how full
// experts are, and the balance terms; by the Setup's skew or as a run measured it.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "engine/cli/commands/command.h"
#include "engine/cli/options/setup_options.h"
#include "engine/cli/text/table.h"
#include "engine/plan/model/routing.h"
#include "engine/plan/text/units.h"

namespace parallelarium {
namespace {

struct RouteOptions {
  SetupOptions setup;
  std::string routing;
  std::optional<int> layer;
  int microbatch = 0, group = 0;
  bool json = false;
};

std::string text_of(const RoutedLayer& layer, const Setup& setup) {
  std::string text = fmt::format(
      "Layer {}, micro-batch {}, EP group of data-parallel ranks {} to {} ({}).\n"
      "{} tokens on each, {} of {} experts for a token, {}.\n\n",
      layer.layer, layer.microbatch, layer.first_replica, layer.first_replica + layer.ep - 1,
      layer.measured ? "measured" : fmt::format("predicted, skew {}", three_digits(setup.skew)),
      layer.tokens, layer.top_k, layer.experts,
      layer.capacity > 0 ? fmt::format("an expert takes at most {} tokens of each", layer.capacity)
                         : std::string("dropless"));
  Table experts({">expert", ">rank", ">tokens", ">dropped", ">of even"});
  const double even = static_cast<double>(layer.ep * layer.tokens * layer.top_k) / layer.experts;
  for (std::size_t expert = 0; expert < layer.load.size(); ++expert)
    experts.add({std::to_string(expert), std::to_string(layer.rank_of_expert[expert]),
                 std::to_string(layer.load[expert]), std::to_string(layer.dropped[expert]),
                 percent_text(static_cast<double>(layer.load[expert]) / even)});
  text += experts.text();
  if (layer.ep > 1) {
    std::vector<std::string> titles = {"home"};
    for (int rank = 0; rank < layer.ep; ++rank) titles.push_back(fmt::format(">to {}", rank));
    titles.insert(titles.end(), {">sent", ">received"});
    Table rows(titles);
    for (int home = 0; home < layer.ep; ++home) {
      std::vector<std::string> cells = {std::to_string(home)};
      for (const std::int64_t count : layer.rows[static_cast<std::size_t>(home)])
        cells.push_back(std::to_string(count));
      cells.push_back(bytes_text(static_cast<double>(layer.sent_bytes(home))));
      cells.push_back(bytes_text(static_cast<double>(layer.received_bytes(home))));
      rows.add(cells);
    }
    text += "\nTokens from home to rank, each way; the backward sends as much both ways:\n" +
            rows.text();
  }
  if (!layer.knows_balance())
    return text +
           fmt::format(
               "\nThe balance loss is not known: a run tells it, see --routing. Z-loss {}.\n",
               three_digits(layer.z_loss));
  return text + fmt::format("\nBalance loss {} ({} when even), z-loss {}.\n",
                            three_digits(layer.balance_loss), three_digits(setup.balance_loss),
                            three_digits(layer.z_loss));
}

}  // namespace

Result<Routing> read_routing(const std::string& path, const Setup& setup) {
  const Result<nlohmann::json> json = read_json(path);
  if (!json) return json.error();
  const bool whole = json->is_object() && json->contains("routing");
  if (whole && json->contains("setup")) {
    const nlohmann::json ran = json->at("setup").flatten(), wanted = to_json(setup).flatten();
    for (const auto& [key, value] : wanted.items()) {
      const bool decides = key.starts_with("/model/") || key == "/mesh/dp" || key == "/mesh/cp" ||
                           key == "/mesh/ep" || key == "/micro_batch" || key == "/microbatches";
      const auto theirs = ran.find(key);
      if (!decides || theirs == ran.end() || *theirs == value) continue;
      return message("routing-setup",
                     "{} holds the routing of another Setup: its {} is {}, here it is {}.", path,
                     key.substr(key.rfind('/') + 1), theirs->dump(), value.dump());
    }
  }
  return routing_from_json(whole ? json->at("routing") : *json);
}

void add_route(Commands& commands) {
  CLI::App* command = commands.add(
      "route", "show which experts tokens go to, what travels and what is dropped",
      "  parallelarium-engine route --model moe-tiny --dp 4 --ep 4\n"
      "  parallelarium-engine route --model moe-tiny --dp 4 --ep 4 --skew 0.5 --capacity 1.25\n"
      "  parallelarium-engine route --model mixtral-8x7b --dp 8 --ep 8 --expert-placement "
      "round-robin --json\n"
      "  parallelarium-engine run --model moe-tiny --dp 4 --ep 4 --json > run.json\n"
      "  parallelarium-engine route --model moe-tiny --dp 4 --ep 4 --routing run.json --layer 3\n");
  auto options = std::make_shared<RouteOptions>();
  command->add_flag("--json", options->json, "print JSON");
  command->add_option("--layer", options->layer, "which layer (default: the first with experts)")
      ->option_text("L");
  command->add_option("--at", options->microbatch, "which micro-batch (default: 0)")
      ->option_text("M");
  command->add_option("--group", options->group, "which EP group of the replicas (default: 0)")
      ->option_text("G");
  command->add_option("--routing", options->routing, "what a run measured: its `run --json`")
      ->option_text("FILE");
  options->setup.add_to(*command);
  commands.set_body(command, [options](Progress& progress) {
    std::string read_text;
    const Result<Situation> situation = options->setup.situation(&read_text);
    if (!situation) return Outcome::invalid(situation.error());
    const Setup& setup = situation->setup;
    Result<Routing> measured = Routing{};
    if (!options->routing.empty()) measured = read_routing(options->routing, setup);
    if (!measured) return Outcome::invalid(measured.error());
    const int layer = options->layer.value_or(first_expert_layer(setup.model));
    const Result<RoutedLayer> routed =
        route_layer(setup, layer, options->microbatch, options->group,
                    options->routing.empty() ? nullptr : &*measured);
    if (!routed) return Outcome::invalid(routed.error());
    progress.note(options->setup.assumed_sentence(read_text));
    return Outcome::done(options->json ? json_text(to_json(*routed)) : text_of(*routed, setup));
  });
}

}  // namespace parallelarium
