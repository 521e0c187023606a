// SPDX-License-Identifier: Apache-2.0
#include "engine/schedules/floor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "engine/plan/setup/schedule_rules.h"
#include "engine/schedules/order_search.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {
namespace {

using Line = std::vector<Action>;

// How a rank takes its micro-batches: every kind as they are counted, forwards so, or none so.
enum class Turn { kCounted, kForwardsCounted, kAny };

// All lines of one rank. `microbatches`: of every chunk, those of one behind those of another.
std::vector<Line> all_lines(int microbatches, bool splits, Turn turn, int chunks = 1) {
  const std::vector<ActionKind> kinds =
      splits ? std::vector{ActionKind::kForward, ActionKind::kInputGrad, ActionKind::kWeightGrad}
             : std::vector{ActionKind::kForward, ActionKind::kBackward};
  std::vector<Line> lines;
  Line line;
  // Kinds that each micro-batch of each chunk has done.
  std::vector<std::size_t> done(static_cast<std::size_t>(microbatches * chunks), 0);
  const std::function<void()> go_on = [&] {
    if (line.size() == kinds.size() * done.size()) {
      lines.push_back(line);
      return;
    }
    for (int each = 0; each < microbatches * chunks; ++each) {
      const int chunk = each / microbatches, j = each % microbatches;
      const auto at = static_cast<std::size_t>(each);
      if (done[at] == kinds.size()) continue;
      // Earlier micro-batches have done this kind already.
      const bool first = std::all_of(done.begin() + each - j, done.begin() + each,
                                     [&](std::size_t kind) { return kind > done[at]; });
      if (!first && (turn == Turn::kCounted || (turn == Turn::kForwardsCounted && done[at] == 0)))
        continue;
      line.push_back({kinds[done[at]++], j, chunk, false});
      go_on();
      line.pop_back();
      --done[at];
    }
  };
  go_on();
  return lines;
}

using StagesOfRanks = std::vector<std::vector<int>>;  // by rank, in the order of its chunks

// The end of the last action, or infinity where ranks wait in a circle: every action as soon as
// what it needs is there, found by going round until nothing changes.
double end_of(const std::vector<const Line*>& lines, const StagesOfRanks& stage_of,
              const std::vector<Durations>& stages, int microbatches) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const std::size_t ranks = lines.size(), count = stages.size();
  std::vector<std::size_t> rank_of(count);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    for (const int stage : stage_of[rank]) rank_of[std::size_t(stage)] = rank;
  const auto transfer = [&](std::size_t stage) {  // between it and the next
    return rank_of[stage] == rank_of[stage + 1] ? 0 : stages[stage].transfer;
  };
  const auto cell = [&](std::size_t stage, int j) {
    return stage * static_cast<std::size_t>(microbatches) + static_cast<std::size_t>(j);
  };
  std::vector<double> forward(count * static_cast<std::size_t>(microbatches), kNever);
  std::vector<double> back = forward;
  std::vector<std::size_t> next(ranks, 0);
  std::vector<double> free(ranks, 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      while (next[rank] < lines[rank]->size()) {
        const Action& action = (*lines[rank])[next[rank]];
        const auto stage = std::size_t(stage_of[rank][std::size_t(action.chunk)]);
        double begin = free[rank];
        if (action.kind == ActionKind::kForward && stage > 0)
          begin =
              std::max(begin, forward[cell(stage - 1, action.microbatch)] + transfer(stage - 1));
        const bool goes_back =
            action.kind == ActionKind::kBackward || action.kind == ActionKind::kInputGrad;
        if (goes_back && stage + 1 == count)
          begin = std::max(begin, forward[cell(stage, action.microbatch)]);
        if (goes_back && stage + 1 < count)
          begin = std::max(begin, back[cell(stage + 1, action.microbatch)] + transfer(stage));
        if (begin == kNever) break;
        free[rank] = begin + duration_of(action.kind, stages[stage]);
        if (action.kind == ActionKind::kForward)
          forward[cell(stage, action.microbatch)] = free[rank];
        if (goes_back) back[cell(stage, action.microbatch)] = free[rank];
        ++next[rank];
        moved = true;
      }
    }
  }
  for (std::size_t rank = 0; rank < ranks; ++rank)
    if (next[rank] < lines[rank]->size()) return kNever;
  return *std::max_element(free.begin(), free.end());
}

