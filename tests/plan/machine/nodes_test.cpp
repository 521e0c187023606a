// SPDX-License-Identifier: Apache-2.0
// Ranks on nodes against closed forms: where a group's members are a fixed stride apart, arithmetic
// says how many of its ways leave a node.
#include "engine/plan/machine/nodes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/plan/machine/nodes_text.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {
namespace {

struct OnNodes {
  Mesh mesh;
  int devices;
};

Nodes nodes_with(const Mesh& mesh, int devices) {
  Nodes nodes;
  nodes.ranks = mesh.ranks();
  nodes.devices = devices;
  return nodes;
}

// Ranks from one place on an axis to the next: the product of the axes that count faster.
int stride_of(const Mesh& mesh, Axis axis) {
  const bool replicas_first = mesh.order == RankOrder::kTpCpEpDpPp;
  switch (axis) {
    case Axis::kTp:
      return 1;
    case Axis::kCp:
      return mesh.tp;
    case Axis::kPp:
      return mesh.tp * mesh.cp * (replicas_first ? mesh.dp : 1);
    default:
      return mesh.tp * mesh.cp * (replicas_first ? 1 : mesh.pp);
  }
}

// A group's members as numbers added to its first: those of DP with CP are runs of CP.
std::vector<int> steps_of(const Mesh& mesh, Axis axis, int size) {
  std::vector<int> steps;
  const int stride = stride_of(mesh, axis);
  for (int k = 0; k < size; ++k)
    steps.push_back(axis == Axis::kDp ? k % mesh.cp * mesh.tp + k / mesh.cp * stride : k * stride);
  return steps;
}

// The first of every group: where what the strides count is nothing or a multiple of the size.
std::vector<int> firsts(const Mesh& mesh, Axis axis, int size) {
  std::vector<int> of;
  for (int rank = 0; rank < mesh.ranks(); ++rank) {
    const bool first = axis == Axis::kDp ? rank / stride_of(mesh, axis) % mesh.dp == 0 &&
                                               rank / mesh.tp % mesh.cp == 0
                                         : rank / stride_of(mesh, axis) % size == 0;
    if (first) of.push_back(rank);
  }
  return of;
}

class RanksOnNodes : public testing::TestWithParam<OnNodes> {};

TEST_P(RanksOnNodes, GroupsLeaveANodeAsTheirStrideSays) {
  const auto& [mesh, devices] = GetParam();
  const Nodes nodes = nodes_with(mesh, devices);
  std::set<Axis> seen;
  for (const AxisReach& reach : axis_reaches(mesh, nodes)) {
    seen.insert(reach.axis);
    const std::vector<int> steps = steps_of(mesh, reach.axis, reach.size);
    const std::vector<int> begins = firsts(mesh, reach.axis, reach.size);
    const int stride = stride_of(mesh, reach.axis), last = steps.back();
    int inside = 0, leaving = 0, most = 1;
    for (const int first : begins) {
      inside += first % devices + last < devices;
      int ways = 0;
      for (std::size_t at = 1; at < steps.size(); ++at)
        ways += (first + steps[at]) / devices != (first + steps[at - 1]) / devices;
      const int borders = (first + last) / devices - first / devices;
      // With one stride: one as long as a node or longer leaves it always, a shorter one at every
      // border.
      if (reach.axis != Axis::kDp || mesh.cp == 1) {
        EXPECT_EQ(ways, stride >= devices ? reach.size - 1 : borders);
      }
      leaving += ways + (reach.axis != Axis::kPp && borders > 0);
      most = std::max(most, ways + 1);
    }
    EXPECT_EQ(reach.groups, int(begins.size()));
    EXPECT_EQ(reach.groups * reach.size, mesh.ranks());
    EXPECT_EQ(reach.inside, inside) << name_of(reach.axis);
    EXPECT_EQ(reach.leaving, leaving) << name_of(reach.axis);
    EXPECT_EQ(reach.most_nodes, most) << name_of(reach.axis);
    EXPECT_EQ(reach.hops, reach.groups * (reach.axis == Axis::kPp ? reach.size - 1 : reach.size));
  }
  for (const auto& [axis, size] : {std::pair(Axis::kTp, mesh.tp),
                                   {Axis::kCp, mesh.cp},
                                   {Axis::kEp, mesh.ep},
                                   {Axis::kDp, mesh.dp},
                                   {Axis::kPp, mesh.pp}})
    EXPECT_EQ(seen.count(axis), size > 1 ? 1u : 0u) << name_of(axis);
}

TEST_P(RanksOnNodes, TheJsonHasEveryRankOnceAndLinksThatSomeWayTakes) {
  const auto& [mesh, devices] = GetParam();
  const Nodes nodes = nodes_with(mesh, devices);
  const nlohmann::json json = nodes_json(mesh, nodes);
  int ranks = 0;
  for (const nlohmann::json& node : json.at("each"))
    for (int rank = node.at("first_rank"); rank <= node.at("last_rank").get<int>(); ++rank, ++ranks)
      EXPECT_EQ(nodes.node_of(rank), node.at("node").get<int>());
  EXPECT_EQ(ranks, mesh.ranks());
  EXPECT_EQ(json.at("links").contains("between"), mesh.ranks() > devices);
  for (const nlohmann::json& axis : json.at("axes")) {
    EXPECT_EQ(axis.at("groups").get<int>() * axis.at("ranks").get<int>(), mesh.ranks());
    EXPECT_EQ(axis.at("crossing").get<int>() > 0, axis.at("most_nodes").get<int>() > 1);
    const bool leaves = axis.at("ways_between").get<int>() > 0;
    const std::vector<std::string> links = axis.at("links");
    EXPECT_EQ(std::count(links.begin(), links.end(), "between"), leaves ? 1 : 0);
    EXPECT_EQ(std::count(links.begin(), links.end(), "inside"),
              axis.at("ways_between") == axis.at("ways") ? 0 : 1);
  }
  EXPECT_EQ(nodes_text(mesh, nodes).empty(), mesh.ranks() == 1);
}

TEST_P(RanksOnNodes, EveryNodeIsOfOneKindAndKindsHoldTheSame) {
  const auto& [mesh, devices] = GetParam();
  const Nodes nodes = nodes_with(mesh, devices);
  int counted = 0;
  // What a node holds without the replica's number: its ranks' places, and how far replicas are
  // from the first one's.
  const auto holds = [&, &mesh = mesh](int node) {
    std::multiset<std::vector<int>> places;
    const int first = coordinates_of(mesh, node * nodes.devices).dp;
    for (int rank = 0; rank < mesh.ranks(); ++rank) {
      if (nodes.node_of(rank) != node) continue;
      const Coordinates at = coordinates_of(mesh, rank);
      places.insert({at.tp, at.cp, at.pp, at.dp - first, first % mesh.ep});
    }
    return places;
  };
  std::set<std::multiset<std::vector<int>>> different;
  for (int node = 0; node < nodes.count(); ++node) different.insert(holds(node));
  const NodeFold fold = fold_nodes(mesh, nodes);
  EXPECT_EQ(fold.kinds.size(), different.size());
  ASSERT_EQ(fold.kind_of.size(), std::size_t(nodes.count()));
  for (int node = 0; node < nodes.count(); ++node)
    EXPECT_EQ(holds(node), holds(fold.kinds[std::size_t(fold.kind_of[std::size_t(node)])].first));
  std::set<std::multiset<std::vector<int>>> met;
  for (const NodeKind& kind : fold.kinds) {
    counted += kind.count;
    EXPECT_TRUE(met.insert(holds(kind.first)).second) << "two kinds hold the same";
  }
  EXPECT_EQ(counted, nodes.count());
}

constexpr RankOrder kMegatron = RankOrder::kTpCpEpDpPp, kNotes = RankOrder::kTpCpEpPpDp;

INSTANTIATE_TEST_SUITE_P(
    Awkward, RanksOnNodes,
    testing::Values(OnNodes{{1, 1, 1, 1, 1, kMegatron}, 8}, OnNodes{{2, 1, 1, 1, 1, kNotes}, 1},
                    OnNodes{{4, 4, 4, 1, 1, kMegatron}, 8}, OnNodes{{4, 4, 4, 1, 1, kNotes}, 8},
                    OnNodes{{3, 5, 7, 2, 3, kMegatron}, 8}, OnNodes{{3, 5, 7, 2, 3, kNotes}, 8},
                    OnNodes{{6, 3, 2, 1, 2, kMegatron}, 4}, OnNodes{{6, 3, 2, 1, 2, kNotes}, 4},
                    OnNodes{{8, 16, 1, 1, 4, kMegatron}, 8}, OnNodes{{7, 1, 3, 1, 7, kNotes}, 2},
                    OnNodes{{5, 2, 3, 3, 1, kMegatron}, 7}, OnNodes{{2, 2, 16, 1, 1, kNotes}, 72},
                    OnNodes{{12, 8, 3, 1, 4, kMegatron}, 72}, OnNodes{{1, 3, 1, 1, 1, kNotes}, 2}));

// Lecture notes, 64 = 4 x 4 x 4 on nodes of eight: "in one order every hop of a ring of gradients
// crosses the network, in the other only every second one".
TEST(NodesOfALecture, TheOrderSaysWhichRingLeaves) {
  for (const RankOrder order : {kMegatron, kNotes}) {
    const Mesh mesh{4, 4, 4, 1, 1, order};
    const std::vector<AxisReach> reaches = axis_reaches(mesh, nodes_with(mesh, 8));
    ASSERT_EQ(reaches.size(), 3u);
    EXPECT_EQ(reaches[0].inside, 16) << "every TP group is in a node";
    EXPECT_EQ(reaches[1].axis, Axis::kDp);
    EXPECT_EQ(reaches[1].leaving * 2, reaches[1].hops * (order == kMegatron ? 1 : 2));
    // Of three ways of a pipeline one leaves where stages are near, and all where replicas are.
    EXPECT_EQ(reaches[2].leaving * 3, reaches[2].hops * (order == kMegatron ? 3 : 1));
  }
}

TEST(NodesOfSetups, ThisComputerIsOneNodeAndPresetsHaveTheirs) {
  auto setup = default_setup();
  setup.mesh = {24, 1, 1, 1, 1};
  const Nodes here = nodes_of(setup, *find_machine("local"));
  EXPECT_EQ(here.count(), 1);
  EXPECT_EQ(here.medium, NodeMedium::kHostMemory);
  const Nodes dgx = nodes_of(setup, *find_machine("dgx-h100"));
  EXPECT_EQ(dgx.count(), 3);
  EXPECT_EQ(dgx.medium, NodeMedium::kLinks);
  EXPECT_EQ(dgx.inside.wire, "NVLink");
  EXPECT_EQ(dgx.between.wire, "InfiniBand");
  EXPECT_GT(dgx.inside.bytes_per_second.value, dgx.between.bytes_per_second.value);
}

// A wire is told where the origin of a figure names it, and then is the same.
TEST(NodesOfSetups, EveryPresetSaysWhatJoinsItsDevices) {
  for (const std::string& name : machine_names()) {
    const Machine machine = *find_machine(name);
    if (machine.local) continue;
    EXPECT_FALSE(machine.intra_node.wire.empty()) << name;
    for (const Link* link : {&machine.intra_node, &machine.inter_node})
      for (const char* wire : {"InfiniBand", "Ethernet"}) {
        const bool told = text_of(link->bytes_per_second.origin).find(wire) != std::string::npos;
        EXPECT_TRUE(!told || link->wire == wire) << name;
      }
  }
}

TEST(Hops, APipelineIsALineAndTheOthersAreRings) {
  const Mesh mesh{4, 2, 3, 1, 1, kMegatron};
  EXPECT_EQ(hops_of(mesh, Axis::kPp, 9), (std::vector<std::pair<int, int>>{{1, 9}, {9, 17}}));
  EXPECT_EQ(hops_of(mesh, Axis::kDp, 2),
            (std::vector<std::pair<int, int>>{{0, 2}, {2, 4}, {4, 6}, {6, 0}}));
  EXPECT_TRUE(hops_of({}, Axis::kTp, 0).empty());
}

}  // namespace
}  // namespace parallelarium
