// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a Setup are: the nodes of its Machine, the links inside and between them, and
// the groups of the mesh that leave a node.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/program/mesh.h"

namespace parallelarium {

// The medium between the ranks of one node.
enum class NodeMedium : std::uint8_t {
  kLinks,        // between devices: NVLink, PCIe
  kHostMemory,   // between cores
  kDeviceMemory  // on the one GPU that all ranks share
};

// Ranks fill the nodes in their order, as launchers start them: 0 to 7 on the first, and so on.
struct Nodes {
  int ranks = 1;
  int devices = 1;  // ranks of a full node
  NodeMedium medium = NodeMedium::kLinks;
  Link inside, between;
  std::vector<int> torus;  // as the Machine has it
  double nics = 1;         // network cards of a node per device
  int nodes_per_leaf = 1;
  double oversubscription = 1;
  int count() const { return (ranks + devices - 1) / devices; }
  int node_of(int rank) const { return rank / devices; }
  int leaf_of(int rank) const { return node_of(rank) / nodes_per_leaf; }
};
// On this computer all ranks are on one node. The Machine must be that of the Setup.
Nodes nodes_of(const Setup& setup, const Machine& machine);

// Returns how many of these ascending ranks are on the node with the fewest of them.
int fewest_on_a_node(const Nodes& nodes, const std::vector<int>& ranks);

// The number of network cards by which a group on several nodes sends. All ranks do the same at the
// same time, in groups that lie alike. So the ranks share the cards of a node, and what may leave a
// leaf group, evenly. A rank has at most one card; if a node has fewer cards than devices, it has
// its part of one. A leaf group sends out as many cards' bytes as it has cards, divided by
// `oversubscription`.
struct NicsOfGroup {
  // Cards that all rings of the group use in a node. Each rank has a ring that leaves the node by
  // its card, or all share one ring. Of the nodes of a leaf group, one sends out of it.
  double rings = 1;
  // Cards of a rank that sends to all others alike, as in an all-to-all.
  double swaps = 1;
  // Cards of a rank that sends to its next rank: inside the leaf group, and out of it.
  double message = 1, leaving = 1;
};
// `ranks` must be ascending.
NicsOfGroup nics_of(const Nodes& nodes, const std::vector<int>& ranks, bool one_ring);

// How the groups of one axis lie on the nodes.
struct AxisReach {
  Axis axis = Axis::kWorld;
  int size = 1;        // ranks of a group
  int groups = 0;      // groups along this axis
  int inside = 0;      // groups among them whose ranks share a node
  int most_nodes = 1;  // the most nodes that one group has ranks on
  // Hops from a rank to the next of its group, counted over all groups, and those of them that
  // leave a node. Groups that reduce and gather are rings: the last rank's next is the first. A
  // pipeline is a line.
  int hops = 0, leaving = 0;
};
// The reach of every axis whose groups have more than one rank: TP, CP, EP, DP, PP. A DP group has
// all ranks that hold the same weights and so sum gradients. With CP, these are the ranks of its CP
// groups too.
std::vector<AxisReach> axis_reaches(const Mesh& mesh, const Nodes& nodes);
// The hops of one group, each from a rank to the next.
std::vector<std::pair<int, int>> hops_of(const Mesh& mesh, Axis axis, int rank);

// Nodes that hold the same. They have equally many ranks at the same places of TP, CP and PP; their
// replicas lie equally far apart; and they hold the same experts.
struct NodeKind {
  int first = 0;  // the lowest node among them
  int count = 1;
};
struct NodeFold {
  std::vector<NodeKind> kinds;  // by their first node, ascending
  std::vector<int> kind_of;     // for each node: index in `kinds`
};
// Cost: proportional to the ranks.
NodeFold fold_nodes(const Mesh& mesh, const Nodes& nodes);

}  // namespace parallelarium
