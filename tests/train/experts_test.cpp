// SPDX-License-Identifier: Apache-2.0
// A layer of experts by its pieces: the router against the routing of plan/ in double precision,
// gradients against central differences of a forward written a second time.
#include <gtest/gtest.h>

#include "engine/plan/model/routing.h"
#include "engine/train/pieces/execute.h"
#include "tests/kernels/reference.h"

namespace parallelarium {
namespace {

using reference::Doubles;
using reference::Floats;

// One micro-batch through one layer, piece by piece, with a buffer for every operand.
class Layer {
 public:
  Layer(const ExpertShape& experts, Mlp mlp, std::int64_t N, std::int64_t C) {
    shape_.B = 1;
    shape_.T = N;
    shape_.C = C;
    shape_.mlp = mlp;
    shape_.biases = false;
    shape_.global_tokens = 3 * N;  // of a step of three micro-batches
    shape_.experts = experts;
  }
  const Shape& shape() const { return shape_; }

  int buffer(std::int64_t count) {
    Buffer buffer;
    buffer.offset = static_cast<std::int64_t>(arena_.size()) * 4;
    buffer.bytes = count * 4;
    rank_.buffers.push_back(buffer);
    arena_.resize(arena_.size() + static_cast<std::size_t>(count), std::nanf(""));
    return static_cast<int>(rank_.buffers.size()) - 1;
  }
  int buffer(const Floats& values) {
    const int index = buffer(static_cast<std::int64_t>(values.size()));
    std::copy(values.begin(), values.end(), floats(index));
    return index;
  }
  float* floats(int index) { return arena_.data() + offset_of(index) / 4; }
  const std::int32_t* ints(int index) {
    return reinterpret_cast<const std::int32_t*>(arena_.data() + offset_of(index) / 4);
  }
  Floats values(int index) {
    const Buffer& of = rank_.buffers[static_cast<std::size_t>(index)];
    return {floats(index), floats(index) + of.bytes / 4};
  }
  Operand floats_of(int index) const { return operand(index, DataType::kF32, 0); }
  Operand ints_of(int index, std::int64_t from = 0) const {
    return operand(index, DataType::kI32, from);
  }

  void run(Piece piece, Phase phase, std::vector<Operand> operands) {
    rank_.operands = std::move(operands);
    Op op;
    op.piece = piece;
    op.phase = phase;
    op.layer = 0;
    op.operand_count = static_cast<std::int32_t>(rank_.operands.size());
    const Result<void> done =
        execute_op(*device_, shape_, rank_, op, reinterpret_cast<std::byte*>(arena_.data()), {});
    ASSERT_TRUE(done.ok()) << done.error().text;
  }

 private:
  std::int64_t offset_of(int index) const {
    return rank_.buffers[static_cast<std::size_t>(index)].offset;
  }
  Operand operand(int index, DataType type, std::int64_t from) const {
    Operand operand;
    operand.buffer = index;
    operand.type = type;
    operand.offset = from;
    operand.count = rank_.buffers[static_cast<std::size_t>(index)].bytes / 4 - from;
    return operand;
  }