int most_held(const Line& line) {
  int held = 0, most = 0;
  for (const Action& action : line) {
    if (action.kind == ActionKind::kForward) most = std::max(most, ++held);
    if (action.kind == ActionKind::kBackward || action.kind == ActionKind::kWeightGrad) --held;
  }
  return most;
}

// Limits are in micro-batches of a rank, of which each of its chunks holds an equal share.
double exhaustive(int microbatches, bool splits, bool in_order, const StagesOfRanks& stage_of,
                  const std::vector<Durations>& stages, const HeldLimits& limits) {
  // In any turn the first rank still counts them as it begins them, for they are all alike.
  const std::size_t ranks = stage_of.size();
  const auto chunks = static_cast<int>(stage_of.front().size());
  const std::vector<Line> of_first =
      all_lines(microbatches, splits, in_order ? Turn::kCounted : Turn::kForwardsCounted, chunks);
  std::vector<Line> of_others;
  if (ranks > 1)
    of_others = all_lines(microbatches, splits, in_order ? Turn::kCounted : Turn::kAny, chunks);
  double best = std::numeric_limits<double>::infinity();
  std::vector<const Line*> chosen(ranks);
  const std::function<void(std::size_t)> choose = [&](std::size_t rank) {
    if (rank == ranks) {
      best = std::min(best, end_of(chosen, stage_of, stages, microbatches));
      return;
    }
    for (const Line& line : rank == 0 ? of_first : of_others) {
      if (!limits.empty() && most_held(line) > limits[rank] * chunks) continue;
      chosen[rank] = &line;
      choose(rank + 1);
    }
  };
  choose(0);
  return best;
}

struct Costs {
  const char* name;
  std::vector<Durations> (*of)(int ranks);
};
std::vector<Durations> equal(int ranks) {
  return std::vector<Durations>(static_cast<std::size_t>(ranks), Durations{1, 1, 1, 2, 0});
}
std::vector<Durations> far(int ranks) {
  return std::vector<Durations>(static_cast<std::size_t>(ranks), Durations{2, 2, 1, 3, 0.75});
}
std::vector<Durations> unequal(int ranks) {
  std::vector<Durations> stages;
  for (int stage = 0; stage < ranks; ++stage)
    stages.push_back({1.0 + stage, 2.0, 1.5 - 0.5 * stage, 3.0 - stage, 0.25 * (stage + 1)});
  return stages;
}

class FloorOf : public testing::TestWithParam<std::tuple<int, int, Costs>> {};

