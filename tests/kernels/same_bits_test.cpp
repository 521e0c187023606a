// SPDX-License-Identifier: Apache-2.0
// A tensor lies at different addresses in different meshes and steps; its results must not care.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/attention/attention.h"
#include "kernels/norms/norm.h"
#include "kernels/optimizer/sum_of_squares.h"
#include "kernels/products/linear.h"
#include "kernels/vocabulary/cross_entropy.h"
#include "tests/kernels/reference.h"

namespace parallelarium {
namespace {

using reference::Floats;
using reference::random_floats;

// `values` at an address that is `shift` floats past a multiple of 64 bytes.
class Shifted {
 public:
  Shifted(const Floats& values, std::size_t shift) : storage_(values.size() + 32) {
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
    data_ = storage_.data() + (64 - address % 64) % 64 / 4 + shift;
    std::copy(values.begin(), values.end(), data_);
  }
  float* data() { return data_; }
  Floats copy(std::size_t count) const { return {data_, data_ + count}; }

 private:
  Floats storage_;
  float* data_;
};

class SameBits : public testing::TestWithParam<std::size_t> {};

TEST_P(SameBits, WhateverTheAddress) {
  constexpr std::int64_t N = 37;
  constexpr std::int64_t C = 51;
  constexpr std::int64_t M = 45;
  const Floats x = random_floats(N * C, 1);
  const Floats w = random_floats(M * C, 2);
  const Floats gain = random_floats(C, 3);
  const auto results = [&](std::size_t shift) {
    Shifted xs(x, shift);
    Shifted ws(w, shift);
    Shifted gains(gain, shift);
    Shifted y(Floats(N * C), shift);
    Shifted stats(Floats(2 * N), shift);
    Shifted product(Floats(N * M), shift);
    Shifted dx(Floats(N * C), shift);
    Shifted dw(Floats(M * C), shift);
    layer_norm_forward_cpu(y.data(), stats.data(), xs.data(), gains.data(), nullptr, N, C);
    layer_norm_input_grad_cpu(dx.data(), y.data(), xs.data(), gains.data(), stats.data(), false, N,
                              C);
    linear_forward_cpu(product.data(), xs.data(), ws.data(), nullptr, N, M, C);
    linear_weight_grad_cpu(dw.data(), nullptr, product.data(), xs.data(), N, M, C);
    linear_input_grad_cpu(y.data(), product.data(), ws.data(), N, M, C);
    const AttentionShape shape{1, N, 1, 1, C / 3};
    Shifted context(Floats(N * C / 3), shift);
    Shifted probabilities(Floats(N * N), shift);
    attention_forward_cpu(context.data(), probabilities.data(), xs.data(), shape);
    Shifted row_max(Floats(N), shift);
    Shifted sum_exp(Floats(N), shift);
    Shifted target(Floats(N), shift);
    const std::vector<std::int32_t> targets(N, 1);
    loss_max_cpu(row_max.data(), xs.data(), N, C);
    loss_sum_cpu(sum_exp.data(), target.data(), xs.data(), row_max.data(), targets.data(), N, C);
    double squares = 0;
    sum_of_squares_cpu(&squares, xs.data(), x.size());
    std::vector<Floats> all{y.copy(N * C),   stats.copy(2 * N),        product.copy(N * M),
                            dx.copy(N * C),  dw.copy(M * C),           context.copy(N * C / 3),
                            sum_exp.copy(N), probabilities.copy(N * N)};
    float halves[2];
    std::memcpy(halves, &squares, sizeof squares);
    all.push_back({halves[0], halves[1]});
    return all;
  };
  EXPECT_EQ(results(0), results(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Shifts, SameBits, testing::Values(0, 1, 2, 3, 4, 8, 13, 16));

}  // namespace
}  // namespace parallelarium
