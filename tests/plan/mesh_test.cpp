// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/program/mesh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace parallelarium {
namespace {

struct Case {
  int dp, tp, pp, cp, ep;
};

class EveryMesh : public testing::TestWithParam<std::tuple<Case, RankOrder>> {
 protected:
  Mesh mesh() const {
    const auto [c, order] = GetParam();
    return {c.dp, c.tp, c.pp, c.cp, c.ep, order};
  }
};

TEST_P(EveryMesh, NumbersEveryPlaceOnce) {
  const Mesh m = mesh();
  for (int rank = 0; rank < m.ranks(); ++rank) {
    const Coordinates at = coordinates_of(m, rank);
    EXPECT_EQ(rank_of(m, at), rank);
    EXPECT_TRUE(at.dp < m.dp && at.tp < m.tp && at.pp < m.pp && at.cp < m.cp);
  }
}

TEST_P(EveryMesh, GroupsOfAnAxisPartitionTheRanks) {
  const Mesh m = mesh();
  const std::pair<Axis, int> sizes[] = {{Axis::kTp, m.tp}, {Axis::kCp, m.cp},
                                        {Axis::kPp, m.pp}, {Axis::kDp, m.dp},
                                        {Axis::kEp, m.ep}, {Axis::kWorld, m.ranks()}};
  for (const auto& [axis, size] : sizes) {
    std::multiset<int> members;
    for (int rank = 0; rank < m.ranks(); ++rank) {
      const std::vector<int> group = group_of(m, axis, rank);
      EXPECT_EQ(static_cast<int>(group.size()), size);
      EXPECT_TRUE(std::is_sorted(group.begin(), group.end()));
      EXPECT_EQ(std::count(group.begin(), group.end(), rank), 1);
      for (const int other : group) EXPECT_EQ(group_of(m, axis, other), group);
      members.insert(group.begin(), group.end());
    }
    for (int rank = 0; rank < m.ranks(); ++rank)
      EXPECT_EQ(static_cast<int>(members.count(rank)), size);
  }
}

TEST_P(EveryMesh, ExpertGroupsLieInsideDataGroups) {
  const Mesh m = mesh();
  for (int rank = 0; rank < m.ranks(); ++rank) {
    const std::vector<int> data = group_of(m, Axis::kDp, rank);
    for (const int other : group_of(m, Axis::kEp, rank))
      EXPECT_TRUE(std::binary_search(data.begin(), data.end(), other));
  }
}

// Whole experts: every rank of a stage holds one of EP parts of them, and neighbours another one.
TEST_P(EveryMesh, WholeExpertsAreSpreadOverAllRanksOfAStage) {
  Mesh m = mesh();
  m.expert_tensor = false;
  const int stage = m.dp * m.cp * m.tp;
  for (m.ep = 1; m.ep <= stage; ++m.ep) {
    if (stage % m.ep != 0) continue;
    std::map<std::tuple<int, int, int>, int> holders;  // by stage, replica and part
    for (int rank = 0; rank < m.ranks(); ++rank) {
      const Coordinates at = coordinates_of(m, rank);
      const ExpertPlace place = expert_place(m, at);
      EXPECT_TRUE(holders.try_emplace({at.pp, place.replica, place.part}, rank).second);
      const std::vector<int> group = group_of(m, Axis::kEp, rank);
      ASSERT_EQ(static_cast<int>(group.size()), m.ep);
      EXPECT_TRUE(std::is_sorted(group.begin(), group.end()));
      EXPECT_EQ(group[static_cast<std::size_t>(place.part)], rank);
      for (const int other : group) EXPECT_EQ(group_of(m, Axis::kEp, other), group);
      // Where replicas are neighbours, so are the ranks of a group.
      if (m.order == RankOrder::kTpCpEpDpPp) {
        EXPECT_EQ(group.back() - group.front() + 1, m.ep);
      }
    }
    EXPECT_EQ(static_cast<int>(holders.size()), m.ranks());
    EXPECT_EQ(m.expert_replicas() * m.ep, stage);
    // The first replicas that an EP group needs are whole groups.
    EXPECT_EQ(m.least_replicas() * m.cp * m.tp % m.ep, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, EveryMesh,
    testing::Combine(testing::Values(Case{1, 1, 1, 1, 1}, Case{2, 3, 4, 1, 2}, Case{4, 4, 4, 1, 1},
                                     Case{3, 1, 2, 2, 3}, Case{8, 2, 1, 3, 4}, Case{1, 1, 7, 1, 1}),
                     testing::Values(RankOrder::kTpCpEpDpPp, RankOrder::kTpCpEpPpDp)));

// The lecture notes' 4 x 4 x 4 example: ranks 0-3 are TP, 4-15 the next stages, 16-31 the next
// replica: Megatron-Core's "tp-cp-ep-pp-dp". In its default order ranks 4-15 are the next replicas.
TEST(RankOrder, PutsStagesOrReplicasNextToTensorRanks) {
  const Mesh notes{4, 4, 4, 1, 1, RankOrder::kTpCpEpPpDp};
  EXPECT_EQ(group_of(notes, Axis::kTp, 0), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(group_of(notes, Axis::kPp, 0), (std::vector<int>{0, 4, 8, 12}));
  EXPECT_EQ(group_of(notes, Axis::kDp, 0), (std::vector<int>{0, 16, 32, 48}));
  const Mesh megatron{4, 4, 4, 1, 1, RankOrder::kTpCpEpDpPp};
  EXPECT_EQ(group_of(megatron, Axis::kDp, 0), (std::vector<int>{0, 4, 8, 12}));
  EXPECT_EQ(group_of(megatron, Axis::kPp, 0), (std::vector<int>{0, 16, 32, 48}));
}

// Megatron-Core with TP 2, PP 2 and 16 GPUs: with --expert-tensor-parallel-size 1, EP 4 is ranks 0
// to 3, and the replicas of what rank 0 holds are every fourth.
TEST(RankOrder, FoldsExpertsAsMegatronDoes) {
  Mesh mesh{4, 2, 2, 1, 4, RankOrder::kTpCpEpDpPp};
  EXPECT_EQ(group_of(mesh, Axis::kEp, 0), (std::vector<int>{0, 2, 4, 6}));
  mesh.expert_tensor = false;
  EXPECT_EQ(group_of(mesh, Axis::kEp, 0), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(group_of(mesh, Axis::kEp, 13), (std::vector<int>{12, 13, 14, 15}));
  EXPECT_EQ(mesh.expert_replicas(), 2);
}

// The example in Megatron-Core's initialize_model_parallel: 16 GPUs, TP 2, PP 4.
TEST(RankOrder, MatchesMegatronsDocumentedExample) {
  const Mesh mesh{2, 2, 4, 1, 1, RankOrder::kTpCpEpDpPp};
  EXPECT_EQ(group_of(mesh, Axis::kDp, 0), (std::vector<int>{0, 2}));
  EXPECT_EQ(group_of(mesh, Axis::kDp, 5), (std::vector<int>{5, 7}));
  EXPECT_EQ(group_of(mesh, Axis::kTp, 10), (std::vector<int>{10, 11}));
  EXPECT_EQ(group_of(mesh, Axis::kPp, 1), (std::vector<int>{1, 5, 9, 13}));
}

}  // namespace
}  // namespace parallelarium
