// SPDX-License-Identifier: Apache-2.0
#include "engine/run/calibrate/memory_ladder.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/ranks/made_up_memory.h"

namespace parallelarium {
namespace {

LadderSizes small_ladder() { return {16 << 10, 1 << 20, 16 << 10, {4, 64, 4096}, 64, {4, 32, 64}}; }

bool always(double, const std::string&) { return true; }

TEST(MemoryLadder, MeasuresEveryStepOfACoreOnce) {
  int told = 0;
  const auto probe = make_core_probe(1e-4);
  const auto ladder = measure_memory(*probe, small_ladder(), [&](double share, const auto& what) {
    EXPECT_GE(share, 0);
    EXPECT_LT(share, 1);
    EXPECT_FALSE(what.empty());
    ++told;
    return true;
  });
  ASSERT_TRUE(ladder.ok());
  ASSERT_EQ(ladder->chases.size(), 7u);  // 16 KiB to 1 MiB
  EXPECT_EQ(ladder->copies.size(), 21u);
  EXPECT_EQ(ladder->tiles.size(), 3u);
  EXPECT_EQ(told, 32);
  EXPECT_GT(ladder->multiply_add.seconds, 0);
  EXPECT_LT(ladder->multiply_add.seconds, 1e-7) << "some cycles, or a call of the library";
  for (const ChaseTime& time : ladder->chases) EXPECT_GT(time.load.seconds, 0);
  for (const CopyRate& rate : ladder->copies) EXPECT_GT(rate.bytes_per_second, 0);
  for (const TileRate& tile : ladder->tiles) EXPECT_GT(tile.seconds, 0);
  EXPECT_EQ(ladder->origin.kind, OriginKind::kMeasuredHere);
  EXPECT_TRUE(ladder->origin.source.starts_with("20"));
}

TEST(MemoryLadder, StopsWhenItIsTold) {
  int told = 0;
  const auto probe = make_core_probe(1e-4);
  const auto ladder = measure_memory(*probe, small_ladder(),
                                     [&](double, const std::string&) { return ++told < 3; });
  ASSERT_FALSE(ladder.ok());
  EXPECT_EQ(ladder.error().kind, "cancelled");
  EXPECT_EQ(told, 3);
}

// Of a core, n^3 / t^3 products of tiles load and store 4 t^2 floats each.
TEST(MemoryLadder, LargerTilesLoadLess) {
  const auto probe = make_core_probe();
  EXPECT_EQ((TileRate{64, 4, 1, 0}.flops()), 2.0 * 64 * 64 * 64);
  EXPECT_EQ(probe->product_bytes(64, 4), 16.0 * 16 * 16 * 4 * 4 * 4 * 4);
  EXPECT_EQ(probe->product_bytes(64, 4), 8 * probe->product_bytes(64, 32));
}

TEST(MemoryLadder, NamesTheLevelsOfADeviceByItsSizes) {
  MadeUpMemory device;
  LadderSizes sizes = gpu_ladder_sizes();
  sizes.most_bytes = 64 << 20;
  const auto ladder = measure_memory(device, sizes, always);
  ASSERT_TRUE(ladder.ok());
  const std::vector<MemoryRung> rungs = rungs_of(*ladder);
  const auto is = [&](std::size_t at, const char* level, std::int64_t bytes, double seconds,
                      double rate) {
    ASSERT_LT(at, rungs.size());
    EXPECT_EQ(rungs[at].level, level);
    EXPECT_EQ(rungs[at].bytes, bytes) << level;
    EXPECT_NEAR(rungs[at].latency_seconds.value, seconds, 1e-15) << level;
    EXPECT_NEAR(rungs[at].bytes_per_second.value / 1e12, rate / 1e12, 1e-9) << level;
  };
  ASSERT_EQ(rungs.size(), 5u);
  is(0, "registers", 0, 2e-9, 0);
  is(1, "shared", 64 << 10, 13e-9, 0);
  is(2, "L1", 64 << 10, 20e-9, 0);  // what is copied is larger from the beginning
  is(3, "L2", 4 << 20, 150e-9, 5e12);
  is(4, "memory", 0, 600e-9, 3e12);
  EXPECT_EQ(rungs[3].latency_seconds.origin, ladder->origin);
}

// A working set that is neither well within a cache nor well beyond the last tells of no level.
TEST(MemoryLadder, LeavesOutALevelThatNoWorkingSetIsFor) {
  MadeUpMemory device;
  device.levels = {{{"L1", 24 << 10}, 1e-9, 1e11}, {{"L2", 1 << 20}, 5e-9, 5e10}};
  device.own = {};
  const auto ladder = measure_memory(device, small_ladder(), always);
  ASSERT_TRUE(ladder.ok());
  std::vector<std::string> levels;
  for (const MemoryRung& rung : rungs_of(*ladder)) levels.push_back(rung.level);
  EXPECT_EQ(levels, (std::vector<std::string>{"registers", "L2"}));
}

TEST(MemoryLadder, IsReadBackAsALadderOfAMachine) {
  MadeUpMemory device;
  const auto ladder = measure_memory(device, small_ladder(), always);
  ASSERT_TRUE(ladder.ok());
  const nlohmann::json json = to_json(*ladder);
  for (const char* key : {"device", "registers", "shared", "caches", "latencies", "copies",
                          "ceilings", "points", "ladder", "origin"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_EQ(json.at("registers").at("cycles"), 4);
  const auto read = ladder_from_json(json);
  ASSERT_TRUE(read.ok()) << read.error().text;
  EXPECT_EQ(*read, rungs_of(*ladder));
}

}  // namespace
}  // namespace parallelarium
