// SPDX-License-Identifier: Apache-2.0
// Chains, copies and products that measure memories, by their definitions.
#include "kernels/memory/memory.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace parallelarium {
namespace {

TEST(ChainOfLines, GoesOnceThroughEveryPlace) {
  for (int bits = 0; bits <= 14; ++bits) {
    std::set<std::uint64_t> places;
    for (std::uint64_t step = 0; step < std::uint64_t{1} << bits; ++step)
      places.insert(place_of(step, bits));
    EXPECT_EQ(places.size(), std::size_t{1} << bits) << bits;
    EXPECT_LT(*places.rbegin(), std::uint64_t{1} << bits) << bits;
  }
}

// A processor that loads ahead by a fixed distance would make memory look faster. So no distance
// comes often, and hardly any step stays within the 32 lines of a page.
TEST(ChainOfLines, HasNoDistanceThatComesOften) {
  constexpr int kBits = 16;
  std::multiset<std::int64_t> distances;
  int near = 0;
  for (std::uint64_t step = 0; step < 1U << kBits; ++step) {
    const auto distance = static_cast<std::int64_t>(place_of(step + 1, kBits)) -
                          static_cast<std::int64_t>(place_of(step, kBits));
    distances.insert(distance);
    near += std::abs(distance) < 32 ? 1 : 0;
  }
  std::size_t most = 0;
  for (const std::int64_t distance : distances) most = std::max(most, distances.count(distance));
  EXPECT_LT(static_cast<double>(most), 0.02 * (1 << kBits));
  EXPECT_LT(near, 0.02 * (1 << kBits));
}

TEST(ChainOfLines, EndsWhereItsStepsLead) {
  constexpr int kBits = 6;
  std::vector<ChaseLine> lines(std::size_t{1} << kBits);
  chain_lines_cpu(lines.data(), kBits);
  for (const std::int64_t loads : {0, 1, 63, 64, 1000})
    EXPECT_EQ(chase_cpu(lines.data(), kBits, 5, loads).place,
              place_of(5 + static_cast<std::uint64_t>(loads), kBits));
  EXPECT_EQ(chase_cpu(lines.data(), kBits, 0, 64).place, place_of(0, kBits)) << "once round";
}

// x/2 + 1/2, n times, from 3: 1 + 2^(1-n), which floats hold for few steps.
TEST(MultiplyAddChain, IsThatOfItsDefinition) {
  for (const int steps : {0, 1, 2, 10, 20})
    EXPECT_EQ(multiply_add_chain_cpu(3, 0.5F, 0.5F, steps).value, 1 + std::ldexp(2.0F, -steps));
}

TEST(StridedCopy, TakesOnlyMultiplesOfItsStride) {
  const std::vector<float> from = {1, 2, 3, 4, 5, 6, 7};
  std::vector<float> to(7, 0);
  copy_strided_cpu(to.data(), from.data(), 7, 3);
  EXPECT_EQ(to, (std::vector<float>{1, 0, 0, 4, 0, 0, 7}));
}

// A permutation moves rows.
TEST(PlainProduct, OfAPermutationMovesRows) {
  const std::vector<float> a = {0, 1, 0, 0, 0, 1, 1, 0, 0}, b = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<float> c(9, -1);
  plain_product_cpu(c.data(), a.data(), b.data(), 3);
  EXPECT_EQ(c, (std::vector<float>{4, 5, 6, 7, 8, 9, 1, 2, 3}));
}

}  // namespace
}  // namespace parallelarium
