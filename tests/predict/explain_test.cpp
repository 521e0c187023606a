// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/explain/explain.h"

#include <gtest/gtest.h>

#include "engine/plan/program/report.h"
#include "engine/predict/explain/explanation.h"
#include "tests/predict/built.h"
#include "tests/predict/program/tiny_program.h"

namespace parallelarium {
namespace {

struct Explained {
  const char* schedule;
  int pp, dp, microbatches, forward, backward, transfer;
};
void PrintTo(const Explained& c, std::ostream* out) {
  *out << c.schedule << " pp " << c.pp << " dp " << c.dp << " m " << c.microbatches << " F "
       << c.forward << " B " << c.backward << " transfer " << c.transfer;
}

class Paper : public testing::TestWithParam<Explained> {
 protected:
  Paper()
      : program(built(
            small_setup(GetParam().schedule, GetParam().pp, GetParam().dp, GetParam().microbatches),
            {.all_ranks = true, .stage_level = true})),
        timeline(simulate(program, paper_durations(program, GetParam().forward, GetParam().backward,
                                                   GetParam().transfer))) {}
  Program program;
  Timeline timeline;
};

// The walk over a built Program and the timing of its Order are two programs for one thing.
TEST_P(Paper, TakesAsLongAsTheOrderAlone) {
  if (GetParam().transfer > 0) return;  // transfers queue in their lane, those of an Order do not
  const auto order = make_order(GetParam().schedule, GetParam().pp, GetParam().microbatches, 1);
  Durations durations;
  durations.forward = GetParam().forward;
  durations.backward = GetParam().backward;
  const TimedOrder timed = time_order(*order, durations);
  EXPECT_EQ(static_cast<double>(timeline.duration.count()), timed.makespan);
  const Bubble bubble = bubble_of(program, timeline);
  EXPECT_NEAR(bubble.over_ideal, timed.bubble_over_ideal, 1e-12);
  EXPECT_NEAR(bubble.of_total, timed.bubble_of_total, 1e-12);
  EXPECT_NEAR(bubble.of_longest_rank, timed.bubble_of_longest_rank, 1e-12);
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    double most = 0;
    for (const HeldPoint& point : held_microbatches(program, timeline, static_cast<int>(rank))) {
      most = std::max(most, point.held);
    }
    const auto stage = static_cast<std::size_t>(program.ranks[rank].stage);
    EXPECT_EQ(most, timed.peak_in_flight[stage]);
  }
}

TEST_P(Paper, GapsSumToTheBubble) {
  const Bubble bubble = bubble_of(program, timeline);
  const double window = static_cast<double>(timeline.duration.count());
  double busy = 0, idle = 0;
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    double gaps = 0;
    Nanoseconds end{0};
    for (const IdleGap& gap : idle_gaps(program, timeline, static_cast<int>(rank))) {
      EXPECT_GE(gap.span.begin, end) << "gaps do not overlap";
      EXPECT_LT(gap.span.begin, gap.span.end);
      EXPECT_FALSE(gap.why.text.empty());
      end = gap.span.end;
      gaps += static_cast<double>((gap.span.end - gap.span.begin).count());
    }
    EXPECT_NEAR(gaps / window, bubble.ranks[rank], 1e-9);
    idle += gaps;
    busy += window - gaps;
  }
  EXPECT_NEAR(idle / busy, bubble.over_ideal, 1e-9);
  const IdleShares shares = idle_shares(program, timeline);
  EXPECT_NEAR(shares.busy + shares.warm_up + shares.wait + shares.transfer + shares.drain, 1,
              1e-12);
  EXPECT_NEAR(1 - shares.busy, bubble.of_total, 1e-9);
  if (GetParam().transfer == 0) {
    EXPECT_EQ(shares.transfer, 0);
  }
}

