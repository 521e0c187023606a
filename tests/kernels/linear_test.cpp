// SPDX-License-Identifier: Apache-2.0
#include "kernels/products/linear.h"

#include <gtest/gtest.h>

#include "tests/kernels/reference.h"

namespace parallelarium {
namespace {

using namespace reference;

using Sizes = std::tuple<int, int, int>;
class Linear : public testing::TestWithParam<Sizes> {
 protected:
  std::int64_t N = std::get<0>(GetParam());
  std::int64_t M = std::get<1>(GetParam());
  std::int64_t K = std::get<2>(GetParam());
  Floats x = random_floats(N * K, 1);
  Floats w = random_floats(M * K, 2);
  Floats b = random_floats(M, 3);
  Floats dy = random_floats(N * M, 4);
  Doubles forward(const Doubles& x_, const Doubles& w_, const Doubles& b_) const {
    return reference::linear(x_, w_, b_, static_cast<std::size_t>(N), static_cast<std::size_t>(M),
                             static_cast<std::size_t>(K));
  }
};

TEST_P(Linear, ForwardIsItsDefinition) {
  Floats y(dy.size());
  linear_forward_cpu(y.data(), x.data(), w.data(), b.data(), N, M, K);
  EXPECT_LE(relative_difference(y, forward(doubles(x), doubles(w), doubles(b))), kFloatBound);
  linear_forward_cpu(y.data(), x.data(), w.data(), nullptr, N, M, K);
  EXPECT_LE(relative_difference(y, forward(doubles(x), doubles(w), {})), kFloatBound);
}

TEST_P(Linear, InputGradientIsTheSlope) {
  Floats dx(x.size(), 99.0F);
  linear_input_grad_cpu(dx.data(), dy.data(), w.data(), N, M, K);
  const auto expected =
      reference::gradient([&](const Doubles& at) { return forward(at, doubles(w), doubles(b)); },
                          doubles(x), doubles(dy));
  EXPECT_LE(relative_difference(dx, expected), kFloatBound);
}

TEST_P(Linear, WeightAndBiasGradientsAreSlopesAddedToWhatWasThere) {
  const Floats dw_before = random_floats(M * K, 5);
  const Floats db_before = random_floats(M, 6);
  Floats dw = dw_before;
  Floats db = db_before;
  linear_weight_grad_cpu(dw.data(), db.data(), dy.data(), x.data(), N, M, K);
  Doubles expected =
      reference::gradient([&](const Doubles& at) { return forward(doubles(x), at, doubles(b)); },
                          doubles(w), doubles(dy));
  for (std::size_t at = 0; at < expected.size(); ++at) expected[at] += double{dw_before[at]};
  EXPECT_LE(relative_difference(dw, expected), kFloatBound);
  expected =
      reference::gradient([&](const Doubles& at) { return forward(doubles(x), doubles(w), at); },
                          doubles(b), doubles(dy));
  for (std::size_t at = 0; at < expected.size(); ++at) expected[at] += double{db_before[at]};
  EXPECT_LE(relative_difference(db, expected), kFloatBound);
}

// The same numbers, whatever lies between the rows of y and dy.
TEST_P(Linear, RowsOfTheOutputMayBeApart) {
  const std::int64_t pitch = M + 3;
  Floats apart(static_cast<std::size_t>(N * pitch), 99.0F);
  for (std::int64_t n = 0; n < N; ++n)
    std::copy_n(dy.begin() + n * M, M, apart.begin() + n * pitch);
  Floats dx(x.size()), dx_apart(x.size());
  linear_input_grad_cpu(dx.data(), dy.data(), w.data(), N, M, K);
  linear_input_grad_cpu(dx_apart.data(), apart.data(), w.data(), N, M, K, pitch);
  EXPECT_LE(relative_difference(dx_apart, doubles(dx)), kFloatBound);
  Floats dw(w.size()), dw_apart(w.size()), db(b.size()), db_apart(b.size());
  linear_weight_grad_cpu(dw.data(), db.data(), dy.data(), x.data(), N, M, K);
  linear_weight_grad_cpu(dw_apart.data(), db_apart.data(), apart.data(), x.data(), N, M, K, pitch);
  EXPECT_LE(relative_difference(dw_apart, doubles(dw)), kFloatBound);
  EXPECT_EQ(db_apart, db);
  Floats y(dy.size());
  for (const float* bias : {static_cast<const float*>(nullptr), std::as_const(b).data()}) {
    linear_forward_cpu(y.data(), x.data(), w.data(), bias, N, M, K);
    linear_forward_cpu(apart.data(), x.data(), w.data(), bias, N, M, K, pitch);
    Floats rows;
    for (std::int64_t n = 0; n < N; ++n)
      rows.insert(rows.end(), apart.begin() + n * pitch, apart.begin() + n * pitch + M);
    EXPECT_LE(relative_difference(rows, doubles(y)), kFloatBound);
  }
}

INSTANTIATE_TEST_SUITE_P(AwkwardSizes, Linear,
                         testing::Values(Sizes{1, 1, 1}, Sizes{2, 3, 7}, Sizes{7, 2, 3},
                                         Sizes{3, 17, 5}, Sizes{9, 16, 16}));

}  // namespace
}  // namespace parallelarium
