// SPDX-License-Identifier: Apache-2.0
// Every algorithm, run on sets of contributions: right for every input at once.
#include "engine/collectives/symbolic.h"

#include <gtest/gtest.h>

namespace parallelarium {
namespace {

constexpr int kRanks[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32, 64};

class EveryAlgorithm : public testing::TestWithParam<AlgorithmInfo> {};

std::string name_of_case(const testing::TestParamInfo<AlgorithmInfo>& info) {
  std::string name = std::string(name_of(info.param.kind)) + "_" + info.param.name;
  for (char& letter : name) {
    if (letter == '-') letter = '_';
  }
  return name;
}

// Fewer elements than ranks, none, and numbers that do not divide.
TEST_P(EveryAlgorithm, IsRightForEveryInput) {
  int made = 0;
  for (const int ranks : kRanks) {
    for (const std::int64_t count : {0, 1, 7, 64, 1000}) {
      CollectiveSpec spec;
      spec.kind = GetParam().kind;
      spec.algorithm = GetParam().name;
      spec.ranks = ranks;
      spec.bytes = count * 4;
      spec.root = ranks - 1 - (ranks - 1) / 3;
      const Result<Collective> collective = make_collective(spec);
      if (!collective) {
        EXPECT_FALSE(ranks == 1 || ranks == 4 || ranks == 64) << collective.error().text;
        continue;
      }
      ++made;
      for (const Message& wrong : check(collective->program)) ADD_FAILURE() << wrong.text;
      for (const Message& wrong : check_collective(*collective))
        ADD_FAILURE() << ranks << " ranks, " << count << " elements: " << wrong.text;
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(made, 5 * 7);  // 1, 2, 4, 8, 16, 32, 64 at least
}

INSTANTIATE_TEST_SUITE_P(Collectives, EveryAlgorithm, testing::ValuesIn(collective_algorithms()),
                         name_of_case);

Collective ring_of_four() {
  CollectiveSpec spec;
  spec.bytes = 64;
  return *make_collective(spec);
}

// The check can fail: each of these is one slip in an otherwise right ring.
TEST(SymbolicCheck, SeesWhatIsMissingDoubledAndMisplaced) {
  Collective overwrites = ring_of_four();
  for (Op& op : overwrites.program.ranks[2].ops) {
    if (op.kind == OpKind::kRecv && op.batch == 1) op.reduction = Reduction::kNone;
  }
  EXPECT_FALSE(check_collective(overwrites).empty());

  Collective doubles = ring_of_four();
  for (Op& op : doubles.program.ranks[2].ops) {
    if (op.kind == OpKind::kRecv && op.batch == 4) op.reduction = Reduction::kSum;
  }
  EXPECT_FALSE(check_collective(doubles).empty());

  Collective shifted = ring_of_four();
  shifted.program.ranks[1].operands[0].offset += 1;
  EXPECT_FALSE(check_collective(shifted).empty());

  Collective other = ring_of_four();
  for (Op& op : other.program.ranks[3].ops) {
    if (op.kind == OpKind::kRecv && op.batch == 0) op.reduction = Reduction::kMax;
  }
  EXPECT_FALSE(check_collective(other).empty());

  EXPECT_TRUE(check_collective(ring_of_four()).empty());
}

TEST(SymbolicCheck, SeesAnAverageThatIsNotDividedOrDividedTwice) {
  CollectiveSpec spec;
  spec.bytes = 64;
  spec.reduction = Reduction::kAvg;
  Collective collective = *make_collective(spec);
  EXPECT_TRUE(check_collective(collective).empty());
  collective.spec.reduction = Reduction::kSum;
  EXPECT_FALSE(check_collective(collective).empty());
  Collective undivided = ring_of_four();
  undivided.spec.reduction = Reduction::kAvg;
  EXPECT_FALSE(check_collective(undivided).empty());
}

// Two accumulating receives of one step into the same cells come in any order.
TEST(SymbolicCheck, SeesCellsThatOneStepTouchesTwice) {
  CollectiveSpec spec;
  spec.kind = CollectiveKind::kBroadcast;
  spec.algorithm = "tree";
  spec.bytes = 64;
  Collective collective = *make_collective(spec);
  // Rank 1 receives in step 1 and sends in step 2; now both at once.
  for (RankProgram& rank : collective.program.ranks) {
    for (Op& op : rank.ops) op.batch = 0;
  }
  EXPECT_FALSE(check_collective(collective).empty());
}

// The table of look and lecture: the ring's third step on four ranks.
TEST(Holdings, FollowTheRing) {
  const std::vector<Holding> all = holdings(ring_of_four());
  ASSERT_EQ(all.size(), 7U);
  const auto set = [&](std::size_t step, int rank, int chunk) {
    return all[step].sets[static_cast<std::size_t>(rank * 4 + chunk)];
  };
  for (int rank = 0; rank < 4; ++rank) {
    for (int chunk = 0; chunk < 4; ++chunk) {
      EXPECT_EQ(set(0, rank, chunk), RankSet{1} << rank);
      EXPECT_EQ(set(6, rank, chunk), RankSet{15});
    }
    EXPECT_EQ(set(3, rank, (rank + 1) % 4), RankSet{15});
  }
  EXPECT_EQ(set(2, 2, 0), RankSet{0b0111});
}

TEST(Specs, AreRefusedInOneSentence) {
  const auto why = [](auto change) {
    CollectiveSpec spec;
    change(spec);
    const Result<Collective> made = make_collective(spec);
    return made ? std::string() : made.error().text;
  };
  EXPECT_EQ(why([](CollectiveSpec& s) { s.ranks = 0; }), "A collective has 1 to 64 ranks, not 0.");
  EXPECT_EQ(why([](CollectiveSpec& s) { s.bytes = 10; }),
            "10 bytes are no whole number of float32 elements of 4 bytes; 8 or 12 would be.");
  EXPECT_NE(why([](CollectiveSpec& s) { s.algorithm = "rings"; }).find("ring, "),
            std::string::npos);
  EXPECT_NE(why([](CollectiveSpec& s) {
              s.algorithm = "halving-doubling";
              s.ranks = 6;
            }).find("4 or 8"),
            std::string::npos);
  EXPECT_NE(why([](CollectiveSpec& s) {
              s.algorithm = "torus";
              s.ranks = 7;
            }).find("8 would do"),
            std::string::npos);
  EXPECT_NE(why([](CollectiveSpec& s) {
              s.kind = CollectiveKind::kBroadcast;
              s.root = 4;
            }).find("Root 4"),
            std::string::npos);
  EXPECT_NE(why([](CollectiveSpec& s) { s.counts = {1, 2}; }).find("Counts"), std::string::npos);
}

}  // namespace
}  // namespace parallelarium