TEST_P(Paper, TheCriticalPathCoversTheMakespanWithoutAGap) {
  const std::vector<OpRef> path = critical_path(program, timeline);
  ASSERT_FALSE(path.empty());
  const auto span = [&](OpRef ref) {
    return timeline.ranks[static_cast<std::size_t>(ref.rank)]
        .spans[static_cast<std::size_t>(ref.op)];
  };
  EXPECT_EQ(span(path.front()).begin.count(), 0);
  EXPECT_EQ(span(path.back()).end, timeline.duration);
  Nanoseconds length = span(path.front()).end - span(path.front()).begin;
  for (std::size_t i = 1; i < path.size(); ++i) {
    const Nanoseconds before = span(path[i - 1]).end;
    EXPECT_LE(span(path[i]).begin, before) << "nothing was waited for between";
    EXPECT_EQ(waited_for(program, timeline, path[i]), path[i - 1]);
    length += span(path[i]).end - std::max(before, span(path[i]).begin);
  }
  EXPECT_EQ(length, timeline.duration);
}

TEST_P(Paper, ThePeakIsThePlannedOne) {
  const std::vector<MemoryRow> rows = memory_of(program);
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    const MemoryPeak peak = memory_peak(program, timeline, static_cast<int>(rank));
    EXPECT_EQ(peak.bytes, rows[rank].peak_bytes);
    EXPECT_FALSE(peak.when.text.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, Paper,
                         testing::Values(Explained{"naive", 4, 1, 2, 100, 100, 0},
                                         Explained{"gpipe", 4, 1, 4, 100, 100, 0},
                                         Explained{"1f1b", 4, 1, 8, 100, 200, 0},
                                         Explained{"1f1b", 3, 2, 7, 70, 200, 0},
                                         Explained{"1f1b", 1, 1, 3, 100, 200, 0},
                                         Explained{"gpipe", 2, 3, 5, 100, 30, 0},
                                         Explained{"1f1b", 4, 1, 2, 100, 200, 0},
                                         Explained{"1f1b", 8, 1, 32, 100, 200, 0},
                                         Explained{"1f1b", 4, 1, 8, 100, 200, 10},
                                         Explained{"gpipe", 3, 1, 6, 100, 100, 40},
                                         Explained{"1f1b", 8, 1, 16, 10, 20, 30}));

TEST(WaitedFor, NamesTheSenderBehindATransfer) {
  TinyProgram tiny(2);
  const int made = tiny.compute(0, 10);
  const int sent = tiny.send(0, 1, 5, {made});
  const int received = tiny.recv(1, 0, 5);
  const int used = tiny.compute(1, 10, {received});
  tiny.op(0, sent).microbatch = tiny.op(1, received).microbatch = 3;
  tiny.op(1, used).microbatch = 3;
  const Timeline timeline = simulate(tiny.program, tiny.durations);
  EXPECT_EQ(waited_for(tiny.program, timeline, {1, used}), (OpRef{1, received}));
  EXPECT_EQ(waited_for(tiny.program, timeline, {1, received}), (OpRef{0, made}));
  EXPECT_EQ(waited_for(tiny.program, timeline, {0, made}), (OpRef{-1, -1}));
  EXPECT_EQ(source_of(tiny.program, timeline, {1, used}), (OpRef{0, made}));
  EXPECT_EQ(enabled_by(tiny.program, {0, made}), (std::vector<OpRef>{{1, used}}));
  EXPECT_EQ(enabled_by(tiny.program, {0, sent}), (std::vector<OpRef>{{1, used}}));

  const std::vector<IdleGap> gaps = idle_gaps(tiny.program, timeline, 1);
  ASSERT_EQ(gaps.size(), 2u);
  EXPECT_EQ(gaps[0].kind, IdleKind::kWarmUp);
  EXPECT_EQ(gaps[0].why.text, "waits for the activations of micro-batch 3 from stage 0");
  EXPECT_EQ(gaps[1].kind, IdleKind::kTransfer);
  EXPECT_EQ(gaps[1].span.begin.count(), 10);
  EXPECT_EQ(gaps[1].span.end.count(), 15);
}

TEST(WaitedFor, NamesTheLastRankOfACollective) {
  TinyProgram tiny(3);
  std::vector<int> joined;
  for (const int rank : {0, 1, 2}) {
    const int before = tiny.compute(rank, rank == 1 ? 50 : 10);
    joined.push_back(tiny.collective(rank, 4, {before}, Lane::kCompute));
  }
  const Timeline timeline = simulate(tiny.program, tiny.durations);
  for (const int rank : {0, 1, 2}) {
    EXPECT_EQ(waited_for(tiny.program, timeline, {rank, joined[static_cast<std::size_t>(rank)]}),
              (OpRef{1, 0}));
  }
  const std::vector<IdleGap> gaps = idle_gaps(tiny.program, timeline, 0);
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].why.text.find("waits for rank 1 to join"), 0u) << gaps[0].why.text;
}

