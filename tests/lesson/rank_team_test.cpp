// SPDX-License-Identifier: Apache-2.0
// Ranks that compute what a student chose: collectives between their threads, held to sums and rows
// made here, and to the bytes that must travel.
#include "engine/lesson/assign/rank_team.h"

#include <gtest/gtest.h>

namespace parallelarium {
namespace {

TEST(RankTeamTest, CollectivesJoinWhatRanksHaveAndCountWhatTheySend) {
  constexpr int kRanks = 3;
  RankTeam team(kRanks);
  std::vector<RankMatrix> sums(kRanks), rows(kRanks), columns(kRanks);
  team.run([&](int rank) {
    const auto at = std::size_t(rank);
    sums[at] = {1, 2, {double(rank), 10.0 * rank}};
    team.all_reduce(rank, sums[at]);
    // As many rows as the rank's number, so one rank has none.
    rows[at] = {rank, 1, std::vector<double>(at, double(rank))};
    team.all_gather_rows(rank, rows[at]);
    columns[at] = {2, 1, {double(rank), -double(rank)}};
    team.all_gather_columns(rank, columns[at]);
  });
  for (int rank = 0; rank < kRanks; ++rank) {
    const auto at = std::size_t(rank);
    EXPECT_EQ(sums[at].cells, (std::vector<double>{3, 30}));
    EXPECT_EQ(rows[at].rows, 3);
    EXPECT_EQ(rows[at].cells, (std::vector<double>{1, 2, 2}));
    EXPECT_EQ(columns[at].columns, 3);
    EXPECT_EQ(columns[at].cells, (std::vector<double>{0, 1, 2, 0, -1, -2}));
  }
  EXPECT_EQ(team.collectives(), 3);
  // 2 numbers of each rank to two others; 0, 1 and 2 numbers; 2 numbers again.
  EXPECT_EQ(team.sent_bytes(), 8 * 2 * (3 * 2 + 3 + 3 * 2));
}

TEST(RankTeamTest, ReduceScatterGivesEachRankItsRowsOfTheSum) {
  RankTeam team(2);
  std::vector<RankMatrix> parts(2);
  team.run([&](int rank) {
    parts[std::size_t(rank)] = {4, 1, {1.0 + rank, 2, 3, 4.0 * rank}};
    team.reduce_scatter_rows(rank, parts[std::size_t(rank)]);
  });
  EXPECT_EQ(parts[0].cells, (std::vector<double>{3, 4}));
  EXPECT_EQ(parts[1].cells, (std::vector<double>{6, 4}));
  EXPECT_EQ(team.sent_bytes(), 8 * 2 * 2);
}

TEST(RankTeamTest, PartsOfAMatrixAreMultipliedToTheWholeProduct) {
  const RankMatrix a = test_matrix(3, 4, 1), b = test_matrix(4, 6, 2);
  RankTeam team(2);
  std::vector<RankMatrix> by_columns(2), by_rows(2);
  team.run([&](int rank) {
    const auto at = std::size_t(rank);
    by_columns[at] = product(a, columns_of(b, rank, 2));
    team.all_gather_columns(rank, by_columns[at]);
    by_rows[at] = product(columns_of(a, rank, 2), rows_of(b, rank, 2));
    EXPECT_FALSE(agree(by_rows[at], product(a, b))) << "a partial sum";
    team.all_reduce(rank, by_rows[at]);
  });
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_TRUE(agree(by_columns[std::size_t(rank)], product(a, b)));
    EXPECT_TRUE(agree(by_rows[std::size_t(rank)], product(a, b)));
  }
  // Sums of products, written out for one cell.
  double cell = 0;
  for (int k = 0; k < 4; ++k) cell += a.cells[std::size_t(4 + k)] * b.cells[std::size_t(6 * k + 2)];
  EXPECT_NEAR(product(a, b).at(1, 2), cell, 1e-12);
}

}  // namespace
}  // namespace parallelarium
