// SPDX-License-Identifier: Apache-2.0
// The stream and event plan against the edges that it stands for, by plain reachability.
#include "engine/run/gpu/event_plan.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "tests/ranks/harness.h"

namespace parallelarium {
namespace {

// By op: the first of its batch in its lane.
std::vector<std::size_t> unit_begins(const RankProgram& rank) {
  std::vector<std::size_t> begins(rank.ops.size());
  std::array<std::ptrdiff_t, kLanes> last{-1, -1, -1};
  for (std::size_t i = 0; i < begins.size(); ++i) {
    auto& before = last[static_cast<std::size_t>(rank.ops[i].lane)];
    const bool joins = before >= 0 && rank.ops[i].batch >= 0 &&
                       rank.ops[static_cast<std::size_t>(before)].batch == rank.ops[i].batch;
    begins[i] = joins ? begins[static_cast<std::size_t>(before)] : i;
    before = static_cast<std::ptrdiff_t>(i);
  }
  return begins;
}

// reach[a][b]: with these waits, op b starts after op a has ended. The batch of b starts together.
using Reach = std::vector<std::vector<bool>>;
Reach reach_of(const RankProgram& rank, const std::vector<std::vector<std::int32_t>>& waits) {
  const std::size_t count = rank.ops.size();
  Reach reach(count, std::vector<bool>(count, false));
  const std::vector<std::size_t> begins = unit_begins(rank);
  const auto after = [&](std::size_t earlier, std::size_t later) {
    for (std::size_t a = 0; a < count; ++a)
      if (reach[a][earlier]) reach[a][later] = true;
    reach[earlier][later] = true;
  };
  std::array<std::vector<std::size_t>, kLanes> units;  // the last unit of each lane
  for (std::size_t i = 0; i < count; ++i) {
    auto& unit = units[static_cast<std::size_t>(rank.ops[i].lane)];
    const bool joins =
        !unit.empty() && rank.ops[i].batch >= 0 && rank.ops[unit.back()].batch == rank.ops[i].batch;
    if (joins) {  // starts with its unit's first
      for (std::size_t a = 0; a < count; ++a) reach[a][i] = reach[a][unit.front()];
      unit.push_back(i);
      continue;
    }
    for (const std::size_t earlier : unit) after(earlier, i);
    // Ops of a batch end together.
    for (const std::int32_t earlier : waits[i])
      for (std::size_t other = 0; other < count; ++other)
        if (begins[other] == begins[static_cast<std::size_t>(earlier)]) after(other, i);
    unit = {i};
  }
  return reach;
}

void expect_right(const RankProgram& rank) {
  const EventWaits planned = plan_events(rank);
  ASSERT_EQ(planned.size(), rank.ops.size());
  const Reach reach = reach_of(rank, planned);
  const auto begins = unit_begins(rank);
  for (std::size_t i = 0; i < rank.ops.size(); ++i) {
    for (const std::int32_t earlier : rank.after_of(rank.ops[i]))
      EXPECT_TRUE(reach[static_cast<std::size_t>(earlier)][begins[i]])
          << "op " << i << " may start before op " << earlier << " has ended";
    std::array<int, kLanes> lanes{};
    for (const std::int32_t earlier : planned[i]) {
      const auto lane = static_cast<std::size_t>(rank.ops[static_cast<std::size_t>(earlier)].lane);
      EXPECT_LT(earlier, static_cast<std::int32_t>(i));
      EXPECT_NE(rank.ops[static_cast<std::size_t>(earlier)].lane, rank.ops[i].lane);
      EXPECT_EQ(++lanes[lane], 1) << "two waits of op " << i << " for one lane";
      auto fewer = planned;  // without this wait an edge would be lost
      std::erase(fewer[i], earlier);
      EXPECT_FALSE(reach_of(rank, fewer)[static_cast<std::size_t>(earlier)][i])
          << "op " << i << " need not wait for op " << earlier;
    }
  }
}

RankProgram random_rank(unsigned seed) {
  std::mt19937 bits(seed);
  RankProgram rank;
  std::int32_t batch = 0;
  for (int i = 0; i < 40; ++i) {
    Op op;
    op.lane = static_cast<Lane>(bits() % kLanes);
    if (op.lane == Lane::kPipeline) {
      op.kind = OpKind::kSend;
      if (bits() % 3 == 0) ++batch;
      op.batch = batch;
    }
    op.after_first = static_cast<std::int32_t>(rank.after.size());
    // Ops of one batch do not wait for each other.
    for (int edge = 0; i > 0 && edge < static_cast<int>(bits() % 4); ++edge) {
      const auto earlier = static_cast<std::int32_t>(bits() % static_cast<unsigned>(i));
      const Op& other = rank.ops[static_cast<std::size_t>(earlier)];
      bool inside = false;  // since the batch began
      if (op.batch >= 0)
        for (std::int32_t at = 0; at <= earlier; ++at)
          inside |= rank.ops[static_cast<std::size_t>(at)].batch == op.batch;
      if (!inside && !(other.batch >= 0 && other.batch == op.batch)) rank.after.push_back(earlier);
    }
    op.after_count = static_cast<std::int32_t>(rank.after.size()) - op.after_first;
    rank.ops.push_back(op);
  }
  return rank;
}

TEST(EventPlan, KeepsEveryEdgeOfRandomProgramsAndNoWaitTooMany) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    expect_right(random_rank(seed));
  }
}

TEST(EventPlan, KeepsEveryEdgeOfRealPrograms) {
  for (const char* schedule : {"1f1b", "gpipe"}) {
    const Program program = built(small_setup(2, 2, 2, schedule));
    for (const RankProgram& rank : program.ranks) {
      const EventWaits planned = plan_events(rank);
      const Reach reach = reach_of(rank, planned);
      const auto begins = unit_begins(rank);
      std::size_t edges = 0, waits = 0;
      for (std::size_t i = 0; i < rank.ops.size(); ++i) {
        for (const std::int32_t earlier : rank.after_of(rank.ops[i])) {
          ++edges;
          EXPECT_TRUE(reach[static_cast<std::size_t>(earlier)][begins[i]]);
        }
        waits += planned[i].size();
      }
      EXPECT_GT(waits, 0U);
      EXPECT_LE(waits, edges);
    }
  }
}

}  // namespace
}  // namespace parallelarium
