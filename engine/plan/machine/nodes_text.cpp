// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/machine/nodes_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/plan/machine/rates/machine_tables.h"

namespace parallelarium {
namespace {

const char* medium_name(NodeMedium medium) {
  return medium == NodeMedium::kHostMemory     ? "host-memory"
         : medium == NodeMedium::kDeviceMemory ? "device-memory"
                                               : "links";
}

nlohmann::json node_link_json(const Link& link) {
  nlohmann::json json = {{"latency_seconds", to_json(link.latency_seconds)},
                         {"bytes_per_second", to_json(link.bytes_per_second)}};
  if (!link.wire.empty()) json["wire"] = link.wire;
  return json;
}

std::string wire_word(const Nodes& nodes, bool between) {
  const Link& link = between ? nodes.between : nodes.inside;
  if (!link.wire.empty()) return link.wire;
  if (between) return "network";
  return nodes.medium == NodeMedium::kHostMemory     ? "shared memory"
         : nodes.medium == NodeMedium::kDeviceMemory ? "memory of the GPU"
                                                     : "links of the node";
}

// Which links the ways of an axis take, as keys of "links".
std::vector<const char*> links_of(const AxisReach& reach) {
  if (reach.leaving == 0) return {"inside"};
  if (reach.leaving == reach.hops) return {"between"};
  return {"inside", "between"};
}

std::string reach_text(const Mesh& mesh, const Nodes& nodes, const AxisReach& reach) {
  std::string axis(name_of(reach.axis));
  std::transform(axis.begin(), axis.end(), axis.begin(),
                 [](char c) { return char(c - 'a' + 'A'); });
  if (reach.axis == Axis::kDp && mesh.cp > 1) axis = "DP x CP";
  std::string wires;
  for (const char* link : links_of(reach))
    wires += (wires.empty() ? "" : " and ") + wire_word(nodes, link == std::string_view("between"));
  const int crossing = reach.groups - reach.inside;
  const std::string place =
      crossing == 0       ? "inside a node"
      : reach.inside == 0 ? fmt::format("across {} nodes", reach.most_nodes)
                          : fmt::format("{} of {} groups inside a node, {} across {}", reach.inside,
                                        reach.groups, crossing, reach.most_nodes);
  return fmt::format("{} {} {} ({})", axis, reach.size, place, wires);
}

}  // namespace

nlohmann::json nodes_json(const Mesh& mesh, const Nodes& nodes) {
  nlohmann::json each = nlohmann::json::array(), axes = nlohmann::json::array();
  for (int node = 0; node < nodes.count(); ++node) {
    const int first = node * nodes.devices;
    each.push_back({{"node", node},
                    {"first_rank", first},
                    {"last_rank", std::min(first + nodes.devices, nodes.ranks) - 1}});
  }
  for (const AxisReach& reach : axis_reaches(mesh, nodes))
    axes.push_back({{"axis", name_of(reach.axis)},
                    {"ranks", reach.size},
                    {"groups", reach.groups},
                    {"inside", reach.inside},
                    {"crossing", reach.groups - reach.inside},
                    {"most_nodes", reach.most_nodes},
                    {"ways", reach.hops},
                    {"ways_between", reach.leaving},
                    {"links", links_of(reach)}});
  nlohmann::json links = {{"inside", node_link_json(nodes.inside)}};
  links["inside"]["medium"] = medium_name(nodes.medium);
  if (nodes.count() > 1) links["between"] = node_link_json(nodes.between);
  return {{"count", nodes.count()},
          {"ranks_of_each", nodes.devices},
          {"each", std::move(each)},
          {"links", std::move(links)},
          {"axes", std::move(axes)}};
}

std::string nodes_text(const Mesh& mesh, const Nodes& nodes) {
  if (nodes.ranks < 2) return {};
  std::string text = nodes.count() > 1
                         ? fmt::format("{} nodes of {} ranks", nodes.count(), nodes.devices)
                         : fmt::format("one node of {} ranks", nodes.ranks);
  const char* before = ": ";
  for (const AxisReach& reach : axis_reaches(mesh, nodes)) {
    text += before + reach_text(mesh, nodes, reach);
    before = ", ";
  }
  return text;
}

}  // namespace parallelarium
