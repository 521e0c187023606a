// SPDX-License-Identifier: Apache-2.0
// Routing by its properties, by published numbers, and by a second way of counting.
#include "engine/plan/model/routing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <set>

namespace parallelarium {
namespace {

Experts experts_of(int count, int top_k, Router router = Router::kSoftmax) {
  Experts experts;
  experts.count = count;
  experts.top_k = top_k;
  experts.ffn = 64;
  experts.router = router;
  return experts;
}

std::vector<double> random_logits(const Experts& experts, std::int64_t tokens, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> logits(static_cast<std::size_t>(tokens * experts.count));
  for (double& logit : logits) logit = normal(random);
  return logits;
}

std::int64_t sum(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

// Megatron-LM moe_utils.get_capacity; Fedus et al. 2021 for the factor 1.25.
TEST(Capacity, IsThePublishedOne) {
  struct Case {
    std::int64_t tokens;
    int experts, top_k;
    double factor;
    std::int64_t capacity;
  };
  for (const Case& c :
       {Case{8192, 8, 1, 1.25, 1280}, {1024, 64, 1, 1.0, 16}, {2048, 8, 2, 1.25, 640}}) {
    Experts experts = experts_of(c.experts, c.top_k);
    experts.capacity = c.factor;
    EXPECT_EQ(expert_capacity(experts, c.tokens), c.capacity);
  }
  EXPECT_EQ(expert_capacity(experts_of(8, 2), 1024), 0);
}

TEST(Softmax, TakesTheLargestAndWeighsThemByTheSoftmaxOfThemAlone) {
  const Experts experts = experts_of(4, 2);
  const std::vector<double> logits = {0.1, 2, -1, 1.5};
  const TokenRoutes routes = route_tokens(experts, logits);
  EXPECT_EQ(routes.expert, (std::vector{1, 3}));
  const double first = std::exp(2.0) / (std::exp(2.0) + std::exp(1.5));
  EXPECT_NEAR(routes.gate[0], first, 1e-15);
  EXPECT_NEAR(routes.gate[1], 1 - first, 1e-15);
}

TEST(Softmax, OfOneExpertWeighsByItsProbability) {
  const std::vector<double> logits = {0, std::log(3.0)};
  const TokenRoutes routes = route_tokens(experts_of(2, 1), logits);
  EXPECT_EQ(routes.expert, std::vector{1});
  EXPECT_NEAR(routes.gate[0], 0.75, 1e-15);
}

TEST(Sigmoid, LetsTheBiasSelectButNotWeigh) {
  const Experts experts = experts_of(3, 2, Router::kSigmoid);
  const std::vector<double> logits = {0, 1, 2}, bias = {1, 0, 0};
  const TokenRoutes plain = route_tokens(experts, logits),
                    biased = route_tokens(experts, logits, bias);
  EXPECT_EQ(plain.expert, (std::vector{2, 1}));
  EXPECT_EQ(biased.expert, (std::vector{0, 2}));
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  EXPECT_NEAR(biased.gate[0], sigmoid(0) / (sigmoid(0) + sigmoid(2)), 1e-15);
}

TEST(Bias, MovesAgainstTheLoadByItsRate) {
  std::vector<double> bias = {0.5, 0, 0, 0};
  update_bias(bias, std::vector<std::int64_t>{10, 2, 4, 0}, 0.001);
  EXPECT_EQ(bias, (std::vector{0.499, 0.001, 0.0, 0.001}));
}

// DeepSeek-V3's 256 experts on 8 nodes: no token may use more than 4 of them.
TEST(GroupLimit, HoldsInAHundredThousandRandomRoutings) {
  Experts experts = experts_of(256, 8, Router::kSigmoid);
  experts.groups = 8;
  experts.group_limit = 4;
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::vector<double> logits(256), bias(256);
  std::size_t most = 0;
  for (int round = 0; round < 100'000; ++round) {
    for (double& logit : logits) logit = normal(random);
    bias[static_cast<std::size_t>(round % 256)] = 0.01 * normal(random);
    const TokenRoutes routes = route_tokens(experts, logits, bias);
    std::set<int> groups, chosen(routes.expert.begin(), routes.expert.end());
    for (const int expert : routes.expert) groups.insert(expert / 32);
    most = std::max(most, groups.size());
    ASSERT_LE(groups.size(), 4u);
    ASSERT_EQ(chosen.size(), 8u);
  }
  EXPECT_EQ(most, 4u);
}

TEST(GroupLimit, KeepsTheGroupsWithTheLargestSumsOfTheirTwoLargest) {
  Experts experts = experts_of(6, 2, Router::kSigmoid);
  experts.groups = 2;
  experts.group_limit = 1;
  // The largest affinity is in the first group, the largest two together in the second.
  const std::vector<double> logits = {2, -9, -9, 1.5, 1.4, 1.3};
  EXPECT_EQ(route_tokens(experts, logits).expert, (std::vector{3, 4}));
}

class EveryRouter : public testing::TestWithParam<std::tuple<Router, int, double, double>> {
 protected:
  Experts experts() const {
    const auto [router, top_k, capacity, skew] = GetParam();
    Experts of = experts_of(8, top_k, router);
    of.capacity = capacity;
    return of;
  }
  double skew() const { return std::get<3>(GetParam()); }
};

TEST_P(EveryRouter, CountsWhatItChoseAndDropsTheLastOnly) {
  const Experts of = experts();
  const std::int64_t tokens = 100;
  const TokenRoutes routes = route_tokens(of, random_logits(of, tokens, 3), {}, skew());
  const std::int64_t capacity = expert_capacity(of, tokens);
  std::vector<std::int64_t> chosen(8, 0), kept(8, 0);
  for (std::int64_t token = 0; token < tokens; ++token) {
    std::set<int> own;
    double gates = 0;
    for (int j = 0; j < of.top_k; ++j) {
      const auto at = static_cast<std::size_t>(token * of.top_k + j);
      const auto expert = static_cast<std::size_t>(routes.expert[at]);
      own.insert(routes.expert[at]);
      gates += routes.gate[at];
      EXPECT_EQ(routes.kept[at] != 0, capacity == 0 || chosen[expert] < capacity);
      ++chosen[expert];
      kept[expert] += routes.kept[at];
    }
    EXPECT_EQ(own.size(), static_cast<std::size_t>(of.top_k));
    if (of.top_k > 1) {
      EXPECT_NEAR(gates, 1, 1e-12);
    }
    if (is_skewed(token, skew())) {
      EXPECT_EQ(routes.expert[static_cast<std::size_t>(token * of.top_k)], 0);
    }
  }
  EXPECT_EQ(routes.load.chosen, chosen);
  EXPECT_EQ(routes.load.kept, kept);
  EXPECT_EQ(sum(chosen), tokens * of.top_k);
  EXPECT_EQ(routes.load.dropped(), sum(chosen) - sum(kept));
  EXPECT_GE(chosen[0], static_cast<std::int64_t>(100 * skew()));
}
INSTANTIATE_TEST_SUITE_P(All, EveryRouter,
                         testing::Combine(testing::Values(Router::kSoftmax, Router::kSigmoid),
                                          testing::Values(1, 2, 8), testing::Values(0.0, 1.0, 1.25),
                                          testing::Values(0.0, 0.3, 1.0)));

TEST(BalanceLoss, IsOneWhenEvenAndTheNumberOfExpertsWhenAllGoToOne) {
  for (const Router router : {Router::kSoftmax, Router::kSigmoid}) {
    const Experts experts = experts_of(8, 2, router);
    const TokenRoutes even = route_tokens(experts, even_logits(experts, 64, 1));
    EXPECT_EQ(even.load.chosen, std::vector<std::int64_t>(8, 16));
    EXPECT_NEAR(even.load.balance, 1, 0.01);
    // Equal affinities: exactly one, whoever is chosen.
    EXPECT_NEAR(route_tokens(experts, std::vector<double>(64 * 8, 0.5)).load.balance, 1, 1e-12);
  }
  std::vector<double> one(64 * 8, -40);
  for (std::size_t token = 0; token < 64; ++token) one[token * 8 + 5] = 40;
  EXPECT_NEAR(route_tokens(experts_of(8, 1), one).load.balance, 8, 1e-9);
}

TEST(ZLoss, IsTheMeanSquaredLogSumExp) {
  const std::vector<double> logits = {1, 1, 3, 3};
  const double first = 1 + std::log(2.0), second = 3 + std::log(2.0);
  EXPECT_NEAR(route_tokens(experts_of(2, 1), logits).load.z, (first * first + second * second) / 2,
              1e-12);
}

TEST(Skew, SendsItsShareOfTheTokensToExpertZero) {
  const Experts experts = experts_of(8, 1);
  const std::vector<double> logits = even_logits(experts, 800, 4);
  std::int64_t last = 0;
  for (const double skew : {0.0, 0.25, 0.5, 1.0}) {
    const std::int64_t load = route_tokens(experts, logits, {}, skew).load.chosen[0];
    EXPECT_NEAR(static_cast<double>(load), 800 * (skew + (1 - skew) / 8), 30);
    EXPECT_GT(load, last);
    last = load;
  }
  EXPECT_EQ(last, 800);
}

TEST(EvenLogits, DependOnTheSeedAloneAndChooseEveryExpertEquallyOften) {
  for (const auto& [count, top_k] : {std::pair{8, 2}, {64, 6}, {4, 3}, {2, 1}}) {
    const Experts experts = experts_of(count, top_k);
    const std::int64_t tokens = 192;
    const std::vector<double> logits = even_logits(experts, tokens, 9);
    EXPECT_EQ(logits, even_logits(experts, tokens, 9));
    EXPECT_NE(logits, even_logits(experts, tokens, 10));
    EXPECT_EQ(route_tokens(experts, logits).load.chosen,
              std::vector<std::int64_t>(static_cast<std::size_t>(count), tokens * top_k / count));
  }
}

TEST(Placement, PutsEveryExpertInOnePlace) {
  for (const ExpertPlacement placement :
       {ExpertPlacement::kBlocked, ExpertPlacement::kRoundRobin}) {
    std::set<std::pair<int, int>> places;
    for (int expert = 0; expert < 8; ++expert) {
      const ExpertHome home = home_of_expert(expert, 8, 4, placement);
      EXPECT_TRUE(home.rank < 4 && home.place < 2);
      places.insert({home.rank, home.place});
      EXPECT_EQ(expert_at(home, 8, 4, placement), expert);
    }
    EXPECT_EQ(places.size(), 8u);
  }
  // i and i + 4 on four ranks.
  EXPECT_EQ(home_of_expert(5, 8, 4, ExpertPlacement::kRoundRobin).rank, 1);
  EXPECT_EQ(home_of_expert(5, 8, 4, ExpertPlacement::kBlocked).rank, 2);
}

parallelarium::Setup moe(int dp, int ep, double skew) {
  parallelarium::Setup setup = default_setup();
  setup.model = *find_model("moe-tiny");
  setup.mesh.pp = 1;
  setup.mesh.dp = dp;
  setup.mesh.ep = ep;
  setup.skew = skew;
  return setup;
}

// 2 tokens k h (1 - 1/EP) in elements both ways: one way, in bytes, half of it times 4.
TEST(RoutedLayer, SendsTheClosedFormWhenEven) {
  for (const int ep : {1, 2, 4, 8}) {
    parallelarium::Setup setup = moe(8, ep, 0);
    setup.model.experts.capacity = 0;
    const Result<RoutedLayer> layer = route_layer(setup, 0, 0, 0);
    ASSERT_TRUE(layer.ok());
    for (int rank = 0; rank < ep; ++rank) {
      EXPECT_EQ(layer->sent_bytes(rank), 128 * 2 * 64 * 4 * (ep - 1) / ep);
      EXPECT_EQ(layer->received_bytes(rank), layer->sent_bytes(rank));
    }
    EXPECT_NEAR(layer->balance_loss, setup.balance_loss, 1e-3 * setup.balance_loss);
  }
}

TEST(RoutedLayer, DropsTheSameTokensWhateverEp) {
  std::vector<std::int64_t> dropped;
  for (const int ep : {1, 2, 4, 8}) {
    for (const ExpertPlacement placement :
         {ExpertPlacement::kBlocked, ExpertPlacement::kRoundRobin}) {
      parallelarium::Setup setup = moe(8, ep, 0.4);
      setup.expert_placement = placement;
      std::vector<std::int64_t> all(8, 0);
      for (int group = 0; group < 8 / ep; ++group) {
        const Result<RoutedLayer> layer = route_layer(setup, 3, 1, group);
        ASSERT_TRUE(layer.ok());
        EXPECT_EQ(layer->capacity, 40);
        std::int64_t travelling = 0;
        for (const auto& row : layer->rows) travelling += sum(row);
        EXPECT_EQ(travelling, sum(layer->load));
        for (std::size_t e = 0; e < 8; ++e) all[e] += layer->dropped[e];
      }
      if (dropped.empty()) dropped = all;
      EXPECT_EQ(all, dropped);
    }
  }
  EXPECT_GT(dropped[0], 0);
}

TEST(RoutedLayer, IsRefusedInASentence) {
  const auto id = [](const Result<RoutedLayer>& layer) {
    return layer.ok() ? std::string() : layer.error().kind;
  };
  EXPECT_EQ(id(route_layer(default_setup(), 0, 0, 0)), "route-dense");
  EXPECT_EQ(id(route_layer(moe(8, 4, 0), 8, 0, 0)), "route-layer");
  EXPECT_EQ(id(route_layer(moe(8, 4, 0), 0, 8, 0)), "route-microbatch");
  EXPECT_EQ(id(route_layer(moe(8, 4, 0), 0, 0, 2)), "route-group");
  const Routing nothing;
  EXPECT_EQ(id(route_layer(moe(8, 4, 0), 0, 0, 0, &nothing)), "route-measured");
}

TEST(Routing, IsReadAsItIsWritten) {
  Routing routing;
  for (int layer = 0; layer < 2; ++layer) {
    for (int replica = 0; replica < 4; ++replica) {
      const parallelarium::Setup setup = moe(4, 4, 0.1 * layer);
      routing.entries.push_back(
          {layer, 0, replica,
           route_layer(setup, layer, 0, 0)->homes[static_cast<std::size_t>(replica)].load});
    }
  }
  const Result<Routing> again = routing_from_json(to_json(routing));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, routing);
  // What was measured is shown as it was.
  const Result<RoutedLayer> shown = route_layer(moe(4, 4, 0.9), 1, 0, 0, &*again);
  ASSERT_TRUE(shown.ok());
  EXPECT_EQ(shown->rows, route_layer(moe(4, 4, 0.1), 1, 0, 0)->rows);
  for (const char* wrong : {"3", R"([{"layer":0}])", "[[]]",
                            R"([{"layer":0,"microbatch":0,"replica":0,"chosen":[1],"kept":[2],
                                 "balance":1,"z":0}])"})
    EXPECT_FALSE(routing_from_json(nlohmann::json::parse(wrong)).ok()) << wrong;
}

}  // namespace
}  // namespace parallelarium
