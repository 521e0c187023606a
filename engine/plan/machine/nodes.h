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
  int count() const { return (ranks + devices - 1) / devices; }
  int node_of(int rank) const { return rank / devices; }
};
// On this computer all ranks are neighbours. The Machine must be one of the Setup.
Nodes nodes_of(const Setup& setup, const Machine& machine);

// Returns those of these ranks that are on the node with the fewest of them.
int fewest_on_a_node(const Nodes& nodes, const std::vector<int>& ranks);

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
