// SPDX-License-Identifier: Apache-2.0
#include "kernels/experts/router.h"

#include <numeric>

#include "kernels/base/launch.h"
#include "kernels/gpu.h"
#include "tests/gpu/twin.h"

namespace parallelarium {
namespace {

using namespace twin;

// Affinities of a token are a random order of even steps, so that no two experts are as near to
// each other as rounding; biases move them by whole steps and a part that is each expert's own.
struct Routing {
  RouterShape shape;
  Floats logits, bias;  // bias: empty for none
};

RouterShape router(std::int64_t N, std::int64_t E, std::int64_t k, bool sigmoid) {
  RouterShape shape;
  shape.N = N;
  shape.E = E;
  shape.k = k;
  shape.sigmoid = sigmoid;
  shape.balance = 0.7F;
  shape.z = 0.3F;
  return shape;
}

template <class T>
Routing routing(const RouterShape& shape, bool biased) {
  static unsigned drawn = 0;
  std::mt19937 bits(seed() + 15485863 * ++drawn);
  Routing result{shape, {}, {}};
  const auto E = static_cast<double>(shape.E);
  std::vector<int> order(static_cast<std::size_t>(shape.E));
  for (std::int64_t n = 0; n < shape.N; ++n) {
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), bits);
    for (const int place : order) {
      const double affinity = (place + 0.5) / E;
      result.logits.push_back(static_cast<float>(shape.sigmoid ? std::log(affinity / (1 - affinity))
                                                               : std::log(place + 1.0)));
    }
  }
  result.logits = widened(stored<T>(result.logits));
  const double step = shape.sigmoid ? 1 / E : 2 / (E * (E + 1));
  for (std::int64_t e = 0; biased && e < shape.E; ++e) {
    const auto place = static_cast<double>(e);
    result.bias.push_back(static_cast<float>(
        step * (static_cast<double>((7 * e + 3) % shape.E) + place * place / (E * E))));
  }
  return result;
}

std::vector<Routing> routings(const std::vector<RouterShape>& shapes) {
  std::vector<Routing> all;
  for (const RouterShape& shape : shapes)
    for (const bool biased : {false, true})
      // Without a bias sums of two groups may be equal.
      if (biased || shape.groups == 0) all.push_back(routing<float>(shape, biased));
  return all;
}

// One token, odd counts, more experts than lanes; groups, capacity, stripes and skew.
std::vector<RouterShape> shapes() {
  std::vector<RouterShape> all = {router(1, 1, 1, false), router(5, 3, 3, false),
                                  router(70, 8, 2, true), router(300, 33, 3, false)};
  RouterShape grouped = router(37, 8, 2, true);
  grouped.groups = 4;
  grouped.group_limit = 2;
  grouped.stripes = 2;
  all.push_back(grouped);
  grouped = router(19, 32, 4, true);
  grouped.groups = 8;
  grouped.group_limit = 3;
  all.push_back(grouped);
  RouterShape dropping = router(129, 8, 2, false);
  dropping.capacity = 20;
  dropping.stripes = 4;
  dropping.skew = 0.4;
  all.push_back(dropping);
  return all;
}

struct Routed {
  Floats gates, record;
  std::vector<std::int32_t> routes;
  explicit Routed(const RouterShape& shape)
      : gates(filled(shape.N * shape.k, 0)),
        record(filled(record_count(shape.E), 0)),
        routes(static_cast<std::size_t>(routes_count(shape.N, shape.k, shape.E))) {}
};
Routed route_on_cpu(const Routing& routing) {
  Routed routed(routing.shape);
  route_cpu(routed.gates.data(), routed.routes.data(), routed.record.data(), routing.logits.data(),
            routing.bias.empty() ? nullptr : routing.bias.data(), routing.shape);
  return routed;
}

