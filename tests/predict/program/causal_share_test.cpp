// SPDX-License-Identifier: Apache-2.0
// The work of CP ranks against the causal square itself, pair by pair of query and key.
#include "engine/passes/axes/causal_share.h"

#include <gtest/gtest.h>

#include <map>

#include "engine/passes/build.h"
#include "engine/predict/predict.h"
#include "engine/schedules/schedule.h"
#include "tests/predict/cost/plain_machine.h"

namespace parallelarium {
namespace {

struct CausalSplit {
  const char* model;
  int cp, pp;
  const char *kind, *split;
};

Setup setup_of(const CausalSplit& c) {
  Setup setup = default_setup();
  setup.model = *find_model(c.model);
  setup.mesh.cp = c.cp;
  setup.mesh.pp = c.pp;
  setup.microbatches = 2;
  setup.attention = Attention::kFused;
  EXPECT_TRUE(set_field(setup, "context-parallel", c.kind).ok());
  EXPECT_TRUE(set_field(setup, "cp-split", c.split).ok());
  EXPECT_TRUE(validate(setup).empty());
  return setup;
}

Program program_of(const Setup& setup, BuildOptions options = {.all_ranks = true}) {
  Result<Program> program = build_program(setup, *make_order(setup), options);
  EXPECT_TRUE(program.ok());
  return std::move(*program);
}

// Pairs of a query of `rank` and a key of `of` that the causal mask lets through; a pair of a token
// with itself counts half, so that a triangle is half of its square.
double pairs_of(const Shape& shape, int rank, int of) {
  const auto positions = [&](int cp_rank) {
    std::vector<std::int64_t> all;
    const PositionRuns runs = positions_of(shape, cp_rank);
    for (int run = 0; run < runs.runs; ++run)
      for (std::int64_t i = 0; i < runs.length; ++i) all.push_back(runs.begin[run] + i);
    return all;
  };
  double pairs = 0;
  for (const std::int64_t query : positions(rank))
    for (const std::int64_t key : positions(of)) pairs += key < query ? 1 : key == query ? 0.5 : 0;
  return pairs;
}

// FLOPs of attention by CP rank and block, of one stage; block 0 where the op does all blocks.
std::map<std::pair<int, int>, double> flops_of(const Program& program) {
  std::map<std::pair<int, int>, double> flops;
  for (const RankProgram& rank : program.ranks) {
    if (rank.stage > 0) continue;
    const auto add = [&](std::int32_t work, int block) {
      for (const Work& each : program.works[static_cast<std::size_t>(work)])
        flops[{rank.at.cp, block}] += each.flops;
    };
    for (const Op& op : rank.ops) {
      if (op.piece == Piece::kAttention && op.work >= 0) add(op.work, op.block);
      if (op.fold < 0) continue;
      for (const Fold::Part& part : program.folds[static_cast<std::size_t>(op.fold)].parts)
        if (part.piece == Piece::kAttention) add(part.work, part.block);
    }
  }
  return flops;
}

class CausalShares : public testing::TestWithParam<CausalSplit> {};

TEST_P(CausalShares, AreThePairsThatTheMaskLeaves) {
  const CausalSplit c = GetParam();
  const auto setup = setup_of(c);
  for (const bool stage_level : {false, true}) {
    const Program program = program_of(setup, {.all_ranks = true, .stage_level = stage_level});
    const auto flops = flops_of(program);
    double all = 0, all_pairs = 0;
    for (const auto& [of, each] : flops) all += each;
    std::map<std::pair<int, int>, double> pairs;
    const bool by_block = std::string_view(c.kind) == "ring";
    for (int rank = 0; rank < c.cp; ++rank)
      for (int step = 0; step < c.cp; ++step)
        pairs[{rank, by_block ? step : 0}] +=
            pairs_of(program.shape, rank, (rank - step + c.cp) % c.cp);
    for (const auto& [of, each] : pairs) all_pairs += each;
    ASSERT_EQ(flops.size(), pairs.size());
    for (const auto& [of, each] : pairs)
      EXPECT_NEAR(flops.at(of) / all, each / all_pairs, 1e-12)
          << "rank " << of.first << " block " << of.second;
  }
}

// The same FLOPs as with the zigzag split, shared out as 1 : 3 : 5 : ...
TEST_P(CausalShares, AddUpToAllAndGoUpByTwo) {
  const CausalSplit c = GetParam();
  auto setup = setup_of(c);
  std::map<int, double> by_rank;
  double all = 0, even = 0;
  for (const auto& [of, each] : flops_of(program_of(setup))) {
    by_rank[of.first] += each;
    all += each;
  }
  setup.cp_split = ContextSplit::kZigzag;
  for (const auto& [of, each] : flops_of(program_of(setup))) even += each;
  EXPECT_NEAR(all / even, 1, 1e-12);
  const bool contiguous = std::string_view(c.split) == "contiguous";
  for (int rank = 0; rank < c.cp; ++rank)
    EXPECT_NEAR(by_rank[rank] / by_rank[0], contiguous ? 2 * rank + 1 : 1, 1e-9);
}

// One rank of each stage stands for all: for the last, which takes longest.
TEST_P(CausalShares, OfTheLastRankDecideTheTimeOfRepresentatives) {
  const auto setup = setup_of(GetParam());
  Machine computes_longest = machine();  // with slow links they alone decide, however work is split
  computes_longest.intra_node = computes_longest.inter_node = {{1e-8}, {1e12}};
  const auto seconds = [&](const auto& of, bool representatives) {
    const Result<Prediction> prediction =
        predict(of, computes_longest,
                BuildOptions{.all_ranks = !representatives, .representatives = representatives});
    EXPECT_TRUE(prediction.ok());
    return seconds_of(prediction->timeline.duration);
  };
  const double all = seconds(setup, false);
  EXPECT_NEAR(seconds(setup, true) / all, 1, 0.02);
  auto balanced = setup;
  balanced.cp_split = ContextSplit::kZigzag;
  const bool is_longer = all > 1.02 * seconds(balanced, false);
  EXPECT_EQ(is_longer, setup.cp_split == ContextSplit::kContiguous);
}

INSTANTIATE_TEST_SUITE_P(Kinds, CausalShares,
                         testing::Values(CausalSplit{"gpt-tiny", 2, 1, "ring", "contiguous"},
                                         CausalSplit{"gpt-tiny", 4, 2, "ring", "contiguous"},
                                         CausalSplit{"llama-tiny", 8, 1, "ring", "contiguous"},
                                         CausalSplit{"gpt-tiny", 4, 1, "all-gather", "contiguous"},
                                         CausalSplit{"llama-tiny", 4, 2, "all-gather",
                                                     "contiguous"},
                                         CausalSplit{"gpt-tiny", 4, 1, "ring", "zigzag"},
                                         CausalSplit{"llama-tiny", 2, 1, "all-gather", "zigzag"}),
                         [](const auto& info) {
                           return std::to_string(info.index) + "_cp" +
                                  std::to_string(info.param.cp);
                         });

}  // namespace
}  // namespace parallelarium
