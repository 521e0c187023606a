// SPDX-License-Identifier: Apache-2.0
#include "engine/schedules/draft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "engine/plan/order/order_faults.h"
#include "engine/schedules/order_search.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {
namespace {

std::vector<Durations> uneven(int stages, double transfer = 0.25) {
  std::vector<Durations> durations;
  for (int stage = 0; stage < stages; ++stage) {
    Durations one;
    one.forward = 1 + 0.25 * (stage % 3);
    one.input_grad = 1.5;
    one.weight_grad = 0.5 + 0.5 * (stage % 2);
    one.backward = one.input_grad + one.weight_grad;
    one.transfer = transfer;
    durations.push_back(one);
  }
  return durations;
}

struct Size {
  int ranks, microbatches, chunks;
};

std::vector<Order> all_orders(const Size& size) {
  std::vector<Order> orders;
  for (const ScheduleInfo& info : schedules()) {
    const int chunks = info.chunks > 0 ? info.chunks : size.chunks;
    if (Result<Order> order = make_order(info.name, size.ranks, size.microbatches, chunks))
      orders.push_back(std::move(*order));
  }
  return orders;
}

class Drafts : public testing::TestWithParam<Size> {};

TEST_P(Drafts, AWholeOrderRunsAsItIsTimed) {
  for (const Order& order : all_orders(GetParam())) {
    SCOPED_TRACE(order.name);
    const std::vector<Durations> stages = uneven(order.stages);
    const TimedOrder timed = time_by_stage(order, stages);
    const DraftTimes draft = time_draft(order, stages, splits_backward(order));
    EXPECT_TRUE(draft.whole()) << draft.placed << " of " << draft.wanted;
    EXPECT_DOUBLE_EQ(draft.makespan, timed.makespan);
    for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
      EXPECT_THAT(draft.ranks[rank].next, testing::IsEmpty());
      EXPECT_FALSE(draft.ranks[rank].wait.has_value());
      EXPECT_DOUBLE_EQ(draft.ranks[rank].held, timed.peak_in_flight[rank]);
      ASSERT_EQ(draft.ranks[rank].ran.size(), timed.spans[rank].size());
      for (std::size_t index = 0; index < timed.spans[rank].size(); ++index) {
        EXPECT_DOUBLE_EQ(draft.ranks[rank].ran[index].begin, timed.spans[rank][index].begin);
        EXPECT_DOUBLE_EQ(draft.ranks[rank].ran[index].end, timed.spans[rank][index].end);
      }
    }
  }
}

// Whoever places only what may come next ends with a legal order, which takes as long as was shown.
TEST_P(Drafts, WhatMayComeNextLeadsToALegalOrder) {
  std::mt19937 chance(7);
  for (const Order& like : all_orders(GetParam())) {
    SCOPED_TRACE(like.name);
    const std::vector<Durations> stages = uneven(like.stages);
    for (const bool split : {false, true}) {
      Order draft = without_actions(like);
      for (;;) {
        const DraftTimes times = time_draft(draft, stages, split);
        ASSERT_TRUE(times.runs);
        std::vector<std::pair<std::size_t, NextAction>> choices;
        for (std::size_t rank = 0; rank < times.ranks.size(); ++rank)
          for (const NextAction& next : times.ranks[rank].next) choices.emplace_back(rank, next);
        if (choices.empty()) break;
        const auto& [rank, chosen] = choices[chance() % choices.size()];
        draft.ranks[rank].push_back(chosen.action);
        const DraftTimes after = time_draft(draft, stages, split);
        EXPECT_DOUBLE_EQ(after.ranks[rank].ran.back().begin, chosen.begin);
        EXPECT_DOUBLE_EQ(after.ranks[rank].ran.back().end, chosen.end);
      }
      const bool mirrored = like.stages < static_cast<int>(like.ranks.size()) * like.chunks;
      // Chance may leave a rank of a mirrored order without work in a chunk.
      if (!mirrored) {
        EXPECT_THAT(check_order(draft), testing::IsEmpty());
      }
      EXPECT_TRUE(time_draft(draft, stages, split).whole());
    }
  }
}

TEST_P(Drafts, OneAfterAnotherIsLegal) {
  for (const Order& like : all_orders(GetParam()))
    for (const bool split : {false, true})
      EXPECT_THAT(check_order(one_after_another(like, split)), testing::IsEmpty()) << like.name;
}