template <class T>
void expect_same_routes(const Routing& routing) {
  const RouterShape& shape = routing.shape;
  const Routed expected = route_on_cpu(routing);
  auto logits = on_device<T>(routing.logits);
  DeviceArray<float> bias(routing.bias), gates(filled(shape.N * shape.k, 7)),
      record(filled(record_count(shape.E), 7));
  DeviceArray<std::int32_t> routes(std::vector<std::int32_t>(expected.routes.size(), 7));
  auto space = workspace(
      route_workspace(static_cast<std::size_t>(shape.N), static_cast<std::size_t>(shape.E)));
  ASSERT_EQ(route<T>(gates.data(), routes.data(), record.data(), logits.data(),
                     routing.bias.empty() ? nullptr : bias.data(), shape, space.data(), nullptr),
            cudaSuccess);
  EXPECT_EQ(routes.host(), expected.routes);
  EXPECT_LE(difference(gates.host(), expected.gates), bound<float>(0));
  EXPECT_LE(difference(record.host(), expected.record), bound<float>(0));
  const auto whole = static_cast<std::ptrdiff_t>(2 * shape.E);
  const Floats counted = record.host();
  EXPECT_EQ(Floats(counted.begin(), counted.begin() + whole),
            Floats(expected.record.begin(), expected.record.begin() + whole));
}

class Router : public OnGpu<testing::Test> {};

TEST_F(Router, ChoosesTheExpertsAndRowsOfTheCpuTwin) {
  for (const Routing& one : routings(shapes())) expect_same_routes<float>(one);
  for (const bool sigmoid : {false, true})
    for (const bool biased : {false, true})
      expect_same_routes<Bf16>(routing<Bf16>(router(41, 8, 2, sigmoid), biased));
}

TEST_F(Router, GivesEqualAffinitiesToTheFirstExperts) {
  Routing even{router(3, 40, 3, false), Floats(120, 0.5F), {}};
  expect_same_routes<float>(even);
}

template <class T>
void expect_same_gradient(const Routing& routing, float scale) {
  const RouterShape& shape = routing.shape;
  const Routed routed = route_on_cpu(routing);
  const Floats dgates = random(shape.N * shape.k);
  Floats expected(routing.logits.size());
  route_grad_cpu(expected.data(), dgates.data(), routing.logits.data(), routed.gates.data(),
                 routed.routes.data(), scale, shape);
  auto logits = on_device<T>(routing.logits), dlogits = on_device<T>(filled(shape.N * shape.E, 7));
  DeviceArray<float> dgates_(dgates), gates(routed.gates);
  DeviceArray<std::int32_t> routes(routed.routes);
  ASSERT_EQ(route_grad<T>(dlogits.data(), dgates_.data(), logits.data(), gates.data(),
                          routes.data(), scale, shape, nullptr),
            cudaSuccess);
  EXPECT_LE(difference(dlogits.floats(), expected), bound<T>(1));
}

TEST_F(Router, GradientWithBalanceAndZLossEqualsTheCpuTwin) {
  for (const float scale : {0.25F, 300.0F})  // the gates' part leads, then that of the balance
    for (const Routing& one : routings(shapes())) expect_same_gradient<float>(one, scale);
  expect_same_gradient<Bf16>(routing<Bf16>(router(41, 8, 2, true), true), 9);
}

TEST_F(Router, BiasesMoveAgainstTheLoadToTheBit) {
  const std::int64_t layers = 3, E = 70;
  Floats loads(static_cast<std::size_t>(layers * E), 5), bias = random(layers * E);
  for (std::size_t i = 0; i < loads.size(); i += 3) loads[i] += static_cast<float>(i % 7) - 3;
  DeviceArray<float> loads_(loads), bias_(bias);
  update_bias_cpu(bias.data(), loads.data(), 0.01F, layers, E);
  ASSERT_EQ(update_bias(bias_.data(), loads_.data(), 0.01F, layers, E, nullptr), cudaSuccess);
  EXPECT_EQ(bias_.host(), bias);
}

template <class T>
class ExpertRows : public OnGpu<testing::Test> {};
TYPED_TEST_SUITE(ExpertRows, Storages);

