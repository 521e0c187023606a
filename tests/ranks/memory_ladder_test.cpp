// SPDX-License-Identifier: Apache-2.0
#include "engine/run/calibrate/memory_ladder.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace parallelarium {
namespace {

LadderSizes small() { return {1 << 20, 64, 1e-4}; }

TEST(MemoryLadder, MeasuresEveryStepOnce) {
  int told = 0;
  const auto ladder = measure_memory(small(), [&](double share, const std::string& what) {
    EXPECT_GE(share, 0);
    EXPECT_LT(share, 1);
    EXPECT_FALSE(what.empty());
    ++told;
    return true;
  });
  ASSERT_TRUE(ladder.ok());
  ASSERT_EQ(ladder->chases.size(), 7u);  // 16 KiB to 1 MiB
  EXPECT_EQ(ladder->copies.size(), 21u);
  EXPECT_EQ(ladder->tiles.size(), 5u);  // 4 to 32, and the whole matrix
  EXPECT_EQ(told, 33);
  for (const ChaseTime& time : ladder->chases) EXPECT_GT(time.seconds, 0);
  for (const CopyRate& rate : ladder->copies) EXPECT_GT(rate.bytes_per_second, 0);
  for (const TileRate& tile : ladder->tiles) EXPECT_GT(tile.seconds, 0);
  EXPECT_NE(ladder->origin.find("measured on this computer on 20"), std::string::npos);
}

TEST(MemoryLadder, StopsWhenItIsTold) {
  int told = 0;
  const auto ladder =
      measure_memory(small(), [&](double, const std::string&) { return ++told < 3; });
  ASSERT_FALSE(ladder.ok());
  EXPECT_EQ(ladder.error().kind, "cancelled");
  EXPECT_EQ(told, 3);
}

// n^3 / t^3 products of tiles load and store 4 t^2 floats each.
TEST(MemoryLadder, LargerTilesLoadLess) {
  const TileRate small_tile{64, 4, 1}, large_tile{64, 32, 1};
  EXPECT_EQ(small_tile.flops(), 2.0 * 64 * 64 * 64);
  EXPECT_EQ(small_tile.bytes(), 16.0 * 16 * 16 * 4 * 4 * 4 * 4);
  EXPECT_EQ(small_tile.bytes(), 8 * large_tile.bytes());
}

}  // namespace
}  // namespace parallelarium