TEST_P(FloorOf, IsTheShortestOfAllOrders) {
  const auto& [ranks, microbatches, costs] = GetParam();
  const std::vector<Durations> stages = costs.of(ranks);
  for (const bool splits : {false, true}) {
    if (splits && ranks * microbatches > 9) continue;  // too many to try one by one
    const Order order = *make_order(splits ? "zb-h1" : "1f1b", ranks, microbatches, 1);
    std::vector<HeldLimits> all_limits = {{}};
    for (const double each : {1.0, 2.0})
      all_limits.push_back(HeldLimits(static_cast<std::size_t>(ranks), each));
    HeldLimits falling;
    for (int rank = 0; rank < ranks; ++rank) falling.push_back(ranks - rank);
    all_limits.push_back(falling);
    for (const HeldLimits& limits : all_limits) {
      SCOPED_TRACE(testing::Message() << costs.name << " splits " << splits << " limit "
                                      << (limits.empty() ? 0 : limits[0]));
      const Floor floor = floor_of(order, stages, limits);
      const double best = exhaustive(microbatches, splits, true, order.stage_of, stages, limits);
      EXPECT_TRUE(floor.exact);
      EXPECT_NEAR(floor.at_least, best, 1e-9) << floor.proved_by;
      EXPECT_NEAR(floor.best_known, best, 1e-9);
      EXPECT_TRUE(check_order(floor.best).empty());
      EXPECT_TRUE(within_limits(floor.best, limits));
      EXPECT_NEAR(time_by_stage(floor.best, stages).makespan, best, 1e-9);
      if (ranks * microbatches > 6) continue;
      EXPECT_NEAR(exhaustive(microbatches, splits, false, order.stage_of, stages, limits), best,
                  1e-9)
          << "in any turn";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, FloorOf,
                         testing::Combine(testing::Range(1, 4), testing::Range(1, 5),
                                          testing::Values(Costs{"equal", equal}, Costs{"far", far},
                                                          Costs{"unequal", unequal})),
                         [](const auto& info) {
                           return testing::PrintToString(std::get<0>(info.param)) + "x" +
                                  testing::PrintToString(std::get<1>(info.param)) +
                                  std::get<2>(info.param).name;
                         });

// Chunks in turn and in a V, with whole backwards: there are not too many orders of two ranks and
// two micro-batches to try one by one, nor of three ranks and one.
TEST(FloorOf, IsTheShortestOfAllOrdersOfTwoChunks) {
  for (const auto& [ranks, microbatches] : {std::pair(1, 3), {2, 1}, {2, 2}, {3, 1}})
    for (const bool v : {false, true})
      for (const auto& costs_of : {equal, far, unequal}) {
        Order order;
        order.microbatches = microbatches;
        order.chunks = 2;
        order.stages = 2 * ranks;
        for (int rank = 0; rank < ranks; ++rank)
          order.stage_of.push_back({rank, v ? 2 * ranks - 1 - rank : ranks + rank});
        const Line line = all_lines(microbatches, false, Turn::kCounted, 2).front();
        order.ranks.assign(std::size_t(ranks), line);  // the work counts, in whichever turn
        std::vector<Durations> stages = costs_of(2 * ranks);
        for (std::size_t stage = 0; stage < stages.size(); ++stage)
          stages[stage].backward = 2 + 0.5 * static_cast<double>(stage % 3);
        for (const double limit : {0.0, 1.0, 1.5}) {
          const HeldLimits limits =
              limit > 0 ? HeldLimits(std::size_t(ranks), limit) : HeldLimits();
          SCOPED_TRACE(testing::Message()
                       << ranks << "x" << microbatches << " V " << v << " limit " << limit);
          const Floor floor = floor_of(order, stages, limits);
          const double best = exhaustive(microbatches, false, true, order.stage_of, stages, limits);
          EXPECT_TRUE(floor.exact);
          EXPECT_NEAR(floor.at_least, best, 1e-9) << floor.proved_by;
        }
      }
}

// Too many orders to try one by one, but all that may be shorter are searched.
TEST(FloorOf, ProvesThreeByFourWithASplitBackward) {
  EXPECT_TRUE(floor_of(*make_order("zb-h1", 3, 4, 1), far(3), {3, 3, 3}).exact);
  const Order v = *make_order("zb-v", 3, 4, 2);
  double before = 0;
  for (const double limit : {3.0, 2.5, 2.0, 1.5, 1.0}) {
    const Floor floor = floor_of(v, far(6), HeldLimits(3, limit));
    EXPECT_TRUE(floor.exact) << limit << ": " << floor.at_least << " " << floor.best_known;
    EXPECT_GE(floor.at_least, before) << "with less memory nothing is shorter";
    before = floor.at_least;
  }
}

// No order that is known is shorter, for every schedule, and 1F1B's bubble is the least that whole
// backwards and its memory allow.
TEST(FloorOf, IsNeverAboveAnOrder) {
  for (const ScheduleRule& rule : kScheduleRules) {
    for (const int ranks : {2, 4, 8}) {
      const Result<Order> order =
          make_order(std::string(rule.name), ranks, 16, rule.chunks == 0 ? 2 : 1);
      if (!order) continue;
      for (const auto& [costs, overlapped] : {std::pair(Costs{"equal", equal}, 0.0),
                                              {Costs{"far", far}, 0.0},
                                              {Costs{"equal", equal}, 1.5},
                                              {Costs{"equal", equal}, 2.0},
                                              {Costs{"far", far}, 2.5}}) {
        std::vector<Durations> stages = costs.of(order->stages);
        for (Durations& each : stages) each.overlapped = overlapped;
        const Floor floor = floor_of(*order, stages, {}, 4000);
        EXPECT_LE(floor.at_least, time_by_stage(*order, stages).makespan + 1e-9)
            << rule.name << ranks;
        EXPECT_LE(floor.at_least, floor.best_known + 1e-9) << rule.name << ranks;
      }
    }
  }
  const Floor floor = floor_of(*make_order("1f1b", 4, 8, 1), equal(4), {4, 3, 2, 1});
  EXPECT_TRUE(floor.exact);
  EXPECT_EQ(floor.at_least, (8 + 3) * 3);
}

// A pair that takes as long as any two actions changes no order's floor, and eight pairs that take
// less follow each other without a gap. Any two actions of a rank may be a pair.
TEST(FloorOf, TakesPairsIntoAccount) {
  const Order order = *make_order("dualpipe-v", 2, 4, 2);
  std::vector<Durations> stages = equal(order.stages);
  const Floor alone = floor_of(order, stages);
  for (Durations& each : stages) each.overlapped = 2 * each.backward;
  EXPECT_EQ(floor_of(order, stages).at_least, alone.at_least);
  for (Durations& each : stages) each.overlapped = 1.5;
  const Floor pairs = floor_of(order, stages);
  EXPECT_LT(pairs.at_least, alone.at_least);
  EXPECT_GE(pairs.at_least, 2 * 4 * 1.5);
  const Order backwards = *order_from_text("F0 F1 (B0+B1)\n");
  ASSERT_TRUE(check_order(backwards).empty());
  stages = equal(1);
  stages[0].overlapped = 3;
  EXPECT_EQ(time_by_stage(backwards, stages).makespan, 5);
  EXPECT_LE(floor_of(backwards, stages).at_least, 5);
}

TEST(FloorOf, SaysThatNoOrderKeepsALimitBelowOne) {
  const Floor floor = floor_of(*make_order("1f1b", 2, 2, 1), equal(2), {0.5, 1});
  EXPECT_FALSE(floor.exact);
  EXPECT_EQ(floor.at_least, std::numeric_limits<double>::infinity());
}

TEST(Recognised, IsTheScheduleOfTheListThatAnOrderIs) {
  for (const ScheduleRule& rule : kScheduleRules) {
    const Order order = *make_order(std::string(rule.name), 4, 8, rule.chunks == 0 ? 2 : 1);
    const std::string name = recognised(*order_from_text(to_text(order)));
    // Two names of the list may mean the same order.
    ASSERT_NE(name, "") << rule.name;
    EXPECT_EQ(make_order(name, 4, 8, rule.chunks == 0 ? 2 : 1)->ranks, order.ranks);
  }
  Order other = *make_order("1f1b", 2, 3, 1);
  std::swap(other.ranks[0][1], other.ranks[0][2]);
  EXPECT_NE(recognised(other), "1f1b");
}

TEST(Recognised, OneFOneBWithMoreWarmUps) {
  EXPECT_EQ(more_warm_ups(one_f_one_b_order(4, 8)), 0);
  EXPECT_EQ(more_warm_ups(gpipe_order(4, 8)), 0);
  const Result<Order> order = order_from_text(
      "F0 F1 F2 B0 F3 B1 B2 B3\n"
      "F0 F1 B0 F2 B1 F3 B2 B3\n");
  ASSERT_TRUE(order.ok());
  EXPECT_EQ(more_warm_ups(*order), 1);
  EXPECT_EQ(more_warm_ups(zb_h1_order(4, 8)), 0);
}

TEST(Recognised, AllForwardsFirstIsNoOneFOneB) {
  const Result<Order> order = order_from_text(
      "F0 F1 F2 B0 B1 B2\n"
      "F0 F1 F2 B0 B1 B2\n");
  ASSERT_TRUE(order.ok());
  EXPECT_EQ(more_warm_ups(*order), 0);
  // One stage may have all forwards first where another has not.
  const Result<Order> mixed = order_from_text(
      "F0 F1 F2 B0 B1 B2\n"
      "F0 F1 B0 F2 B1 B2\n");
  ASSERT_TRUE(mixed.ok());
  EXPECT_EQ(more_warm_ups(*mixed), 1);
}

}  // namespace
}  // namespace parallelarium
