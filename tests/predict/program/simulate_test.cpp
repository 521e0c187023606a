// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cost/simulate.h"

#include <gtest/gtest.h>

#include "tests/predict/program/tiny_program.h"

namespace parallelarium {
namespace {

std::pair<long, long> at(const Timeline& timeline, int rank, int op) {
  const Span span =
      timeline.ranks[static_cast<std::size_t>(rank)].spans[static_cast<std::size_t>(op)];
  return {span.begin.count(), span.end.count()};
}
using Times = std::pair<long, long>;

// Both walks agree where no core is shared by two active lanes.
Timeline run(const TinyProgram& tiny) { return simulate(tiny.program, tiny.durations); }
Timeline run_shared(const TinyProgram& tiny) {
  return simulate(tiny.program, tiny.durations, Sharing::kCore);
}

TEST(Simulate, StartsALanesOpsInOrderAndOverlapsLanes) {
  TinyProgram tiny(1);
  const int a = tiny.compute(0, 10);
  const int b = tiny.compute(0, 5, {}, Lane::kData);
  const int c = tiny.compute(0, 7, {b});
  const int d = tiny.compute(0, 3, {a}, Lane::kData);
  const Timeline timeline = run(tiny);
  EXPECT_EQ(at(timeline, 0, a), Times(0, 10));
  EXPECT_EQ(at(timeline, 0, b), Times(0, 5));
  EXPECT_EQ(at(timeline, 0, c), Times(10, 17));
  EXPECT_EQ(at(timeline, 0, d), Times(10, 13));
  EXPECT_EQ(timeline.duration.count(), 17);
}

TEST(Simulate, BeginsATransferWhenBothSidesAreThere) {
  for (const Sharing shared : {Sharing::kNone, Sharing::kCore}) {
    TinyProgram tiny(2);
    const int made = tiny.compute(0, 4);
    const int sent = tiny.send(0, 1, 3, {made});
    const int busy = tiny.compute(1, 9);
    const int received = tiny.recv(1, 0, 2, {busy});
    const int used = tiny.compute(1, 1, {received});
    const Timeline timeline = simulate(tiny.program, tiny.durations, shared);
    EXPECT_EQ(at(timeline, 0, sent), Times(9, 12)) << "the longer duration of the two counts";
    EXPECT_EQ(at(timeline, 1, received), Times(9, 12));
    EXPECT_EQ(at(timeline, 1, used), Times(12, 13));
  }
}

TEST(Simulate, EndsABatchTogether) {
  TinyProgram tiny(2);
  const int late = tiny.compute(1, 6);
  tiny.send(0, 1, 3, {}, 0);
  const int back = tiny.recv(0, 1, 5, {}, 0);
  tiny.recv(1, 0, 3, {late}, 1);
  const int sent = tiny.send(1, 0, 5, {}, 1);
  const Timeline timeline = run(tiny);
  EXPECT_EQ(at(timeline, 0, 0), Times(6, 11)) << "all of the batch waits for its last edge";
  EXPECT_EQ(at(timeline, 0, back), Times(6, 11));
  EXPECT_EQ(at(timeline, 1, sent), Times(6, 11));
}

TEST(Simulate, AnExchangeHangsOnlyWithoutABatch) {
  for (const int batch : {-1, 0}) {
    TinyProgram tiny(2);
    for (const int rank : {0, 1}) {
      tiny.send(rank, 1 - rank, 3, {}, batch);
      tiny.recv(rank, 1 - rank, 3, {}, batch);
    }
    const std::vector<Message> wrong = check(tiny.program);
    if (batch < 0) {
      ASSERT_EQ(wrong.size(), 1u);
      EXPECT_EQ(wrong[0].id, "program-circle");
    } else {
      EXPECT_TRUE(wrong.empty());
      EXPECT_EQ(run(tiny).duration.count(), 3);
    }
  }
}

TEST(Simulate, StartsACollectiveWithItsLastRank) {
  for (const Sharing shared : {Sharing::kNone, Sharing::kCore}) {
    TinyProgram tiny(3);
    for (const int rank : {0, 1, 2}) {
      const int before = tiny.compute(rank, 5 * rank);
      tiny.collective(rank, 4, {before});
    }
    const Timeline timeline = simulate(tiny.program, tiny.durations, shared);
    for (const int rank : {0, 1, 2}) EXPECT_EQ(at(timeline, rank, 1), Times(10, 14));
  }
}

TEST(Simulate, TakesRanksThatAreNotBuiltAsArrivingAtTheSameTime) {
  TinyProgram tiny(8, 2);
  const int sent = tiny.send(0, 5, 3);
  const int reduced = tiny.collective(0, 4);
  const int late = tiny.compute(1, 6);
  const int joined = tiny.collective(1, 4, {late});
  const Timeline timeline = run(tiny);
  EXPECT_EQ(at(timeline, 0, sent), Times(0, 3));
  EXPECT_EQ(at(timeline, 0, reduced), Times(6, 10)) << "waits for the built ranks only";
  EXPECT_EQ(at(timeline, 1, joined), Times(6, 10));
}

TEST(SharedCore, HalvesTheSpeedWhileTwoLanesAreActive) {
  TinyProgram tiny(1);
  const int compute = tiny.compute(0, 10);
  const int data = tiny.compute(0, 4, {}, Lane::kData);
  const Timeline timeline = run_shared(tiny);
  EXPECT_EQ(at(timeline, 0, data), Times(0, 8));
  EXPECT_EQ(at(timeline, 0, compute), Times(0, 14)) << "work is conserved: 10 + 4";
  EXPECT_EQ(run(tiny).duration.count(), 10);
}

TEST(SharedCore, ThreeLanesShareInThree) {
  TinyProgram tiny(1);
  tiny.compute(0, 30);
  tiny.compute(0, 10, {}, Lane::kPipeline);
  tiny.compute(0, 20, {}, Lane::kData);
  const Timeline timeline = run_shared(tiny);
  EXPECT_EQ(at(timeline, 0, 1), Times(0, 30));
  EXPECT_EQ(at(timeline, 0, 2), Times(0, 50));
  EXPECT_EQ(at(timeline, 0, 0), Times(0, 60));
}

TEST(SharedCore, ATransferGoesAtTheSpeedOfItsBusierRank) {
  TinyProgram tiny(2);
  const int busy = tiny.compute(0, 100);
  const int sent = tiny.send(0, 1, 10);
  tiny.recv(1, 0, 10);
  const Timeline timeline = run_shared(tiny);
  EXPECT_EQ(at(timeline, 0, sent), Times(0, 20));
  EXPECT_EQ(at(timeline, 0, busy), Times(0, 110));
}

TEST(SharedCore, AWaitingTransferTakesNoTime) {
  TinyProgram tiny(2);
  const int busy = tiny.compute(0, 100);
  tiny.send(0, 1, 10);
  const int late = tiny.compute(1, 200);
  tiny.recv(1, 0, 10, {late});
  const Timeline timeline = run_shared(tiny);
  EXPECT_EQ(at(timeline, 0, busy), Times(0, 100));
  EXPECT_EQ(timeline.duration.count(), 210);
}

TEST(SharedCore, AgreesWithTheOtherWalkWhereNothingIsShared) {
  // One lane per rank: a chain of computes and transfers in the compute lane's shadow.
  for (const int ranks : {1, 2, 3, 7}) {
    TinyProgram tiny(ranks);
    for (int microbatch = 0; microbatch < 5; ++microbatch) {
      for (int rank = 0; rank < ranks; ++rank) {
        const auto ops = static_cast<std::int32_t>(
            tiny.program.ranks[static_cast<std::size_t>(rank)].ops.size());
        std::vector<std::int32_t> after;
        if (ops > 0) after.push_back(ops - 1);
        if (rank > 0) after = {tiny.recv(rank, rank - 1, 2, after)};
        after = {tiny.compute(rank, 3 + (rank * 5 + microbatch) % 4, after)};
        if (rank + 1 < ranks) tiny.send(rank, rank + 1, 2, after);
      }
    }
    ASSERT_TRUE(check(tiny.program).empty());
    const Timeline free = run(tiny), shared = run_shared(tiny);
    for (int rank = 0; rank < ranks; ++rank) {
      const auto& ops = tiny.program.ranks[static_cast<std::size_t>(rank)].ops;
      for (std::size_t op = 0; op < ops.size(); ++op) {
        EXPECT_EQ(at(free, rank, static_cast<int>(op)), at(shared, rank, static_cast<int>(op)));
      }
    }
  }
}

TEST(SharedGpu, RanksTakeTurns) {
  TinyProgram tiny(3);
  tiny.compute(0, 10);
  tiny.compute(1, 20);
  tiny.compute(2, 30);
  const Timeline timeline = simulate(tiny.program, tiny.durations, Sharing::kGpu);
  EXPECT_EQ(at(timeline, 0, 0), Times(0, 30));
  EXPECT_EQ(at(timeline, 1, 0), Times(0, 50));
  EXPECT_EQ(at(timeline, 2, 0), Times(0, 60));
}

TEST(SharedGpu, OnlyTheReceiverOfAMessageWorks) {
  TinyProgram tiny(3);
  const int sent = tiny.send(0, 1, 10);
  tiny.recv(1, 0, 10);
  Timeline timeline = simulate(tiny.program, tiny.durations, Sharing::kGpu);
  EXPECT_EQ(at(timeline, 0, sent), Times(0, 10));
  const int busy = tiny.compute(2, 30);
  timeline = simulate(tiny.program, tiny.durations, Sharing::kGpu);
  EXPECT_EQ(at(timeline, 0, sent), Times(0, 20));
  EXPECT_EQ(at(timeline, 2, busy), Times(0, 40));
}

TEST(SharedGpu, EveryRankWorksInACollective) {
  TinyProgram tiny(4);
  for (const int rank : {0, 1, 2, 3}) tiny.collective(rank, 5);
  EXPECT_EQ(simulate(tiny.program, tiny.durations, Sharing::kGpu).duration.count(), 20);
}

TEST(SharedGpu, ABuiltRankTakesTheTurnsOfThoseItStandsFor) {
  TinyProgram tiny(6, 2);
  tiny.compute(0, 10);
  tiny.send(1, 4, 10);  // to a rank that is not built
  EXPECT_EQ(simulate(tiny.program, tiny.durations, Sharing::kGpu).duration.count(), 30);
}

// A rank computes at half its speed while it communicates in another lane, and only then; what
// communicates is not slowed.
TEST(Simulate, ComputesMoreSlowlyBesideCommunication) {
  TinyProgram tiny(2);
  std::vector<int> before, beside, sums;
  for (int rank = 0; rank < 2; ++rank) {
    before.push_back(tiny.compute(rank, 10));
    sums.push_back(tiny.collective(rank, 8, {before.back()}));
    beside.push_back(tiny.compute(rank, 20));
  }
  const Timeline timeline = simulate(tiny.program, tiny.durations, Sharing::kOverlap, 2);
  for (int rank = 0; rank < 2; ++rank) {
    const auto at_rank = static_cast<std::size_t>(rank);
    EXPECT_EQ(at(timeline, rank, before[at_rank]), Times(0, 10));
    EXPECT_EQ(at(timeline, rank, sums[at_rank]), Times(10, 18));
    // 4 of its 20 in the 8 beside the sum, 16 after it.
    EXPECT_EQ(at(timeline, rank, beside[at_rank]), Times(10, 34));
  }
}

TEST(Simulate, IsSlowedByNothingThatItWaitsFor) {
  TinyProgram tiny(2);
  for (int rank = 0; rank < 2; ++rank) {
    tiny.compute(rank, 10);
    tiny.collective(rank, 8, {}, Lane::kCompute);
    tiny.compute(rank, 20);
    tiny.compute(rank, 5, {}, Lane::kData);
  }
  const Timeline alone = run(tiny);
  const Timeline slowed = simulate(tiny.program, tiny.durations, Sharing::kOverlap, 3);
  EXPECT_EQ(slowed.duration, alone.duration);
}

}  // namespace
}  // namespace parallelarium
