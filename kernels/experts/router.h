// SPDX-License-Identifier: Apache-2.0
// Mixture of experts: chooses the experts of each token and their weights, and moves rows
// accordingly. engine/plan/model/routing.h does the same in double precision and names the sources.
// Legend: N tokens, E experts, k experts of a token, C hidden. Rows of dispatched tokens are sorted
// by the place of their expert, then by token.
#pragma once

#include <cstdint>

namespace parallelarium {

struct RouterShape {
  std::int64_t N = 0, E = 0, k = 0;
  bool sigmoid = false;  // affinities: sigmoids of the logits, else their softmax
  std::int64_t groups = 0, group_limit = 0;
  std::int64_t capacity = 0;  // tokens that one expert takes; 0: all
  // The experts of one rank stand together: expert e has place (e mod stripes) (E / stripes) + e /
  // stripes.
  std::int64_t stripes = 1;
  double skew = 0;    // share of the tokens that go to expert 0 whatever their logits
  float balance = 0;  // coefficients of the balance loss and of the z-loss
  float z = 0;
  constexpr std::int64_t place_of(std::int64_t expert) const {
    return expert % stripes * (E / stripes) + expert / stripes;
  }
};

// route_cpu writes into `routes` (i32): the experts of each token [N, k], the largest affinity
// first; the row of each choice [N, k], -1 for a dropped one; how many tokens chose each expert
// [E]; how many rows each expert has, by place [E].
constexpr std::int64_t routes_count(std::int64_t N, std::int64_t k, std::int64_t E) {
  return 2 * N * k + 2 * E;
}
constexpr std::int64_t rows_at(std::int64_t N, std::int64_t k) { return N * k; }
constexpr std::int64_t chosen_at(std::int64_t N, std::int64_t k) { return 2 * N * k; }
constexpr std::int64_t counts_at(std::int64_t N, std::int64_t k, std::int64_t E) {
  return 2 * N * k + E;
}
// It writes into `record` (f32): how many tokens chose each expert [E], how many of them it kept
// [E], each expert's mean normalised affinity [E], the mean squared log-sum-exp [1].
constexpr std::int64_t record_count(std::int64_t E) { return 3 * E + 1; }

// Makes gates [N, k], routes and record from logits [N, E]. `bias` [E] shifts the selection alone;
// it may be null.
void route_cpu(float* gates, std::int32_t* routes, float* record, const float* logits,
               const float* bias, const RouterShape& shape);

// Makes dlogits [N, E] from dgates [N, k], and adds the gradients of `scale` times the balance loss
// and z-loss of these N tokens.
void route_grad_cpu(float* dlogits, const float* dgates, const float* logits, const float* gates,
                    const std::int32_t* routes, float scale, const RouterShape& shape);

// Lowers bias [layers, E] by `rate` if an expert's load is above the mean of its layer, and raises
// it if the load is below.
void update_bias_cpu(float* bias, const float* loads, float rate, std::int64_t layers,
                     std::int64_t E);

// rows[row of (n, j)] = y[n], for choices that were not dropped. y [N, C].
void dispatch_rows_cpu(float* rows, const float* y, const std::int32_t* routes, std::int64_t N,
                       std::int64_t k, std::int64_t C);
// dy[n] (with `adds`: +=) the sum of drows[row of (n, j)].
void dispatch_rows_grad_cpu(float* dy, const float* drows, const std::int32_t* routes, bool adds,
                            std::int64_t N, std::int64_t k, std::int64_t C);
// out[n] = shared[n] + the sum of gates[n, j] rows[row of (n, j)]; shared may be null.
void combine_rows_cpu(float* out, const float* rows, const float* gates, const float* shared,
                      const std::int32_t* routes, std::int64_t N, std::int64_t k, std::int64_t C);
// drows[row of (n, j)] = gates[n, j] dout[n]; dgates[n, j] = dout[n] . rows[row of (n, j)], 0 where
// it was dropped.
void combine_rows_grad_cpu(float* drows, float* dgates, const float* dout, const float* rows,
                           const float* gates, const std::int32_t* routes, std::int64_t N,
                           std::int64_t k, std::int64_t C);

}  // namespace parallelarium
