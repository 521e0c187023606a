// SPDX-License-Identifier: Apache-2.0
// Algorithms add in different orders, and the bits of a floating-point sum depend on that.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "engine/run/collective/collective_run.h"

namespace parallelarium {
namespace {

CollectiveSpec spec_of(CollectiveKind kind, const std::string& algorithm, int ranks, DataType type,
                       std::int64_t count, Reduction reduction = Reduction::kSum) {
  CollectiveSpec spec;
  spec.kind = kind;
  spec.algorithm = algorithm;
  spec.ranks = ranks;
  spec.type = type;
  spec.bytes = count * size_of(type);
  spec.reduction = reduction;
  return spec;
}

RoundingComparison compared(const CollectiveSpec& spec, const std::string& other,
                            InputValue inputs = inexact_value) {
  const Result<Collective> collective = make_collective(spec);
  const Result<Collective> rival = rounding_rival(spec, other);
  EXPECT_TRUE(collective && rival);
  const Result<RoundingComparison> seen = compare_rounding(*collective, *rival, nullptr, inputs);
  EXPECT_TRUE(seen) << (seen ? "" : seen.error().text);
  return *seen;
}

// The nearest number with 8 bits of mantissa, ties to even, without looking at its bits.
double bf16(double value) {
  if (value == 0) return 0;
  const double unit = std::ldexp(1.0, std::ilogb(value) - 7);
  return std::nearbyint(value / unit) * unit;
}

// As a rank adds: in float32, kept as bfloat16.
double added(double a, double b) { return bf16(static_cast<float>(a + b)); }

// In the ring the sum of chunk c starts on rank c and goes to the right; the tree over four ranks
// adds (0 + 2) + (1 + 3).
TEST(Rounding, CountsTheElementsThatASerialSumInBothOrdersSays) {
  constexpr std::int64_t kCount = 1000;
  const CollectiveSpec spec =
      spec_of(CollectiveKind::kAllReduce, "ring", 4, DataType::kBf16, kCount);
  const RoundingComparison seen = compared(spec, "tree");
  std::array<RoundingCell, 4> expected;
  for (int chunk = 0; chunk < 4; ++chunk) {
    const ChunkRange range = chunk_of(kCount, 4, chunk);
    RoundingCell& cell = expected[static_cast<std::size_t>(chunk)];
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const auto x = [&](int rank) { return bf16(inexact_value(spec, rank % 4, i)); };
      double ring = x(chunk);
      for (int next = 1; next < 4; ++next) ring = added(ring, x(chunk + next));
      const double tree = added(added(x(0), x(2)), added(x(1), x(3)));
      ++cell.elements;
      if (ring == tree) continue;
      if (cell.differing++ > 0) continue;
      cell.first = i;
      cell.here = ring;
      cell.there = tree;
    }
    EXPECT_GT(cell.differing, 0) << "no rounding to see in chunk " << chunk;
  }
  ASSERT_EQ(seen.cells.size(), 16U);
  std::int64_t differing = 0;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    for (std::size_t chunk = 0; chunk < 4; ++chunk) {
      EXPECT_EQ(seen.cells[rank * 4 + chunk], expected[chunk]) << rank << " " << chunk;
      differing += expected[chunk].differing;
    }
  }
  EXPECT_EQ(seen.differing, differing);
  EXPECT_EQ(seen.elements, 4 * kCount);
  EXPECT_TRUE(seen.ranks_agree);
  EXPECT_GE(seen.most_steps, 1);
  EXPECT_LE(seen.most_steps, 3);  // half a unit for each of three additions, either way
  EXPECT_EQ(seen.other, "tree");
}

TEST(Rounding, ExactInputsShowNone) {
  for (const AlgorithmInfo& info : collective_algorithms()) {
    if (!reduces(info.kind)) continue;
    for (const DataType type : {DataType::kF32, DataType::kBf16}) {
      CollectiveSpec spec = spec_of(info.kind, info.name, 4, type, 300);
      spec.root = 1;
      const RoundingComparison seen = compared(spec, "direct", input_value);
      EXPECT_EQ(seen.differing, 0) << name_of(info.kind) << " " << info.name;
      EXPECT_EQ(seen.most_steps, 0);
      const std::int64_t results = info.kind == CollectiveKind::kAllReduce ? 4 : 1;
      EXPECT_EQ(seen.elements, results * 300) << name_of(info.kind);
    }
  }
}

TEST(Rounding, WholeNumbersExtremesAndTwoRanksHaveOneResult) {
  using K = CollectiveKind;
  EXPECT_EQ(compared(spec_of(K::kAllReduce, "ring", 5, DataType::kI32, 500), "tree").differing, 0);
  EXPECT_EQ(
      compared(spec_of(K::kAllReduce, "ring", 5, DataType::kF32, 500, Reduction::kMax), "tree")
          .differing,
      0);
  // a + b = b + a, rounded too.
  EXPECT_EQ(compared(spec_of(K::kAllReduce, "ring", 2, DataType::kBf16, 500), "tree").differing, 0);
  EXPECT_GT(compared(spec_of(K::kAllReduce, "ring", 3, DataType::kF32, 500), "tree").differing, 0);
  EXPECT_GT(compared(spec_of(K::kAllReduce, "ring", 4, DataType::kF64, 500), "tree").differing, 0);
}

TEST(Rounding, RefusesWhatCombinesNothing) {
  const CollectiveSpec spec = spec_of(CollectiveKind::kAllGather, "ring", 4, DataType::kBf16, 500);
  const Result<Collective> rival = rounding_rival(spec, "direct");
  ASSERT_FALSE(rival);
  EXPECT_NE(rival.error().text.find("nothing"), std::string::npos);
}

}  // namespace
}  // namespace parallelarium
