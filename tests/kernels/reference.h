// SPDX-License-Identifier: Apache-2.0
// The forward of every kernel once more: in double precision, by the definition, with no thought
// for speed. Tests differentiate these numerically to judge the kernels' gradients. Legend: as in
// kernels/*/*.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/attention/attention.h"

namespace parallelarium::reference {

using Doubles = std::vector<double>;
using Floats = std::vector<float>;

// Uniform in [-1, 1), exact in float.
inline Floats random_floats(std::int64_t count, unsigned seed) {
  std::mt19937 bits(seed);
  Floats values(static_cast<std::size_t>(count));
  for (float& value : values)
    value = static_cast<float>(static_cast<int>(bits() >> 15) - 65536) / 65536.0F;
  return values;
}

inline Doubles doubles(const Floats& values) { return {values.begin(), values.end()}; }

// norm(a - b) / norm(b).
template <class A, class B>
double relative_difference(const A& a, const B& b) {
  double difference = 0;
  double size = 0;
  for (std::size_t at = 0; at < b.size(); ++at) {
    difference += std::pow(double{a[at]} - double{b[at]}, 2);
    size += std::pow(double{b[at]}, 2);
  }
  return std::sqrt(difference) / std::max(std::sqrt(size), 1e-300);
}

// What single precision may cost: sums of a few hundred terms, each rounded to 2^-24.
inline constexpr double kFloatBound = 4e-6;

// d(sum of weights * function(x)) / dx by central differences. In double precision with this step
// the truncation and rounding errors are both below 1e-9 for values of order one.
inline Doubles gradient(const std::function<Doubles(const Doubles&)>& function, Doubles x,
                        const Doubles& weights) {
  constexpr double kStep = 1e-5;
  Doubles result(x.size());
  for (std::size_t at = 0; at < x.size(); ++at) {
    const double kept = x[at];
    x[at] = kept + kStep;
    const Doubles above = function(x);
    x[at] = kept - kStep;
    const Doubles below = function(x);
    x[at] = kept;
    double sum = 0;
    for (std::size_t out = 0; out < above.size(); ++out)
      sum += weights[out] * (above[out] - below[out]);
    result[at] = sum / (2 * kStep);
  }
  return result;
}

// y [N,M] = x [N,K] w [M,K]^T + b; bias may be empty.
inline Doubles linear(const Doubles& x, const Doubles& w, const Doubles& bias, std::size_t N,
                      std::size_t M, std::size_t K) {
  Doubles y(N * M);
  for (std::size_t n = 0; n < N; ++n)
    for (std::size_t m = 0; m < M; ++m) {
      double sum = bias.empty() ? 0 : bias[m];
      for (std::size_t k = 0; k < K; ++k) sum += x[n * K + k] * w[m * K + k];
      y[n * M + m] = sum;
    }
  return y;
}

// bias may be empty.
inline Doubles layer_norm(const Doubles& x, const Doubles& gain, const Doubles& bias) {
  const std::size_t C = gain.size();
  Doubles y(x.size());
  for (std::size_t n = 0; n < x.size() / C; ++n) {
    double mean = 0;
    double variance = 0;
    for (std::size_t c = 0; c < C; ++c) mean += x[n * C + c] / static_cast<double>(C);
    for (std::size_t c = 0; c < C; ++c)
      variance += std::pow(x[n * C + c] - mean, 2) / static_cast<double>(C);
    for (std::size_t c = 0; c < C; ++c)
      y[n * C + c] = (x[n * C + c] - mean) / std::sqrt(variance + 1e-5) * gain[c] +
                     (bias.empty() ? 0 : bias[c]);
  }
  return y;
}

inline Doubles rms_norm(const Doubles& x, const Doubles& gain) {
  const std::size_t C = gain.size();
  Doubles y(x.size());
  for (std::size_t n = 0; n < x.size() / C; ++n) {
    double squares = 0;
    for (std::size_t c = 0; c < C; ++c)
      squares += std::pow(x[n * C + c], 2) / static_cast<double>(C);
    for (std::size_t c = 0; c < C; ++c)
      y[n * C + c] = x[n * C + c] / std::sqrt(squares + 1e-5) * gain[c];
  }
  return y;
}

struct Attended {
  Doubles probabilities, context;
};
inline Attended attention(const Doubles& qkv, const AttentionShape& shape) {
  const std::int64_t B = shape.B, T = shape.T, H = shape.H, K = shape.K, D = shape.D;
  const std::int64_t A = (H + 2 * K) * D;
  Attended out{Doubles(static_cast<std::size_t>(B * H * T * T)),
               Doubles(static_cast<std::size_t>(B * T * H * D))};
  const auto at = [&](std::int64_t b, std::int64_t t, std::int64_t head, std::int64_t d) {
    return qkv[static_cast<std::size_t>((b * T + t) * A + head * D + d)];
  };
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t h = 0; h < H; ++h)
      for (std::int64_t i = 0; i < T; ++i) {
        const std::int64_t key_head = H + h * K / H;
        Doubles e(static_cast<std::size_t>(i + 1));
        for (std::int64_t j = 0; j <= i; ++j) {
          double score = 0;
          for (std::int64_t d = 0; d < D; ++d) score += at(b, i, h, d) * at(b, j, key_head, d);
          e[static_cast<std::size_t>(j)] = std::exp(score / std::sqrt(static_cast<double>(D)));
        }
        const double sum = std::accumulate(e.begin(), e.end(), 0.0);
        for (std::int64_t j = 0; j <= i; ++j) {
          const double p = e[static_cast<std::size_t>(j)] / sum;
          out.probabilities[static_cast<std::size_t>(((b * H + h) * T + i) * T + j)] = p;
          for (std::int64_t d = 0; d < D; ++d)
            out.context[static_cast<std::size_t>((b * T + i) * H * D + h * D + d)] +=
                p * at(b, j, key_head + K, d);
        }
      }
  return out;
}

