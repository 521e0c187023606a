// SPDX-License-Identifier: Apache-2.0
// A torus against its own graph, and files of machines that have one.
#include "engine/plan/machine/torus.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/plan/machine/machine.h"

namespace parallelarium {
namespace {

// Devices that a device has links to: one forward and one back along each axis.
std::vector<int> neighbours(const std::vector<int>& torus, int device) {
  std::vector<int> found;
  int stride = 1;
  for (const int devices : torus) {
    const int place = device / stride % devices;
    for (const int step : {1, devices - 1})
      found.push_back(device + ((place + step) % devices - place) * stride);
    stride *= devices;
  }
  return found;
}

std::vector<int> distances(const std::vector<int>& torus, int from, int all) {
  std::vector<int> far(static_cast<std::size_t>(all), -1);
  far[static_cast<std::size_t>(from)] = 0;
  for (std::deque<int> next{from}; !next.empty(); next.pop_front())
    for (const int to : neighbours(torus, next.front()))
      if (far[static_cast<std::size_t>(to)] < 0) {
        far[static_cast<std::size_t>(to)] = far[static_cast<std::size_t>(next.front())] + 1;
        next.push_back(to);
      }
  return far;
}

TEST(Torus, HopsAreTheShortestWayThroughTheLinks) {
  for (const std::vector<int>& torus :
       {std::vector<int>{4, 4, 4}, {2, 3, 5}, {7}, {1, 6}, {8, 2}}) {
    const int all = std::accumulate(torus.begin(), torus.end(), 1, std::multiplies<>());
    for (int from = 0; from < all; ++from) {
      const std::vector<int> far = distances(torus, from, all);
      for (int to = 0; to < all; ++to)
        EXPECT_EQ(torus_hops(torus, from, to), far[static_cast<std::size_t>(to)]);
    }
  }
}

std::vector<int> every(int first, int count, int stride) {
  std::vector<int> ranks;
  for (int at = 0; at < count; ++at) ranks.push_back(first + at * stride);
  return ranks;
}

// Both links of each axis whose ring it fills, one of an axis that it fills in part.
TEST(Torus, AGroupGetsTheLinksOfTheAxesThatItSpans) {
  const std::vector<int> cube = {4, 4, 4};
  struct Case {
    std::vector<int> ranks;
    int links, hops;
  };
  for (const auto& [ranks, links, hops] : {Case{every(0, 4, 1), 2, 2},
                                           {every(21, 4, 16), 2, 2},
                                           {every(0, 16, 1), 4, 4},
                                           {every(2, 16, 4), 4, 4},
                                           {every(0, 64, 1), 6, 6},
                                           {every(0, 2, 1), 1, 1},
                                           {every(0, 8, 1), 3, 3},
                                           {every(0, 2, 2), 1, 2}}) {
    const TorusReach reach = torus_reach(cube, ranks);
    EXPECT_EQ(reach.links, links) << ranks.size();
    EXPECT_EQ(reach.hops, hops) << ranks.size();
    EXPECT_EQ(reach.of_links, 6);
  }
  EXPECT_EQ(torus_reach({2, 2}, every(0, 4, 1)).links, 2) << "two devices share one link";
  EXPECT_EQ(torus_reach(cube, {5}).links, 0);
}

// Each piece of an even all-to-all takes its shortest way, so that all links of the rings carry the
// sum of the distances.
TEST(Torus, AnAllToAllLoadsLinksWithTheDistances) {
  for (const int devices : {2, 4, 6, 8}) {
    const std::vector<int> ring = {devices};
    double distance = 0;
    for (int to = 0; to < devices; ++to) distance += torus_hops(ring, 0, to) / double(devices);
    const TorusReach reach = torus_reach(ring, every(0, devices, 1));
    EXPECT_DOUBLE_EQ(reach.swap, distance / reach.links);
  }
}

TEST(Torus, AFileSaysItsAxes) {
  const Machine cube = *find_machine("tpu-v5p-4x4x4");
  EXPECT_EQ(cube.torus, (std::vector<int>{4, 4, 4}));
  EXPECT_EQ(*machine_from_json(to_json(cube)), cube);
  // 1200 GB/s a chip are six links, both ways.
  EXPECT_DOUBLE_EQ(cube.intra_node.bytes_per_second.value * 6 * 2, 1.2e12);
  for (const char* wrong : {"[4, 4]", "[4, 4, 4, 1.5]", "[64, 0]", "[-8, -8]", "64", "[\"64\"]",
                            "[65536, 65536, 65536, 65536, 65536]"}) {
    nlohmann::json json = to_json(cube);
    json["torus"] = nlohmann::json::parse(wrong);
    const Result<Machine> machine = machine_from_json(json);
    ASSERT_FALSE(machine.ok()) << wrong;
    EXPECT_EQ(machine.error().id, "machine-torus") << wrong;
  }
}

}  // namespace
}  // namespace parallelarium