  Shape shape_;
  RankProgram rank_;
  std::vector<float> arena_;
  std::unique_ptr<Device> device_ = make_cpu_device();
};

ExpertShape experts_of(int count, int top_k, Router router) {
  ExpertShape experts;
  experts.model.count = count;
  experts.model.top_k = top_k;
  experts.model.router = router;
  experts.ffn = experts.model.ffn = 3;
  return experts;
}

struct ExpertCase {
  int experts, top_k;
  Router router;
  Mlp mlp;
  std::int64_t capacity;
  double balance, z;
};
class ExpertLayer : public testing::TestWithParam<ExpertCase> {};

TEST_P(ExpertLayer, GradientsAreTheSlopesOfItsOutputAndItsBalanceTerms) {
  const ExpertCase c = GetParam();
  constexpr std::int64_t N = 6, C = 4;
  ExpertShape experts = experts_of(c.experts, c.top_k, c.router);
  experts.capacity = c.capacity;
  experts.model.capacity =
      static_cast<double>(c.capacity * c.experts) / static_cast<double>(N * c.top_k);
  experts.balance_loss = c.balance;
  experts.z_loss = c.z;
  const std::int64_t E = c.experts, k = c.top_k, F = experts.ffn;
  const std::int64_t inner = c.mlp == Mlp::kSwiglu ? 2 * F : F, one = (inner + F) * C;
  Layer layer(experts, c.mlp, N, C);
  const Floats y0 = reference::random_floats(N * C, 1), w0 = reference::random_floats(E * C, 2),
               e0 = reference::random_floats(E * one, 3), pull = reference::random_floats(N * C, 4);

  // Everything as one function of y, router and experts; which expert is chosen, and which tokens
  // are dropped, changes nowhere near.
  const auto loss = [&](const Doubles& x) {
    const Doubles y(x.begin(), x.begin() + N * C), w(x.begin() + N * C, x.begin() + (N + E) * C);
    const Doubles logits = reference::linear(y, w, {}, N, static_cast<std::size_t>(E), C);
    const TokenRoutes routes = route_tokens(experts.model, logits);
    const double share = static_cast<double>(N) / static_cast<double>(layer.shape().global_tokens);
    double sum = share * (c.balance * routes.load.balance + c.z * routes.load.z);
    for (std::int64_t i = 0; i < N * k; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (routes.kept[at] == 0) continue;
      const Doubles token(y.begin() + i / k * C, y.begin() + (i / k + 1) * C);
      const auto first = x.begin() + (N + E) * C + routes.expert[at] * one;
      Doubles u = reference::linear(token, Doubles(first, first + inner * C), {}, 1,
                                    static_cast<std::size_t>(inner), C);
      u = c.mlp == Mlp::kSwiglu ? reference::swiglu(u, static_cast<std::size_t>(F))
                                : reference::gelu(u);
      const Doubles out = reference::linear(u, Doubles(first + inner * C, first + one), {}, 1, C,
                                            static_cast<std::size_t>(F));
      for (std::int64_t channel = 0; channel < C; ++channel)
        sum += routes.gate[at] * out[static_cast<std::size_t>(channel)] *
               static_cast<double>(pull[static_cast<std::size_t>(i / k * C + channel)]);
    }
    return sum;
  };
  Doubles x = reference::doubles(y0);
  for (const Floats* more : {&w0, &e0}) x.insert(x.end(), more->begin(), more->end());
  const Doubles expected =
      reference::gradient([&](const Doubles& at) { return Doubles{loss(at)}; }, x, {1.0});

  const int y = layer.buffer(y0), w = layer.buffer(w0), e = layer.buffer(e0),
            dout = layer.buffer(pull);
  const int logits = layer.buffer(N * E), gates = layer.buffer(N * k),
            routes = layer.buffer(routes_elements(N, E, k)),
            record = layer.buffer(record_elements(E));
  const int rows = layer.buffer(N * k * C), u = layer.buffer(N * k * inner),
            g = layer.buffer(N * k * F), results = layer.buffer(N * k * C),
            out = layer.buffer(N * C);
  const int dresults = layer.buffer(N * k * C), dgates = layer.buffer(N * k),
            du = layer.buffer(N * k * inner), dg = layer.buffer(N * k * F),
            drows = layer.buffer(N * k * C), dlogits = layer.buffer(N * E),
            dy = layer.buffer(N * C);
  const int dw = layer.buffer(Floats(w0.size(), 0)), de = layer.buffer(Floats(e0.size(), 0));
  const auto f = [&](int index) { return layer.floats_of(index); };
  const Operand counts = layer.ints_of(routes, counts_offset(N, E, k)), all = layer.ints_of(routes);
  constexpr Phase kF = Phase::kForward, kI = Phase::kInputGrad, kW = Phase::kWeightGrad;
  layer.run(Piece::kRouter, kF, {f(y), f(w), f(logits), f(gates), all, f(record)});
  layer.run(Piece::kDispatch, kF, {f(y), all, f(rows)});
  layer.run(Piece::kExpert, kF, {f(rows), counts, f(e), f(u), f(g), f(results)});
  layer.run(Piece::kUnpermute, kF, {f(results), f(gates), all, f(out)});
  layer.run(Piece::kUnpermute, kI, {f(dout), f(results), f(gates), all, f(dresults), f(dgates)});
  layer.run(Piece::kExpert, kI, {f(dresults), counts, f(e), f(u), f(du), f(dg), f(drows)});
  layer.run(Piece::kRouter, kI, {f(dgates), f(logits), f(gates), all, f(dlogits)});
  layer.run(Piece::kDispatch, kI, {f(drows), all, f(dlogits), f(w), f(dy)});
  layer.run(Piece::kExpert, kW, {f(dresults), counts, f(du), f(rows), f(g), f(de)});
  layer.run(Piece::kRouter, kW, {f(dlogits), f(y), f(dw)});

  Floats actual = layer.values(dy);
  for (const int more : {dw, de}) {
    const Floats values = layer.values(more);
    actual.insert(actual.end(), values.begin(), values.end());
  }
  EXPECT_LE(reference::relative_difference(actual, expected), 5e-6);
  const Doubles router(expected.begin() + N * C, expected.begin() + (N + E) * C);
  EXPECT_LE(reference::relative_difference(layer.values(dw), router), 2e-5);

  double sum = 0;
  const Floats made = layer.values(out);
  for (std::size_t at = 0; at < made.size(); ++at)
    sum += static_cast<double>(made[at]) * static_cast<double>(pull[at]);
  const TokenRoutes twice =
      route_tokens(experts.model, reference::linear(reference::doubles(y0), reference::doubles(w0),
                                                    {}, N, static_cast<std::size_t>(E), C));
  const double terms = (c.balance * twice.load.balance + c.z * twice.load.z) / 3;
  EXPECT_NEAR(sum + terms, loss(x), 1e-5);
  if (c.capacity > 0) {
    EXPECT_GT(twice.load.dropped(), 0) << "nothing is tested";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Routers, ExpertLayer,
    testing::Values(ExpertCase{4, 2, Router::kSoftmax, Mlp::kSwiglu, 0, 0, 0},
                    ExpertCase{4, 2, Router::kSigmoid, Mlp::kSwiglu, 0, 0, 0},
                    ExpertCase{4, 1, Router::kSoftmax, Mlp::kGelu, 0, 0, 0},
                    ExpertCase{4, 1, Router::kSigmoid, Mlp::kGelu, 0, 0, 0},
                    ExpertCase{3, 3, Router::kSoftmax, Mlp::kSwiglu, 0, 0, 0},
                    ExpertCase{4, 2, Router::kSoftmax, Mlp::kSwiglu, 2, 0, 0},
                    ExpertCase{4, 2, Router::kSoftmax, Mlp::kSwiglu, 0, 0.7, 0},
                    ExpertCase{4, 2, Router::kSigmoid, Mlp::kSwiglu, 0, 0.7, 0},
                    ExpertCase{4, 2, Router::kSoftmax, Mlp::kSwiglu, 0, 0, 0.3},
                    ExpertCase{4, 2, Router::kSigmoid, Mlp::kGelu, 2, 0.5, 0.3}));

TEST(RouterKernel, RoutesAsThePlanDoes) {
  for (const Router router : {Router::kSoftmax, Router::kSigmoid}) {
    for (const auto& [E, k, groups, limit] :
         {std::tuple{8, 2, 0, 0}, {16, 4, 4, 2}, {6, 1, 3, 1}, {8, 8, 0, 0}}) {
      for (const double capacity : {0.0, 1.0}) {
        for (const std::int64_t stripes : {1, 2}) {
          for (const double skew : {0.0, 0.4}) {
            constexpr std::int64_t N = 50;
            Experts experts = experts_of(E, k, router).model;
            experts.groups = groups;
            experts.group_limit = limit;
            experts.capacity = capacity;
            const Floats logits = reference::random_floats(N * E, 5),
                         bias = reference::random_floats(E, 6);
            const TokenRoutes expected =
                route_tokens(experts, reference::doubles(logits), reference::doubles(bias), skew);
            RouterShape shape;
            shape.N = N;
            shape.E = E;
            shape.k = k;
            shape.sigmoid = router == Router::kSigmoid;
            shape.groups = groups;
            shape.group_limit = limit;
            shape.capacity = expert_capacity(experts, N);
            shape.stripes = stripes;
            shape.skew = skew;
            Floats gates(static_cast<std::size_t>(N * k)),
                record(static_cast<std::size_t>(record_count(E)));
            std::vector<std::int32_t> routes(static_cast<std::size_t>(routes_count(N, k, E)));
            route_cpu(gates.data(), routes.data(), record.data(), logits.data(), bias.data(),
                      shape);
            const ExpertPlacement placement =
                stripes == 1 ? ExpertPlacement::kBlocked : ExpertPlacement::kRoundRobin;
            std::vector<std::int64_t> filled(static_cast<std::size_t>(E), 0);
            for (std::size_t i = 0; i < gates.size(); ++i) {
              const auto expert = static_cast<std::size_t>(expected.expert[i]);
              ASSERT_EQ(routes[i], expected.expert[i]);
              EXPECT_NEAR(gates[i], expected.gate[i], 1e-6);
              const std::int32_t row = routes[static_cast<std::size_t>(rows_at(N, k)) + i];
              ASSERT_EQ(row >= 0, expected.kept[i] != 0);
              if (row < 0) continue;
              // Rows before it: those of experts at earlier places, and the expert's own so far.
              const ExpertHome home =
                  home_of_expert(expected.expert[i], E, static_cast<int>(stripes), placement);
              std::int64_t before = filled[expert]++;
              for (int other = 0; other < E; ++other) {
                const ExpertHome at =
                    home_of_expert(other, E, static_cast<int>(stripes), placement);
                if (std::pair(at.rank, at.place) < std::pair(home.rank, home.place))
                  before += expected.load.kept[static_cast<std::size_t>(other)];
              }
              EXPECT_EQ(row, before);
            }
            for (std::size_t e = 0; e < static_cast<std::size_t>(E); ++e) {
              EXPECT_EQ(record[e], static_cast<float>(expected.load.chosen[e]));
              EXPECT_EQ(record[static_cast<std::size_t>(E) + e],
                        static_cast<float>(expected.load.kept[e]));
            }
            EXPECT_NEAR(record.back(), expected.load.z, 1e-4);
          }
        }
      }
    }
  }
}

TEST(RouterKernel, MovesBiasesAsThePlanDoes) {
  const std::vector<std::int64_t> loads = {10, 2, 4, 0, 7, 7, 7, 7};
  std::vector<double> expected = {0.5, 0, 0, 0};
  update_bias(expected, {loads.data(), 4}, 0.25);
  Floats bias = {0.5F, 0, 0, 0, 1, 1, 1, 1};
  update_bias_cpu(bias.data(), Floats(loads.begin(), loads.end()).data(), 0.25F, 2, 4);
  for (std::size_t e = 0; e < 4; ++e) EXPECT_EQ(static_cast<double>(bias[e]), expected[e]);
  EXPECT_EQ(Floats(bias.begin() + 4, bias.end()), Floats(4, 1));
}

}  // namespace
}  // namespace parallelarium