// Routes with dropped choices, and how many rows they fill.
struct Filled {
  RouterShape shape;
  Routed routed;
  std::int64_t rows = 0;
};
Filled filled_routes() {
  RouterShape shape = router(29, 8, 3, false);
  shape.capacity = 9;
  Filled result{shape, route_on_cpu(routing<float>(shape, true)), 0};
  for (std::int64_t e = 0; e < shape.E; ++e)
    result.rows +=
        result.routed.routes[static_cast<std::size_t>(counts_at(shape.N, shape.k, shape.E) + e)];
  EXPECT_LT(result.rows, shape.N * shape.k);
  return result;
}

constexpr std::int64_t kWidths[] = {1, 5, 8, 264, 1032};

TYPED_TEST(ExpertRows, GoToTheirExpertsAndBringTheirGradientsBack) {
  using T = TypeParam;
  for (const std::int64_t C : kWidths) {
    const auto [shape, routed, count] = filled_routes();
    const std::int64_t N = shape.N, k = shape.k;
    const Floats y = random_stored<T>(N * C), drows = random_stored<T>(count * C),
                 before = random_stored<T>(N * C);
    Floats rows(drows.size());
    dispatch_rows_cpu(rows.data(), y.data(), routed.routes.data(), N, k, C);
    DeviceArray<std::int32_t> routes(routed.routes);
    auto y_ = on_device<T>(y), rows_ = on_device<T>(filled(count * C, 7)),
         drows_ = on_device<T>(drows);
    ASSERT_EQ(dispatch_rows<T>(rows_.data(), y_.data(), routes.data(), N, k, C, nullptr),
              cudaSuccess);
    EXPECT_EQ(rows_.floats(), rows);
    for (const bool adds : {false, true}) {
      Floats dy = before;
      dispatch_rows_grad_cpu(dy.data(), drows.data(), routed.routes.data(), adds, N, k, C);
      auto dy_ = on_device<T>(before);
      ASSERT_EQ(
          dispatch_rows_grad<T>(dy_.data(), drows_.data(), routes.data(), adds, N, k, C, nullptr),
          cudaSuccess);
      EXPECT_EQ(dy_.floats(), widened(stored<T>(dy)));
    }
  }
}

TYPED_TEST(ExpertRows, JoinByTheirGatesAndTakeTheGradientBack) {
  using T = TypeParam;
  for (const std::int64_t C : kWidths) {
    const auto [shape, routed, count] = filled_routes();
    const std::int64_t N = shape.N, k = shape.k;
    const Floats rows = random_stored<T>(count * C), shared = random_stored<T>(N * C),
                 dout = random_stored<T>(N * C);
    DeviceArray<std::int32_t> routes(routed.routes);
    DeviceArray<float> gates(routed.gates), dgates_(filled(N * k, 7));
    auto rows_ = on_device<T>(rows), shared_ = on_device<T>(shared), dout_ = on_device<T>(dout),
         drows_ = on_device<T>(filled(count * C, 7));
    for (const bool beside : {false, true}) {
      Floats out(dout.size());
      combine_rows_cpu(out.data(), rows.data(), routed.gates.data(),
                       beside ? shared.data() : nullptr, routed.routes.data(), N, k, C);
      auto out_ = on_device<T>(filled(N * C, 7));
      ASSERT_EQ(combine_rows<T>(out_.data(), rows_.data(), gates.data(),
                                beside ? shared_.data() : nullptr, routes.data(), N, k, C, nullptr),
                cudaSuccess);
      EXPECT_LE(difference(out_.floats(), out), bound<T>(1));
    }
    Floats drows(rows.size()), dgates(routed.gates.size());
    combine_rows_grad_cpu(drows.data(), dgates.data(), dout.data(), rows.data(),
                          routed.gates.data(), routed.routes.data(), N, k, C);
    ASSERT_EQ(combine_rows_grad<T>(drows_.data(), dgates_.data(), dout_.data(), rows_.data(),
                                   gates.data(), routes.data(), N, k, C, nullptr),
              cudaSuccess);
    EXPECT_LE(difference(drows_.floats(), drows), bound<T>(1));
    EXPECT_LE(difference(dgates_.host(), dgates), bound<float>(0));
  }
}

}  // namespace
}  // namespace parallelarium
