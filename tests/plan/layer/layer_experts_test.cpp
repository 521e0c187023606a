// SPDX-License-Identifier: Apache-2.0
// A layer of experts is described on every rank of its EP group, as the Program, what is counted of
// its traffic, and the routing say.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "engine/plan/layer/layer_steps.h"
#include "engine/plan/program/report.h"
#include "tests/predict/built.h"

namespace parallelarium {
namespace {

Setup experts_setup(int ep, int tp, ExpertPlacement placement = ExpertPlacement::kBlocked) {
  Setup setup = default_setup();
  setup.model = *find_model("moe-tiny");
  setup.mesh = {};
  setup.mesh.dp = ep;
  setup.mesh.ep = ep;
  setup.mesh.tp = tp;
  setup.microbatches = 2;
  setup.expert_placement = placement;
  return setup;
}

std::vector<Setup> experts_setups() {
  auto overlapped = experts_setup(2, 2);
  overlapped.overlap_experts = true;
  return {overlapped,          experts_setup(1, 1),
          experts_setup(2, 1), experts_setup(1, 2),
          experts_setup(2, 2), experts_setup(4, 1, ExpertPlacement::kRoundRobin),
          experts_setup(8, 2)};
}

const LayerStep* step_with(const LayerSteps& layer, Piece piece) {
  for (const LayerStep& step : layer.steps)
    if (step.kind == LayerStepKind::kCompute && step.piece == piece) return &step;
  return nullptr;
}

const LayerTensor* tensor_named(const LayerRankStep& part, const std::string& name) {
  for (const LayerTensor& tensor : part.tensors)
    if (tensor.name == name) return &tensor;
  return nullptr;
}

TEST(LayerOfExperts, EveryRankOfTheGroupSendsTokensAsItsTrafficSays) {
  for (const auto& setup : experts_setups()) {
    const Program program = built(setup);
    const std::size_t ranks = std::size_t(setup.mesh.ep * setup.mesh.tp);
    std::vector<std::int64_t> sent(ranks, 0);
    std::vector<double> flops(ranks, 0);
    for (int layer = 0; layer < setup.model.layers; ++layer)
      for (int microbatch = 0; microbatch < setup.microbatches; ++microbatch)
        for (const bool backward : {false, true}) {
          const LayerSteps steps = layer_steps(setup, program, {layer, microbatch, backward});
          ASSERT_EQ(steps.ranks.size(), ranks);
          for (std::size_t rank = 0; rank < ranks; ++rank) {
            flops[rank] += layer_total(steps, int(rank)).flops;
            for (const LayerStep& step : steps.steps)
              if (step.purpose == Purpose::kTokens || step.purpose == Purpose::kCounts)
                sent[rank] += step.ranks[rank].sent_bytes;
          }
        }
    const LayerSteps steps = layer_steps(setup, program, {0, 0, false});
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const int index = steps.ranks[rank].built;
      std::int64_t counted = 0;
      for (const TrafficRow& row : traffic_of(program, index))
        if (row.purpose == Purpose::kTokens || row.purpose == Purpose::kCounts)
          counted += row.sent_bytes;
      EXPECT_EQ(sent[rank], counted) << rank;
      EXPECT_EQ(counted > 0, setup.mesh.ep > 1);
      double worked = 0;
      for (const Op& op : program.ranks[std::size_t(index)].ops)
        if (op.kind == OpKind::kCompute && op.layer >= 0 && op.phase != Phase::kUpdate)
          for (const Work& work : program.works[std::size_t(op.work)]) worked += work.flops;
      EXPECT_DOUBLE_EQ(flops[rank], worked) << rank;
    }
  }
}

TEST(LayerOfExperts, ARankHasTheExpertsThatLiveThereAndItsShareOfEach) {
  for (const auto& setup : experts_setups()) {
    const Program program = built(setup);
    const LayerSteps layer = layer_steps(setup, program, {1, 0, false});
    const LayerStep* step = step_with(layer, Piece::kExpert);
    ASSERT_NE(step, nullptr);
    const int experts = setup.model.experts.count;
    for (std::size_t rank = 0; rank < layer.ranks.size(); ++rank) {
      std::int64_t bytes = 0;
      for (const char* name : {"w-gate", "w-up", "w-out"}) {
        const LayerTensor* weight = tensor_named(step->ranks[rank], name);
        ASSERT_NE(weight, nullptr);
        std::vector<int> held;
        for (const ChunkRange& range : weight->experts)
          for (std::int64_t expert = range.begin; expert < range.end; ++expert)
            held.push_back(int(expert));
        std::vector<int> expected;
        for (int expert = 0; expert < experts; ++expert)
          if (home_of_expert(expert, experts, setup.mesh.ep, setup.expert_placement).rank ==
              layer.ranks[rank].at.dp)
            expected.push_back(expert);
        EXPECT_EQ(held, expected) << name;
        EXPECT_EQ(weight->held_experts(), experts / setup.mesh.ep);
        const bool out = name == std::string("w-out");
        EXPECT_EQ(out ? weight->columns : weight->rows, setup.model.hidden);
        EXPECT_EQ(out ? weight->rows : weight->columns, setup.model.experts.ffn);
        EXPECT_EQ(out ? weight->held_rows : weight->held_columns,
                  setup.model.experts.ffn / setup.mesh.tp);
        EXPECT_EQ(weight->is_shard(), setup.mesh.ep * setup.mesh.tp > 1);
        bytes += weight->bytes;
      }
      // The buffers of the Program's parameters, without their axes.
      std::int64_t elements = 0;
      for (const ParameterSlice& slice :
           program.ranks[std::size_t(layer.ranks[rank].built)].parameters)
        if (slice.layer == 1 && slice.parameter == Parameter::kExpertWeights)
          elements += slice.count;
      EXPECT_EQ(bytes, elements * 4);
    }
  }
}

TEST(LayerOfExperts, CopiesStandAmongRanksThatHaveTheSameTokens) {
  const auto setup = experts_setup(2, 2);
  const Program program = built(setup);
  const LayerSteps layer = layer_steps(setup, program, {0, 0, false});
  const LayerStep* dispatch = step_with(layer, Piece::kDispatch);
  const LayerStep* router = step_with(layer, Piece::kRouter);
  const LayerStep* experts = step_with(layer, Piece::kExpert);
  ASSERT_TRUE(dispatch && router && experts);
  const auto place = [](const LayerStep& step, const char* name) {
    const auto& all = step.ranks.front().tensors;
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const LayerTensor& tensor) { return tensor.name == name; });
    return int(found - all.begin());
  };
  const std::vector<int> neighbour{1}, everybody{1, 2, 3}, nobody;
  EXPECT_EQ(ranks_with_same(*dispatch, place(*dispatch, "rows"), 0), neighbour);
  EXPECT_EQ(ranks_with_same(*router, place(*router, "y"), 0), neighbour);
  EXPECT_EQ(ranks_with_same(*router, place(*router, "w"), 0), everybody);
  EXPECT_EQ(ranks_with_same(*experts, place(*experts, "w-gate"), 0), nobody);
  EXPECT_EQ(ranks_with_same(*experts, place(*experts, "results"), 0), nobody);  // partial sums
  EXPECT_TRUE(tensor_named(experts->ranks[0], "results")->partial);
  EXPECT_FALSE(tensor_named(dispatch->ranks[0], "rows")->is_shard());
  EXPECT_TRUE(tensor_named(dispatch->ranks[0], "rows")->by_row);
}