// Whatever front of each line is there, the rest completes it, and what is legal stays so.
TEST_P(Drafts, AreFilledUpToWholeOrders) {
  std::mt19937 random(7);
  for (const Order& order : all_orders(GetParam())) {
    SCOPED_TRACE(order.name);
    Order draft = order;
    for (auto& line : draft.ranks) {
      line.resize(random() % (line.size() + 1));
      if (!line.empty()) line.back().overlapped_with_next = false;  // its partner is gone
    }
    const Order whole = filled_up(draft, splits_backward(order));
    for (std::size_t rank = 0; rank < whole.ranks.size(); ++rank) {
      ASSERT_GE(whole.ranks[rank].size(), draft.ranks[rank].size());
      EXPECT_TRUE(std::equal(draft.ranks[rank].begin(), draft.ranks[rank].end(),
                             whole.ranks[rank].begin()));
    }
    EXPECT_TRUE(only_waits(whole)) << "nothing is missing or there twice";
  }
}

TEST_P(Drafts, UnfinishedLinesReadAsTheSameOrder) {
  for (const Order& like : all_orders(GetParam())) {
    for (const std::size_t kept : {0, 1, 3, 100}) {
      Order draft = like;
      for (auto& line : draft.ranks) line.resize(std::min(line.size(), kept));
      for (auto& line : draft.ranks)
        if (!line.empty()) line.back().overlapped_with_next = false;
      std::string text;
      for (const std::string& line : to_unfinished_lines(draft)) text += line + '\n';
      const Result<Order> read = order_from_text(text);
      ASSERT_TRUE(read.ok()) << read.error().text;
      EXPECT_EQ(read->ranks, draft.ranks) << text;
      EXPECT_EQ(read->stage_of, draft.stage_of) << like.name << "\n" << text;
      EXPECT_EQ(read->stages, draft.stages);
    }
  }
}

// When what an action needs of stage `stage` has come to `rank`, by the rule that papers state: a
// forward needs that of the stage before, a backward that of the stage after, each over a transfer
// where the rank is another; a backward its own forward, a weight part its own input part.
double comes(const Order& order, const TimedOrder& timed, const std::vector<Durations>& stages,
             std::size_t rank, const Action& action) {
  const int stage = order.stage_of[rank][static_cast<std::size_t>(action.chunk)];
  const bool forward = action.kind == ActionKind::kForward;
  double last = 0;
  for (std::size_t other = 0; other < order.ranks.size(); ++other)
    for (const TimedAction& span : timed.spans[other]) {
      if (span.action.microbatch != action.microbatch) continue;
      const int at = order.stage_of[other][static_cast<std::size_t>(span.action.chunk)];
      const bool weight = action.kind == ActionKind::kWeightGrad;
      const bool own =
          at == stage && (weight ? span.action.kind == ActionKind::kInputGrad
                                 : !forward && span.action.kind == ActionKind::kForward);
      const bool before = forward && at == stage - 1 && span.action.kind == ActionKind::kForward;
      const bool after =
          !forward && !weight && at == stage + 1 &&
          (span.action.kind == ActionKind::kBackward || span.action.kind == ActionKind::kInputGrad);
      if (!own && !before && !after) continue;
      const double way =
          other == rank ? 0 : stages[static_cast<std::size_t>(std::min(stage, at))].transfer;
      last = std::max(last, span.end + way);
    }
  return last;
}

// A chain without a gap, from 0 to the end, each link of which is one of the two reasons to wait.
TEST_P(Drafts, TheCriticalPathIsAsLongAsTheOrder) {
  for (const Order& order : all_orders(GetParam())) {
    SCOPED_TRACE(order.name);
    const std::vector<Durations> stages = uneven(order.stages);
    const TimedOrder timed = time_by_stage(order, stages);
    const DraftTimes times = time_draft(order, stages, splits_backward(order));
    const std::vector<DraftPlace> path = critical_path(times);
    ASSERT_FALSE(path.empty());
    const auto span = [&](const DraftPlace& place) {
      return timed
          .spans[static_cast<std::size_t>(place.rank)][static_cast<std::size_t>(place.index)];
    };
    EXPECT_EQ(span(path.front()).begin, 0);
    EXPECT_DOUBLE_EQ(span(path.back()).end, timed.makespan);
    for (std::size_t link = 1; link < path.size(); ++link) {
      const DraftPlace &from = path[link - 1], &to = path[link];
      const double needed =
          comes(order, timed, stages, static_cast<std::size_t>(to.rank), span(to).action);
      const bool in_line =
          from.rank == to.rank && from.index < to.index && span(from).end == span(to).begin;
      const bool by_need = span(from).end < needed + 1e-9 &&
                           std::abs(needed - span(to).begin) < 1e-9 &&
                           span(from).action.microbatch == span(to).action.microbatch;
      const bool of_pair =
          to.index > 0 && span({to.rank, to.index - 1}).action.overlapped_with_next;
      EXPECT_TRUE(in_line || by_need || of_pair) << link;
      const double gap = span(to).begin - span(from).end;
      EXPECT_NEAR(gap, from.rank == to.rank ? 0 : 0.25, 1e-9) << link;
    }
  }
}