// Two ranks compute, reduce gradients, then the loss behind them on the same lane, then update.
struct TwoReductions {
  TinyProgram tiny{2};
  Timeline timeline;
  TwoReductions(int first_rank, int second_rank) {
    for (const int rank : {0, 1}) {
      const int made = tiny.compute(rank, rank == 0 ? first_rank : second_rank);
      tiny.op(rank, made).microbatch = 0;
      tiny.collective(rank, 40, {made});
      const int loss = tiny.collective(rank, 4, {made});
      tiny.op(rank, loss).purpose = Purpose::kLoss;
      tiny.compute(rank, 10, {loss});
    }
    timeline = simulate(tiny.program, tiny.durations);
  }
};

// The loss takes 4 of the 44 in which the rank waits for it: the rest are the gradients'.
TEST(Waits, AreOfTheCollectivesThatTheLaneIsBusyWith) {
  const TwoReductions step(10, 10);
  for (const int rank : {0, 1}) {
    const std::vector<IdleGap> gaps = idle_gaps(step.tiny.program, step.timeline, rank);
    ASSERT_EQ(gaps.size(), 2u);
    EXPECT_EQ(gaps[0].span.begin.count(), 10);
    EXPECT_EQ(gaps[0].span.end.count(), 50);
    EXPECT_EQ(gaps[0].why.text, "waits during the all-reduce of gradients");
    EXPECT_EQ(gaps[1].span.begin.count(), 50);
    EXPECT_EQ(gaps[1].span.end.count(), 54);
    EXPECT_EQ(gaps[1].why.text, "waits during the all-reduce of loss");
    for (const IdleGap& gap : gaps) EXPECT_EQ(gap.kind, IdleKind::kTransfer);
  }
  const Explanation told = explain(step.tiny.program, step.timeline);
  for (const RankExplanation& rank : told.ranks) {
    EXPECT_EQ(rank.waits_most, "waits during the all-reduce of gradients");
    EXPECT_NEAR(rank.waits_most_seconds, 40e-9, 1e-15);
  }
}

TEST(Waits, AreOfTheRankThatJoinsTheFirstOfThemLate) {
  const TwoReductions step(10, 30);
  const std::vector<IdleGap> gaps = idle_gaps(step.tiny.program, step.timeline, 0);
  ASSERT_EQ(gaps.size(), 3u);
  EXPECT_EQ(gaps[0].why.text, "waits for rank 1 to join the all-reduce of gradients");
  EXPECT_EQ(gaps[0].kind, IdleKind::kDrain);
  EXPECT_EQ(gaps[0].span.end.count(), 30);
  EXPECT_EQ(gaps[1].span.end.count(), 70);
  EXPECT_EQ(gaps[2].span.end.count(), 74);
  EXPECT_EQ(idle_gaps(step.tiny.program, step.timeline, 1).size(), 2u);
}

}  // namespace
}  // namespace parallelarium
