// SPDX-License-Identifier: Apache-2.0
// Context parallelism in a layer: the blocks of all ranks are the causal half, and work and bytes
// are the Program's.
#include "engine/plan/layer/context/layer_context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "engine/passes/build.h"
#include "engine/plan/layer/context/context_times.h"
#include "engine/plan/layer/layer_steps.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {
namespace {

struct Built {
  Setup setup = default_setup();
  Program program;
};

Built built(ContextParallel kind, int cp, int tp = 1, bool all_ranks = true) {
  Built out;
  out.setup.mesh = {};
  out.setup.mesh.cp = cp;
  out.setup.mesh.tp = tp;
  out.setup.context_parallel = kind;
  out.setup.attention = Attention::kFused;
  const auto order = make_order(out.setup);
  EXPECT_TRUE(order.ok());
  auto program = build_program(out.setup, *order, BuildOptions{.all_ranks = all_ranks});
  EXPECT_TRUE(program.ok());
  out.program = std::move(*program);
  return out;
}

LayerSteps steps_of(const Built& of, bool backward) {
  return layer_steps(of.setup, of.program, {.layer = 1, .microbatch = 0, .backward = backward});
}

// How many blocks hold the score of each query (row) and key (column).
std::vector<int> times_computed(const LayerContext& context, std::int64_t sequence) {
  std::vector<int> times(std::size_t(sequence * sequence), 0);
  for (const ScoreBlock& block : context.blocks) {
    const ChunkRange queries = context.runs[std::size_t(block.queries)].tokens;
    const ChunkRange keys = context.runs[std::size_t(block.keys)].tokens;
    std::int64_t scores = 0;
    for (std::int64_t query = queries.begin; query < queries.end; ++query)
      for (std::int64_t key = keys.begin; key < keys.end && key <= query; ++key, ++scores)
        ++times[std::size_t(query * sequence + key)];
    EXPECT_EQ(block.scores, scores);
  }
  return times;
}

TEST(LayerContext, BlocksOfAllRanksAreTheCausalHalfEachScoreOnce) {
  for (const ContextParallel kind : {ContextParallel::kRing, ContextParallel::kAllGather})
    for (const int cp : {2, 4})
      for (const int tp : {1, 2})
        for (const bool all_ranks : {false, true})
          for (const bool backward : {false, true}) {
            const Built of = built(kind, cp, tp, all_ranks);
            const LayerContext context = steps_of(of, backward).context;
            const std::int64_t sequence = of.setup.model.sequence;
            const auto times = times_computed(context, sequence);
            for (std::int64_t query = 0; query < sequence; ++query)
              for (std::int64_t key = 0; key < sequence; ++key)
                ASSERT_EQ(times[std::size_t(query * sequence + key)], key <= query ? 1 : 0)
                    << query << ' ' << key << " cp " << cp << " backward " << backward;
            EXPECT_EQ(context.rounds.size(), kind == ContextParallel::kRing ? std::size_t(cp) : 1u);
          }
}

TEST(LayerContext, KeysAndValuesOfARingComeFromTheLeftOneRankFurtherEachRound) {
  const Built of = built(ContextParallel::kRing, 4);
  const LayerContext context = steps_of(of, false).context;
  for (int round = 0; round < 4; ++round)
    for (int rank = 0; rank < 4; ++rank)
      EXPECT_EQ(context.rounds[std::size_t(round)].keys_from[std::size_t(rank)],
                (rank - round + 4) % 4);
  const LayerContext gathered = steps_of(built(ContextParallel::kAllGather, 4), false).context;
  EXPECT_EQ(gathered.rounds[0].keys_from, std::vector<int>(4, -1));
}

TEST(LayerContext, ZigzagGivesEveryRankTheSameWorkInEveryRound) {
  for (const int cp : {2, 4, 8}) {
    const LayerContext context = steps_of(built(ContextParallel::kRing, cp), false).context;
    EXPECT_EQ(context.runs.size(), 2 * std::size_t(cp));
    std::vector<std::int64_t> scores(std::size_t(cp), 0);
    for (const ScoreBlock& block : context.blocks) scores[std::size_t(block.cp)] += block.scores;
    EXPECT_EQ(scores, std::vector<std::int64_t>(std::size_t(cp), scores[0]));
    for (const ContextRound& round : context.rounds)
      EXPECT_EQ(round.blocks, std::vector<double>(std::size_t(cp), 2));
    EXPECT_DOUBLE_EQ(context.over_even(), 1);
  }
}

// Work 1:3:5:7; a ring also waits in each round for a rank that has a whole block.
TEST(LayerContext, AContiguousSplitGivesTheLastRankMost) {
  for (const ContextParallel kind : {ContextParallel::kRing, ContextParallel::kAllGather}) {
    Built of = built(kind, 4);
    of.program.shape.zigzag = false;
    const LayerContext context = steps_of(of, false).context;
    EXPECT_EQ(context.blocks_of, (std::vector<double>{0.5, 1.5, 2.5, 3.5}));
    EXPECT_DOUBLE_EQ(context.even, 2);
    EXPECT_DOUBLE_EQ(context.over_even(), 3.5 / 2);
  }
}

TEST(LayerContext, UlyssesGivesEachRankAllTokensOfItsOwnHeads) {
  for (const bool backward : {false, true}) {
    const Built of = built(ContextParallel::kUlysses, 4);
    const LayerContext context = steps_of(of, backward).context;
    EXPECT_TRUE(context.by_heads);
    EXPECT_TRUE(context.blocks.empty());
    std::int64_t next = 0;
    for (const auto& heads : context.heads) {
      ASSERT_EQ(heads.size(), 1u);
      EXPECT_EQ(heads[0].begin, next);
      next = heads[0].end;
    }
    EXPECT_EQ(next, of.setup.model.heads);
    EXPECT_EQ(context.blocks_of, std::vector<double>(4, 8));  // 4 quarters: 6 blocks and 4 halves
    EXPECT_DOUBLE_EQ(context.over_even(), 1);
  }
}

// Ranks that share a head of keys and values have the same one, beside queries of their own.
TEST(LayerContext, UlyssesRepeatsHeadsOfKeysAndValuesThatAreFewerThanRanks) {
  for (const int kv_heads : {1, 2, 4})
    for (const bool backward : {false, true}) {
      auto setup = default_setup();
      setup.model.kv_heads = kv_heads;
      setup.mesh = {};
      setup.mesh.cp = 4;
      setup.context_parallel = ContextParallel::kUlysses;
      setup.attention = Attention::kFused;
      const auto order = make_order(setup);
      ASSERT_TRUE(order.ok());
      const auto program = build_program(setup, *order, BuildOptions{.all_ranks = true});
      ASSERT_TRUE(program.ok());
      const LayerContext context = layer_steps(setup, *program, {0, 0, backward}).context;
      ASSERT_EQ(context.key_heads.size(), 4u);
      for (std::size_t rank = 0; rank < 4; ++rank) {
        ASSERT_EQ(context.key_heads[rank].size(), 1u);
        const ChunkRange& held = context.key_heads[rank][0];
        EXPECT_EQ(held.begin, std::int64_t(rank) * kv_heads / 4);
        EXPECT_EQ(held.end - held.begin, 1);
      }
      EXPECT_EQ(context.repeats_keys(), kv_heads < 4);
    }
}

// 4 s² b h: two products of the whole square, as the field counts them.
TEST(LayerContext, FlopsOfAllRoundsAndRanksAreThoseOfTheLayersAttention) {
  for (const ContextParallel kind :
       {ContextParallel::kRing, ContextParallel::kAllGather, ContextParallel::kUlysses}) {
    const Built of = built(kind, 4);
    const LayerSteps layer = steps_of(of, false);
    double flops = 0;
    for (const ContextRound& round : layer.context.rounds)
      for (const LayerRankStep& part : layer.steps[std::size_t(round.step)].ranks)
        flops += part.flops;
    const auto s = double(of.setup.model.sequence), h = double(of.setup.model.hidden);
    EXPECT_DOUBLE_EQ(flops, 4 * s * s * h * double(of.program.shape.B));
  }
}

// In elements, over s h b: keys and values to everyone else, 2 (n-1)/n of them; Ulysses sends all
// but its own heads of Q, K, V and the context, 4/n (n-1)/n.
// Source: Jacobs et al. 2023, section 3.2.
TEST(LayerContext, BytesAreThoseOfThePapers) {
  const int n = 4;
  for (const auto& [kind, expected] :
       {std::pair(ContextParallel::kRing, 2.0 * (n - 1) / n),
        std::pair(ContextParallel::kAllGather, 2.0 * (n - 1) / n),
        std::pair(ContextParallel::kUlysses, 4.0 * (n - 1) / n / n)}) {
    const Built of = built(kind, n);
    const LayerSteps layer = steps_of(of, false);
    std::int64_t bytes = 0, element = 0;
    for (int at = layer.context.first_step; at <= layer.context.last_step; ++at) {
      const LayerRankStep& part = layer.steps[std::size_t(at)].ranks[0];
      bytes += part.sent_bytes;
      if (part.sent_bytes > 0)
        element = size_of(of.program.ranks[0].ops[std::size_t(part.first_op)].type);
    }
    const Shape& shape = of.program.shape;
    EXPECT_DOUBLE_EQ(double(bytes) / double(element * shape.sequence * shape.C * shape.B),
                     expected);
  }
}

// Only ops of attention count, and ranks at one place along CP are alike.
TEST(ContextTimes, AreTheMeanOfTheRanksOfAPlaceAndOfAttentionAlone) {
  for (const int tp : {1, 2}) {
    Built of = built(ContextParallel::kRing, 4, tp);
    Timeline timeline;
    double microseconds = 0;  // of rank 0 along CP
    for (const RankProgram& rank : of.program.ranks) {
      RankTimeline& spans = timeline.ranks.emplace_back();
      for (const Op& op : rank.ops) {
        const bool attention = op.kind == OpKind::kCompute && op.piece == Piece::kAttention;
        // Of two TP ranks one is slower by as much as the other is faster.
        const int off = tp == 1 ? 0 : 4 * rank.at.tp - 2;
        const int took = attention ? 10 * (1 + 2 * rank.at.cp) + off : 1000;
        if (attention && rank.at.cp == 0 && rank.at.tp == 0) microseconds += 10;
        spans.spans.push_back({Nanoseconds(500), Nanoseconds(500 + 1000 * took)});
      }
    }
    const auto seconds = attention_seconds(of.setup, of.program, timeline);
    ASSERT_EQ(seconds.size(), 4u);
    EXPECT_NEAR(seconds[0], microseconds * 1e-6, 1e-12);
    const auto ratios = over_least(seconds);
    for (int cp = 0; cp < 4; ++cp) EXPECT_NEAR(ratios[std::size_t(cp)], 1 + 2 * cp, 1e-9);
  }
  EXPECT_TRUE(over_least({0, 1}).empty());
  EXPECT_TRUE(over_least({}).empty());
  const Built one = built(ContextParallel::kRing, 1);
  EXPECT_FALSE(context_times(one.setup, one.program, {}).known());
}

TEST(LayerContext, NothingIsCutWithoutContextParallelism) {
  EXPECT_FALSE(steps_of(built(ContextParallel::kRing, 1), false).context.drawn());
}

}  // namespace
}  // namespace parallelarium