TEST_P(Drafts, AWaitIsChosenWhereALaterActionHasAllThatItNeeds) {
  for (const Order& order : all_orders(GetParam())) {
    SCOPED_TRACE(order.name);
    const std::vector<Durations> stages = uneven(order.stages);
    const TimedOrder timed = time_by_stage(order, stages);
    std::vector<double> idle(order.ranks.size()), found(order.ranks.size());
    for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
      const auto& spans = timed.spans[rank];
      for (std::size_t index = 1; index < spans.size(); ++index) {
        const double from = spans[index - 1].end, to = spans[index].begin;
        double could = to;
        for (std::size_t later = index + (spans[index].action.overlapped_with_next ? 2 : 1);
             later < spans.size() && from < to; ++later)
          could = std::min(could, comes(order, timed, stages, rank, spans[later].action));
        idle[rank] += std::max(0.0, to - std::max(from, could));
      }
      // What comes before the first action of a rank.
      double could = spans.front().begin;
      for (std::size_t later = 1; later < spans.size(); ++later)
        could = std::min(could, comes(order, timed, stages, rank, spans[later].action));
      idle[rank] += spans.front().begin - could;
    }
    for (const ChosenWait& wait :
         chosen_waits(order, time_draft(order, stages, splits_backward(order)), {}))
      found[static_cast<std::size_t>(wait.rank)] += wait.end - wait.begin;
    for (std::size_t rank = 0; rank < idle.size(); ++rank)
      EXPECT_NEAR(found[rank], idle[rank], 1e-9) << rank;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Drafts,
                         testing::Values(Size{1, 1, 2}, Size{2, 4, 2}, Size{3, 5, 2}, Size{4, 8, 3},
                                         Size{4, 6, 2}),
                         [](const auto& param) {
                           return fmt::format("p{}m{}v{}", param.param.ranks,
                                              param.param.microbatches, param.param.chunks);
                         });

Order read(std::string_view text, int microbatches) {
  Result<Order> order = order_from_text(text);
  EXPECT_TRUE(order.ok());
  order->microbatches = microbatches;
  return std::move(*order);
}

TEST(Draft, TellsWhatIsWaitedForAndWhetherForEver) {
  // Rank 1 did its backward too early; rank 0 waits for what nobody has placed yet.
  const Order draft = read("F0 F1 B0 B1\nF0 B0 B1 F1", 4);
  const DraftTimes times = time_draft(draft, uneven(2), false);
  EXPECT_FALSE(times.runs);
  ASSERT_TRUE(times.ranks[1].wait);
  EXPECT_EQ(times.ranks[1].wait->index, 2U);
  EXPECT_EQ(times.ranks[1].wait->needs, (Action{ActionKind::kForward, 1, 0, false}));
  EXPECT_EQ(times.ranks[1].wait->rank, 1);
  EXPECT_EQ(times.ranks[1].wait->position, 3);
  EXPECT_TRUE(times.ranks[1].wait->for_ever);
  ASSERT_TRUE(times.ranks[0].wait);
  EXPECT_TRUE(times.ranks[0].wait->for_ever);  // B1 stands behind a wait for ever
  EXPECT_THAT(times.ranks[1].next, testing::IsEmpty());
  ASSERT_THAT(faults_so_far(draft), testing::SizeIs(1));
  EXPECT_EQ(faults_so_far(draft)[0].op, "B1");
}

