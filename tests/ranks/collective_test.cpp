// SPDX-License-Identifier: Apache-2.0
// Every algorithm on real buffers, against a serial reference, bit for bit.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/collectives/symbolic.h"
#include "engine/run/collective/collective_parts.h"
#include "engine/run/collective/collective_run.h"
#include "tests/ranks/collective_cases.h"

namespace parallelarium {
namespace {

CollectiveObservation observed(const CollectiveSpec& spec, bool values = false) {
  const Result<Collective> collective = make_collective(spec);
  EXPECT_TRUE(collective) << (collective ? "" : collective.error().text);
  CollectiveRunOptions options;
  options.warmup = 1;
  options.repeats = 2;
  options.values = values;
  Result<CollectiveObservation> seen = run_collective(*collective, options);
  EXPECT_TRUE(seen) << (seen ? "" : seen.error().text);
  return std::move(*seen);
}

class EveryAlgorithmRuns : public testing::TestWithParam<AlgorithmInfo> {};

std::string name_of_algorithm_case(const testing::TestParamInfo<AlgorithmInfo>& info) {
  std::string name = std::string(name_of(info.param.kind)) + "_" + info.param.name;
  for (char& letter : name) {
    if (letter == '-') letter = '_';
  }
  return name;
}

// On four ranks: a power of two for those that need one, and a grid.
TEST_P(EveryAlgorithmRuns, CombinesEveryTypeByEveryOperation) {
  for (const DataType type : kTypesInTurn) {
    for (const Reduction reduction : kReductionsInTurn) {
      CollectiveSpec spec;
      spec.kind = GetParam().kind;
      spec.algorithm = GetParam().name;
      spec.ranks = 4;
      spec.root = 3;
      spec.type = type;
      spec.reduction = reduction;
      spec.bytes = 37 * size_of(type);
      if (!reduces(spec.kind) && reduction != Reduction::kSum) continue;
      const Result<Collective> collective = make_collective(spec);
      ASSERT_TRUE(collective) << collective.error().text;
      const Result<CollectiveObservation> seen = run_collective(*collective, {0, 1, false, {}});
      ASSERT_TRUE(seen) << seen.error().text;
      EXPECT_TRUE(seen->correct) << name_of(type) << ", " << name_of(reduction) << ": "
                                 << seen->wrong_cells << " wrong";
    }
  }
}

TEST_P(EveryAlgorithmRuns, GivesTheSerialResultBitForBit) {
  std::size_t turn = 0;
  for (int ranks = 1; ranks <= 16; ++ranks) {
    for (const std::int64_t count : {0, 5, 1000}) {
      const CollectiveSpec spec = spec_in_turn(GetParam(), ranks, count, turn++);
      const Result<Collective> collective = make_collective(spec);
      if (!collective) continue;
      const CollectiveObservation seen = observed(spec);
      expect_no_wrong_cell(seen, spec);
      // What the transport counted is what the Program says.
      for (std::size_t rank = 0; rank < seen.sent_bytes.size(); ++rank) {
        std::int64_t sent = 0;
        for (const Op& op : collective->program.ranks[rank].ops)
          sent += op.kind == OpKind::kSend ? op.bytes : 0;
        EXPECT_EQ(seen.sent_bytes[rank], sent);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Collectives, EveryAlgorithmRuns,
                         testing::ValuesIn(collective_algorithms()), name_of_algorithm_case);

// Whole blocks are filled and compared at once; numbers of elements around a block's length.
TEST(CollectiveValues, AreThoseOfEveryElementAlone) {
  for (const DataType type : kTypesInTurn) {
    for (const Reduction reduction : kReductionsInTurn) {
      CollectiveSpec spec;
      spec.algorithm = "direct";
      spec.ranks = 3;
      spec.type = type;
      spec.reduction = reduction;
      const std::int64_t count = 4099, size = size_of(type);
      spec.bytes = count * size;
      const Result<Collective> collective = make_collective(spec);
      ASSERT_TRUE(collective);
      std::vector<std::byte> input(static_cast<std::size_t>(spec.bytes)), result(input);
      fill_input(spec, 2, input.data(), count, input_value);
      // By another function the same inputs go element by element.
      fill_input(spec, 0, result.data(), count, [](const CollectiveSpec& of, int, std::int64_t at) {
        return combined_value(of, at);
      });
      for (const std::int64_t element : {0L, 1L, 4095L, 4096L, 4098L})
        EXPECT_EQ(read_value(type, input.data(), element), input_value(spec, 2, element));
      CollectiveObservation seen;
      compare_result(*collective, 1, result.data(), nullptr, seen);
      EXPECT_EQ(seen.wrong_cells, 0) << name_of(type) << " " << name_of(reduction);
      for (const std::int64_t element : {4095L, 4096L, 4098L}) {
        const double right = read_value(type, result.data(), element);
        result[static_cast<std::size_t>(element * size)] ^= std::byte{1};
        CollectiveObservation wrong;
        compare_result(*collective, 1, result.data(), nullptr, wrong);
        ASSERT_EQ(wrong.wrong_cells, 1);
        EXPECT_EQ(wrong.wrong.front().rank, 1);
        EXPECT_EQ(wrong.wrong.front().element, element);
        EXPECT_EQ(wrong.wrong.front().expected, right);
        result[static_cast<std::size_t>(element * size)] ^= std::byte{1};
      }
    }
  }
}

// A wrong algorithm is seen: the same steps without one message's addition.
TEST(CollectiveRun, TellsWrongCells) {
  CollectiveSpec spec;
  spec.ranks = 3;
  spec.bytes = 3000;
  Result<Collective> collective = make_collective(spec);
  ASSERT_TRUE(collective);
  for (Op& op : collective->program.ranks[1].ops) {
    if (op.kind == OpKind::kRecv && op.reduction != Reduction::kNone) {
      op.reduction = Reduction::kNone;
      break;
    }
  }
  const Result<CollectiveObservation> seen = run_collective(*collective, {});
  ASSERT_TRUE(seen);
  EXPECT_FALSE(seen->correct);
  EXPECT_GT(seen->wrong_cells, 100);
  EXPECT_FALSE(seen->wrong.empty());
}

// What stands in chunk c of rank r after each step is the sum over those that the sets name.
TEST(CollectiveRun, HoldsAfterEveryStepWhatTheSetsSay) {
  for (const char* algorithm : {"ring", "double-tree", "halving-doubling", "torus", "tree"}) {
    CollectiveSpec spec;
    spec.algorithm = algorithm;
    spec.ranks = 4;
    spec.bytes = 4 * 640;
    const Result<Collective> collective = make_collective(spec);
    ASSERT_TRUE(collective);
    const CollectiveObservation seen = observed(spec, true);
    const std::vector<Holding> sets = holdings(*collective);
    ASSERT_EQ(sets.size(), collective->steps.size() + 1);
    ASSERT_EQ(seen.values.first.size(),
              sets.size() * static_cast<std::size_t>(spec.ranks * collective->chunks));
    for (std::size_t step = 0; step < sets.size(); ++step) {
      for (int cell = 0; cell < spec.ranks * collective->chunks; ++cell) {
        const std::int64_t element = chunk_range(*collective, cell % collective->chunks).begin;
        double sum = 0;
        for (int rank = 0; rank < spec.ranks; ++rank) {
          if ((sets[step].sets[static_cast<std::size_t>(cell)] >> rank & 1) != 0)
            sum += input_value(spec, rank, element);
        }
        EXPECT_EQ(
            seen.values.first[step * static_cast<std::size_t>(spec.ranks * collective->chunks) +
                              static_cast<std::size_t>(cell)],
            sum)
            << algorithm << " step " << step << " cell " << cell;
      }
    }
  }
}

TEST(CollectiveRun, TimesEveryStepOfEveryRank) {
  CollectiveSpec spec;
  spec.ranks = 2;
  spec.bytes = 1 << 20;
  const Result<Collective> collective = make_collective(spec);
  const CollectiveObservation seen = observed(spec);
  ASSERT_EQ(seen.timeline.ranks.size(), 2U);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const auto& spans = seen.timeline.ranks[rank].spans;
    ASSERT_EQ(spans.size(), collective->program.ranks[rank].ops.size());
    for (std::size_t op = 0; op < spans.size(); ++op) {
      EXPECT_GE(spans[op].end, spans[op].begin);
      EXPECT_GE(spans[op].begin.count(), 0);
      EXPECT_LE(spans[op].end, seen.timeline.duration);
    }
  }
  EXPECT_GT(seen.seconds, 0);
  EXPECT_LE(seen.seconds_min, seen.seconds);
  EXPECT_LE(seen.seconds, seen.seconds_max);
}

// Uneven counts, zero ones among them.
TEST(CollectiveRun, ExchangesUnevenCounts) {
  for (const AlgorithmInfo& info : collective_algorithms()) {
    if (info.kind != CollectiveKind::kAllToAll) continue;
    CollectiveSpec spec;
    spec.kind = info.kind;
    spec.algorithm = info.name;
    spec.ranks = 5;
    for (int i = 0; i < 25; ++i) spec.counts.push_back(i * 7 % 11 * (i % 3));
    const Result<Collective> collective = make_collective(spec);
    ASSERT_TRUE(collective) << collective.error().text;
    EXPECT_TRUE(check_collective(*collective).empty()) << info.name;
    EXPECT_TRUE(observed(spec).correct) << info.name;
  }
}

}  // namespace
}  // namespace parallelarium