// As multiplication of complex numbers by e^(i angle).
inline Doubles rotary(Doubles qkv, const AttentionShape& shape) {
  const auto [B, T, H, K, D] = shape;
  for (std::int64_t n = 0; n < B * T; ++n)
    for (std::int64_t head = 0; head < H + K; ++head)
      for (std::int64_t d = 0; d < D / 2; ++d) {
        const double angle =
            static_cast<double>(n % T) /
            std::pow(10000.0, 2.0 * static_cast<double>(d) / static_cast<double>(D));
        const auto first = static_cast<std::size_t>(n * (H + 2 * K) * D + head * D + d);
        const auto second = first + static_cast<std::size_t>(D / 2);
        const double a = qkv[first];
        const double b = qkv[second];
        qkv[first] = a * std::cos(angle) - b * std::sin(angle);
        qkv[second] = b * std::cos(angle) + a * std::sin(angle);
      }
  return qkv;
}

inline Doubles gelu(Doubles u) {
  for (double& x : u)
    x = 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
  return u;
}

inline Doubles swiglu(const Doubles& u, std::size_t F) {
  Doubles g(u.size() / 2);
  for (std::size_t at = 0; at < g.size(); ++at) {
    const std::size_t gate = at / F * 2 * F + at % F;
    g[at] = u[gate] / (1 + std::exp(-u[gate])) * u[gate + F];
  }
  return g;
}

inline Doubles embedding(const std::vector<std::int32_t>& tokens, const Doubles& table,
                         const Doubles& positions, std::size_t T, std::size_t C) {
  Doubles x(tokens.size() * C);
  for (std::size_t n = 0; n < tokens.size(); ++n)
    for (std::size_t c = 0; c < C; ++c)
      x[n * C + c] = table[static_cast<std::size_t>(tokens[n]) * C + c] +
                     (positions.empty() ? 0 : positions[n % T * C + c]);
  return x;
}

// Sum over tokens of -log softmax(logits)[target].
inline double cross_entropy(const Doubles& logits, const std::vector<std::int32_t>& targets) {
  const std::size_t V = logits.size() / targets.size();
  double loss = 0;
  for (std::size_t n = 0; n < targets.size(); ++n) {
    const double* row = logits.data() + n * V;
    const double largest = *std::max_element(row, row + V);
    double sum = 0;
    for (std::size_t v = 0; v < V; ++v) sum += std::exp(row[v] - largest);
    loss += std::log(sum) + largest - row[targets[n]];
  }
  return loss;
}

}  // namespace parallelarium::reference