TEST(Draft, AWaitForUnplacedWorkEnds) {
  const Order draft = read("F0 F1 B0\n..", 2);
  const DraftTimes times = time_draft(draft, uneven(2), false);
  ASSERT_TRUE(times.ranks[0].wait);
  EXPECT_EQ(times.ranks[0].wait->position, -1);
  EXPECT_FALSE(times.ranks[0].wait->for_ever);
  EXPECT_THAT(faults_so_far(draft), testing::IsEmpty());
  ASSERT_THAT(times.ranks[1].next, testing::SizeIs(1));
  EXPECT_EQ(times.ranks[1].next[0].action.microbatch, 0);
}

TEST(Draft, ACircleIsForEver) {
  const Order draft = read("F0 B0 F1\nF1 F0 B0", 2);
  const DraftTimes times = time_draft(draft, uneven(2), false);
  ASSERT_TRUE(times.ranks[0].wait && times.ranks[1].wait);
  EXPECT_TRUE(times.ranks[0].wait->for_ever);
  EXPECT_TRUE(times.ranks[1].wait->for_ever);
}

// From the first actions of a schedule the whole of it follows.
TEST(Draft, RepeatsToTheEnd) {
  for (const int ranks : {1, 2, 4}) {
    for (const int microbatches : {6, 9}) {
      const Order whole = one_f_one_b_order(ranks, microbatches);
      Order draft = whole;
      for (int rank = 0; rank < ranks; ++rank) {
        // The warm-up and twice one forward, one backward.
        auto& line = draft.ranks[static_cast<std::size_t>(rank)];
        line.resize(static_cast<std::size_t>(ranks - 1 - rank + 4));
      }
      EXPECT_EQ(repeated_to_the_end(draft, uneven(ranks), false).ranks, whole.ranks);
      const Order all = gpipe_order(ranks, microbatches);
      draft = all;
      for (auto& line : draft.ranks) line.resize(static_cast<std::size_t>(microbatches + 2));
      EXPECT_EQ(repeated_to_the_end(draft, uneven(ranks), false).ranks, all.ranks);
    }
  }
  const Order split = zb_h1_order(3, 8);
  Order draft = split;
  for (int rank = 0; rank < 3; ++rank)
    draft.ranks[static_cast<std::size_t>(rank)].resize(static_cast<std::size_t>(12 + rank));
  const Order repeated = repeated_to_the_end(draft, uneven(3), true);
  EXPECT_THAT(faults_so_far(repeated), testing::IsEmpty());
}

TEST(Draft, RepeatsOnlyWhatRuns) {
  const Order draft = read("F0 F1\n..", 4);
  const Order repeated = repeated_to_the_end(draft, uneven(2), false);
  EXPECT_THAT(repeated.ranks[0], testing::SizeIs(4));
  EXPECT_THAT(repeated.ranks[1], testing::IsEmpty());
}

// 1F1B with a backward of two forwards: stage 0 waits from 2 to 4 for B0 although F2 could begin. A
// limit of two held micro-batches is what it is for.
TEST(Draft, OneFOneBWaitsToHoldLess) {
  const Order order = one_f_one_b_order(2, 3);
  const std::vector<Durations> stages(2);
  const DraftTimes times = time_draft(order, stages, false);
  const std::vector<ChosenWait> free = chosen_waits(order, times, {});
  ASSERT_FALSE(free.empty());
  EXPECT_EQ(free.front().rank, 0);
  EXPECT_DOUBLE_EQ(free.front().begin, 2);
  EXPECT_DOUBLE_EQ(free.front().end, 4);
  EXPECT_THAT(chosen_waits(order, times, {2, 1}), testing::IsEmpty());
  const std::vector<DraftPlace> path = critical_path(times);
  ASSERT_FALSE(path.empty());
  EXPECT_EQ(path.front(), (DraftPlace{0, 0}));
  EXPECT_EQ(path[1], (DraftPlace{1, 0})) << "the last stage is never idle: F0 of it follows";
  EXPECT_EQ(path.back(), (DraftPlace{0, 5}));
  EXPECT_EQ(path.size(), 8U) << "F0, six of the last stage, B2";
}

TEST(Draft, APlacementIsRefusedWithItsLine) {
  for (const char* text :
       {"placement w 2\nF0 B0", "placement v\nF0 B0", "F0 B0\nplacement v 2",
        "placement mirrored 3\nF0 B0", "placement v 0\nF0", "placement v 2 x\nF0"}) {
    const Result<Order> order = order_from_text(text);
    ASSERT_FALSE(order.ok()) << text;
    EXPECT_EQ(order.error().id, "order-placement");
  }
}

}  // namespace
}  // namespace parallelarium
