// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a Setup stand: the nodes of its Machine, what joins the ranks in them and
// between them, and which groups of the mesh leave a node.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/program/mesh.h"

namespace parallelarium {

// What joins the ranks of one node.
enum class NodeMedium : std::uint8_t {
  kLinks,        // of devices: NVLink, PCIe
  kHostMemory,   // of cores
  kDeviceMemory  // of the one GPU that all share
};

// Ranks fill the nodes in their order, as launchers start them: 0 to 7 on the first, and so on.
struct Nodes {
  int ranks = 1;
  int devices = 1;  // ranks of a full node
  NodeMedium medium = NodeMedium::kLinks;
  Link inside, between;
  std::vector<int> torus;  // as the Machine has it
  double nics = 1;         // network cards of a node, for each of its devices
  int nodes_per_leaf = 1;
  double oversubscription = 1;
  int count() const { return (ranks + devices - 1) / devices; }
  int node_of(int rank) const { return rank / devices; }
  int leaf_of(int rank) const { return node_of(rank) / nodes_per_leaf; }
};
// On this computer all ranks are neighbours. The Machine must be one of the Setup.
Nodes nodes_of(const Setup& setup, const Machine& machine);

// Returns how many of these ascending ranks are on the node with the fewest of them.
int fewest_on_a_node(const Nodes& nodes, const std::vector<int>& ranks);

// By how many network cards a group on several nodes sends. All ranks do the same at the same time,
// in groups that lie alike: so the cards of a node, and what may leave a leaf group, are shared
// evenly. A rank has a card of its own at most; where a node has fewer cards than devices, it has
// its part of one. From a leaf group go as many cards' bytes as it has cards, divided by
// `oversubscription`.
struct NicsOfGroup {
  // Of a node, by all rings of the group together. Each rank has a ring that leaves the node by its
  // card, or all share one ring; of the nodes of a leaf group, one sends out of it.
  double rings = 1;
  // Of a rank whose bytes go to all others alike, as in an all-to-all.
  double swaps = 1;
  // Of a rank that sends one message to the next of its group, in the same leaf group and another.
  double message = 1, leaving = 1;
};
// Ascending ranks.
NicsOfGroup nics_of(const Nodes& nodes, const std::vector<int>& ranks, bool one_ring);

// How the groups of one axis lie on the nodes.
struct AxisReach {
  Axis axis = Axis::kWorld;
  int size = 1;        // ranks of a group
  int groups = 0;      // along this axis
  int inside = 0;      // of them, groups whose ranks share a node
  int most_nodes = 1;  // that one group has ranks on
  // Ways from a rank to the next of its group, all groups together, and those that leave a node.
  // Groups that reduce and gather are rings, so their last rank has a next one, the first; a
  // pipeline is a line.
  int hops = 0, leaving = 0;
};
// Of every axis whose groups have more than one rank: TP, CP, EP, DP, PP. Those of DP are all that
// hold the same weights and so sum gradients: with CP, the ranks of its groups too.
std::vector<AxisReach> axis_reaches(const Mesh& mesh, const Nodes& nodes);
// The ways of one group, from a rank to the next.
std::vector<std::pair<int, int>> hops_of(const Mesh& mesh, Axis axis, int rank);

// Nodes that hold the same: as many ranks at the same places of TP, CP and PP, of replicas that lie
// as far apart, and that hold the same experts.
struct NodeKind {
  int first = 0;  // the lowest node among them
  int count = 1;
};
struct NodeFold {
  std::vector<NodeKind> kinds;  // by their first node, ascending
  std::vector<int> kind_of;     // of each node, an index
};
// Cost: proportional to the ranks.
NodeFold fold_nodes(const Mesh& mesh, const Nodes& nodes);

}  // namespace parallelarium
