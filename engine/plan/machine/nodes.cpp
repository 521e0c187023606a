// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/machine/nodes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/plan/setup/setup.h"

namespace parallelarium {
namespace {

// Those that sum gradients are all that hold the same weights: ranks of a CP group, too.
std::vector<int> members_of(const Mesh& mesh, Axis axis, int rank) {
  if (axis != Axis::kDp || mesh.cp == 1) return group_of(mesh, axis, rank);
  std::vector<int> ranks;
  for (const int other : group_of(mesh, Axis::kDp, rank))
    for (const int member : group_of(mesh, Axis::kCp, other)) ranks.push_back(member);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

// Whether the rank is the first of its group, so that each group is looked at once.
bool is_first(const Mesh& mesh, Axis axis, int rank) {
  const Coordinates at = coordinates_of(mesh, rank);
  return axis == Axis::kTp   ? at.tp == 0
         : axis == Axis::kCp ? at.cp == 0
         : axis == Axis::kPp ? at.pp == 0
         : axis == Axis::kDp ? at.dp == 0 && at.cp == 0
                             : expert_place(mesh, at).part == 0;
}

std::vector<std::pair<int, int>> hops_along(Axis axis, const std::vector<int>& group) {
  std::vector<std::pair<int, int>> hops;
  for (std::size_t at = 0; at + 1 < group.size(); ++at) hops.emplace_back(group[at], group[at + 1]);
  if (axis != Axis::kPp && group.size() > 1) hops.emplace_back(group.back(), group.front());
  return hops;
}

// Of the ranks that share a place, where they are fewest. They ascend, and places with them.
template <class PlaceOf>
int fewest_in(const std::vector<int>& ranks, PlaceOf place_of) {
  auto fewest = ranks.size();
  for (std::size_t first = 0, end = 0; first < ranks.size(); first = end) {
    while (end < ranks.size() && place_of(ranks[end]) == place_of(ranks[first])) ++end;
    fewest = std::min(fewest, end - first);
  }
  return static_cast<int>(fewest);
}

}  // namespace

Nodes nodes_of(const Setup& setup, const Machine& machine) {
  Nodes nodes;
  nodes.ranks = std::max(1, setup.mesh.ranks());
  nodes.devices = machine.local ? nodes.ranks : std::max(1, machine.devices_per_node);
  nodes.inside = machine.intra_node;
  nodes.between = machine.inter_node;
  nodes.torus = machine.torus;
  nodes.nics = machine.nics() / machine.devices_per_node;
  nodes.nodes_per_leaf = std::max(1, static_cast<int>(machine.nodes_per_leaf.value));
  nodes.oversubscription = machine.oversubscription.value;
  if (ranks_share_gpu(setup, machine)) {
    // They copy within its memory: every byte is read and written.
    nodes.medium = NodeMedium::kDeviceMemory;
    const Sourced& memory = machine.memory_bytes_per_second;
    nodes.inside = {machine.launch_seconds, {memory.value / 2, memory.origin}};
  } else if (machine.ranks_share_memory()) {
    nodes.medium = NodeMedium::kHostMemory;
  }
  return nodes;
}

std::vector<std::pair<int, int>> hops_of(const Mesh& mesh, Axis axis, int rank) {
  return hops_along(axis, members_of(mesh, axis, rank));
}

int fewest_on_a_node(const Nodes& nodes, const std::vector<int>& ranks) {
  return fewest_in(ranks, [&](int rank) { return nodes.node_of(rank); });
}

NicsOfGroup nics_of(const Nodes& nodes, const std::vector<int>& ranks, bool one_ring) {
  const int on_node = fewest_on_a_node(nodes, ranks);
  NicsOfGroup of;
  of.rings = std::min<double>(one_ring ? 1 : on_node, on_node * nodes.nics);
  of.swaps = of.message = of.leaving = std::min(1.0, nodes.nics);
  if (nodes.oversubscription <= 1 || ranks.empty() ||
      nodes.leaf_of(ranks.front()) == nodes.leaf_of(ranks.back()))
    return of;
  const auto size = static_cast<double>(ranks.size());
  const double in_leaf = fewest_in(ranks, [&](int rank) { return nodes.leaf_of(rank); });
  const double out = nodes.nics / nodes.oversubscription;  // cards' worth for each of its ranks
  of.rings = std::min(of.rings, in_leaf * out);
  of.leaving = std::min(of.leaving, in_leaf * out);
  of.swaps = std::min(of.swaps, out * (size - on_node) / (size - in_leaf));
  return of;
}

std::vector<AxisReach> axis_reaches(const Mesh& mesh, const Nodes& nodes) {
  std::vector<AxisReach> reaches;
  for (const Axis axis : {Axis::kTp, Axis::kCp, Axis::kEp, Axis::kDp, Axis::kPp}) {
    AxisReach reach{.axis = axis, .size = int(members_of(mesh, axis, 0).size())};
    if (reach.size < 2) continue;
    for (int rank = 0; rank < mesh.ranks(); ++rank) {
      if (!is_first(mesh, axis, rank)) continue;
      const std::vector<int> group = members_of(mesh, axis, rank);
      ++reach.groups;
      int on = 1;
      for (std::size_t at = 1; at < group.size(); ++at)
        on += nodes.node_of(group[at]) != nodes.node_of(group[at - 1]);
      reach.inside += on == 1;
      reach.most_nodes = std::max(reach.most_nodes, on);
      for (const auto& [from, to] : hops_along(axis, group)) {
        ++reach.hops;
        reach.leaving += nodes.node_of(from) != nodes.node_of(to);
      }
    }
    reaches.push_back(reach);
  }
  return reaches;
}

NodeFold fold_nodes(const Mesh& mesh, const Nodes& nodes) {
  NodeFold fold;
  std::map<std::vector<int>, int> known;
  for (int node = 0; node < nodes.count(); ++node) {
    const int first = node * nodes.devices, end = std::min(first + nodes.devices, nodes.ranks);
    const int replica = coordinates_of(mesh, first).dp;
    std::vector<int> holds{expert_place(mesh, coordinates_of(mesh, first)).part};
    for (int rank = first; rank < end; ++rank) {
      const Coordinates at = coordinates_of(mesh, rank);
      holds.insert(holds.end(), {at.tp, at.cp, at.pp, at.dp - replica});
    }
    const auto [found, fresh] = known.try_emplace(std::move(holds), int(fold.kinds.size()));
    if (fresh)
      fold.kinds.push_back({node, 1});
    else
      ++fold.kinds[std::size_t(found->second)].count;
    fold.kind_of.push_back(found->second);
  }
  return fold;
}

}  // namespace parallelarium