TEST(LayerOfExperts, RowsThatAreSentAreThoseThatAreTakenAndThoseOfRoutes) {
  for (auto setup : experts_setups())
    for (const double skew : {0.0, 0.5}) {
      setup.skew = skew;
      const LayerSteps layer = layer_steps(setup, built(setup), {0, 0, false});
      ASSERT_TRUE(layer.routed);
      const RoutedLayer& routed = *layer.routed;
      std::int64_t sent = 0, taken = 0;
      for (int home = 0; home < setup.mesh.ep; ++home) {
        std::vector<std::int64_t> kept(std::size_t(setup.mesh.ep), 0);
        const TokenRoutes& routes = routed.homes[std::size_t(home)];
        for (std::size_t choice = 0; choice < routes.expert.size(); ++choice)
          if (routes.kept[choice])
            ++kept[std::size_t(home_of_expert(routes.expert[choice], routed.experts, setup.mesh.ep,
                                              setup.expert_placement)
                                   .rank)];
        const std::vector<RowRun> runs = row_runs(routed, Piece::kDispatch, home);
        ASSERT_EQ(runs.size(), kept.size());
        for (std::size_t to = 0; to < runs.size(); ++to) {
          EXPECT_EQ(runs[to].home, int(to));
          EXPECT_EQ(runs[to].rows, kept[to]);
          sent += runs[to].rows;
        }
        for (const RowRun& run : row_runs(routed, Piece::kExpert, home)) taken += run.rows;
        EXPECT_TRUE(row_runs(routed, Piece::kRouter, home).empty());
      }
      EXPECT_EQ(sent, taken);
      EXPECT_LE(sent, routed.tokens * routed.top_k * setup.mesh.ep);
      EXPECT_GT(sent, 0);
    }
}

TEST(LayerOfExperts, TheOperatorsOfTensorParallelismStandAroundTheExperts) {
  const auto setup = experts_setup(2, 2);
  const Program program = built(setup);
  for (const bool backward : {false, true}) {
    const LayerSteps layer = layer_steps(setup, program, {0, 0, backward});
    const Piece piece = backward ? Piece::kUnpermute : Piece::kRouter;
    const auto at = std::find_if(layer.steps.begin(), layer.steps.end(), [&](const LayerStep& of) {
      return of.kind == LayerStepKind::kCompute && of.piece == piece;
    });
    ASSERT_TRUE(at != layer.steps.end() && at != layer.steps.begin());
    EXPECT_EQ((at - 1)->kind, LayerStepKind::kNothingSent);
    EXPECT_EQ((at - 1)->symbol, backward ? "g" : "f");
  }
}

}  // namespace
}  // namespace parallelarium
