// SPDX-License-Identifier: Apache-2.0
#include "kernels/experts/router.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/base/size.h"

namespace parallelarium {

namespace {

bool is_skewed(std::int64_t token, double skew) {
  const auto t = static_cast<double>(token);
  return std::floor((t + 1) * skew) > std::floor(t * skew);
}

// Affinities of one token, and the log-sum-exp of its logits.
float affinities(float* affinity, const float* logits, const RouterShape& shape) {
  const float most = *std::max_element(logits, logits + shape.E);
  float sum = 0;
  for (std::int64_t e = 0; e < shape.E; ++e) {
    affinity[e] = std::exp(logits[e] - most);
    sum += affinity[e];
  }
  for (std::int64_t e = 0; e < shape.E; ++e)
    affinity[e] = shape.sigmoid ? 1 / (1 + std::exp(-logits[e])) : affinity[e] / sum;
  return most + std::log(sum);
}

// The largest of `values`, the first of equal ones.
std::int64_t largest(const float* values, std::int64_t count) {
  return std::max_element(values, values + count) - values;
}

constexpr float kNever = -std::numeric_limits<float>::infinity();

void limit_groups(std::vector<float>& selection, std::vector<float>& sums,
                  const RouterShape& shape) {
  if (shape.groups == 0 || shape.group_limit == shape.groups) return;
  const std::int64_t width = shape.E / shape.groups;
  sums.resize(size(shape.groups));
  for (std::int64_t g = 0; g < shape.groups; ++g) {
    float first = kNever, second = kNever;
    for (std::int64_t e = g * width; e < (g + 1) * width; ++e) {
      const float value = selection[size(e)];
      if (value > first) {
        second = first;
        first = value;
      } else if (value > second) {
        second = value;
      }
    }
    sums[size(g)] = width == 1 ? first : first + second;
  }
  for (std::int64_t left = shape.groups - shape.group_limit; left > 0; --left) {
    // Of equal sums the last is left out first.
    std::int64_t least = -1;
    for (std::int64_t g = 0; g < shape.groups; ++g) {
      if (!std::isnan(sums[size(g)]) && (least < 0 || sums[size(g)] <= sums[size(least)]))
        least = g;
    }
    sums[size(least)] = std::numeric_limits<float>::quiet_NaN();
    std::fill_n(selection.begin() + least * width, width, kNever);
  }
}

// What a token's routing needs beside its result; kept by each thread, so that a step allocates
// nothing.
struct Scratch {
  std::vector<float> affinity, selection, sums, pull, gradient;
  std::vector<double> mean;
  std::vector<std::int32_t> first;
};
Scratch& own_scratch() {
  thread_local Scratch scratch;
  return scratch;
}

}  // namespace

void route_cpu(float* gates, std::int32_t* routes, float* record, const float* logits,
               const float* bias, const RouterShape& shape) {
  const std::int64_t N = shape.N, E = shape.E, k = shape.k;
  std::int32_t* rows = routes + rows_at(N, k);
  std::int32_t* chosen = routes + chosen_at(N, k);
  std::int32_t* counts = routes + counts_at(N, k, E);
  std::fill_n(chosen, 2 * E, 0);
  Scratch& scratch = own_scratch();
  std::vector<float>&affinity = scratch.affinity, &selection = scratch.selection;
  std::vector<double>& mean = scratch.mean;
  affinity.resize(size(E));
  mean.assign(size(E), 0.0);
  double z = 0;
  for (std::int64_t n = 0; n < N; ++n) {
    const float log_sum = affinities(affinity.data(), logits + n * E, shape);
    z += static_cast<double>(log_sum) * static_cast<double>(log_sum);
    float all = 0;
    for (const float value : affinity) all += value;
    for (std::int64_t e = 0; e < E; ++e)
      mean[size(e)] += static_cast<double>(affinity[size(e)] / all);
    selection = affinity;
    if (bias != nullptr) {
      for (std::int64_t e = 0; e < E; ++e) selection[size(e)] += bias[e];
    }
    if (is_skewed(n, shape.skew)) selection[0] = std::numeric_limits<float>::infinity();
    limit_groups(selection, scratch.sums, shape);
    float sum = 0;
    for (std::int64_t j = 0; j < k; ++j) {
      const std::int64_t expert = largest(selection.data(), E);
      selection[size(expert)] = kNever;
      routes[n * k + j] = static_cast<std::int32_t>(expert);
      gates[n * k + j] = affinity[size(expert)];
      sum += affinity[size(expert)];
      ++chosen[expert];
      std::int32_t& count = counts[shape.place_of(expert)];
      const bool fits = shape.capacity == 0 || count < shape.capacity;
      rows[n * k + j] = fits ? count++ : -1;  // among the expert's own for now
    }
    if (k > 1) {
      for (std::int64_t j = 0; j < k; ++j) gates[n * k + j] /= sum;
    }
  }
  std::vector<std::int32_t>& first = scratch.first;
  first.assign(size(E), 0);
  for (std::int64_t place = 1; place < E; ++place)
    first[size(place)] = first[size(place - 1)] + counts[place - 1];
  for (std::int64_t i = 0; i < N * k; ++i) {
    if (rows[i] >= 0) rows[i] += first[size(shape.place_of(routes[i]))];
  }
  for (std::int64_t e = 0; e < E; ++e) {
    record[e] = static_cast<float>(chosen[e]);
    record[E + e] = static_cast<float>(counts[shape.place_of(e)]);
    record[2 * E + e] = static_cast<float>(mean[size(e)] / static_cast<double>(N));
  }
  record[3 * E] = static_cast<float>(z / static_cast<double>(N));
}

void route_grad_cpu(float* dlogits, const float* dgates, const float* logits, const float* gates,
                    const std::int32_t* routes, float scale, const RouterShape& shape) {
  const std::int64_t N = shape.N, E = shape.E, k = shape.k;
  const std::int32_t* chosen = routes + chosen_at(N, k);
  const float each = scale / static_cast<float>(N);
  // d(balance loss) / d(normalised affinity).
  Scratch& scratch = own_scratch();
  std::vector<float>&pull = scratch.pull, &affinity = scratch.affinity,
  &gradient = scratch.gradient;
  for (std::vector<float>* values : {&pull, &affinity, &gradient}) values->resize(size(E));
  for (std::int64_t e = 0; e < E; ++e) {
    pull[size(e)] = shape.balance * static_cast<float>(E) * each * static_cast<float>(chosen[e]) /
                    static_cast<float>(N * k);
  }
  for (std::int64_t n = 0; n < N; ++n) {
    const float* row = logits + n * E;
    float* out = dlogits + n * E;
    const float log_sum = affinities(affinity.data(), row, shape);
    // With respect to affinities: sums over all, then over the chosen.
    float all = 0, mean_pull = 0;
    for (std::int64_t e = 0; e < E; ++e) {
      all += affinity[size(e)];
      mean_pull += affinity[size(e)] * pull[size(e)];
    }
    mean_pull /= all;
    for (std::int64_t e = 0; e < E; ++e) gradient[size(e)] = (pull[size(e)] - mean_pull) / all;
    float sum = 0, mean_gate = 0;
    for (std::int64_t j = 0; j < k; ++j) {
      sum += affinity[size(routes[n * k + j])];
      mean_gate += gates[n * k + j] * dgates[n * k + j];
    }
    for (std::int64_t j = 0; j < k; ++j) {
      const float dgate = dgates[n * k + j];
      gradient[size(routes[n * k + j])] += k == 1 ? dgate : (dgate - mean_gate) / sum;
    }
    // With respect to logits.
    float mean = 0;
    if (!shape.sigmoid) {
      for (std::int64_t e = 0; e < E; ++e) mean += affinity[size(e)] * gradient[size(e)];
    }
    const float pull_z = 2 * shape.z * each * log_sum;
    for (std::int64_t e = 0; e < E; ++e) {
      const float a = affinity[size(e)];
      const float slope =
          shape.sigmoid ? a * (1 - a) * gradient[size(e)] : a * (gradient[size(e)] - mean);
      const float share = shape.sigmoid ? std::exp(row[e] - log_sum) : a;
      out[e] = slope + pull_z * share;
    }
  }
}

void update_bias_cpu(float* bias, const float* loads, float rate, std::int64_t layers,
                     std::int64_t E) {
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    double sum = 0;  // of whole numbers: exact
    for (std::int64_t e = 0; e < E; ++e) sum += static_cast<double>(loads[layer * E + e]);
    for (std::int64_t e = 0; e < E; ++e) {
      const double over = static_cast<double>(loads[layer * E + e]) * static_cast<double>(E) - sum;
      if (over != 0) bias[layer * E + e] += over > 0 ? -rate : rate;
    }
  }
}

void dispatch_rows_cpu(float* rows, const float* y, const std::int32_t* routes, std::int64_t N,
                       std::int64_t k, std::int64_t C) {
  const std::int32_t* row = routes + rows_at(N, k);
  for (std::int64_t i = 0; i < N * k; ++i) {
    if (row[i] >= 0) std::copy_n(y + i / k * C, C, rows + row[i] * C);
  }
}

void dispatch_rows_grad_cpu(float* dy, const float* drows, const std::int32_t* routes, bool adds,
                            std::int64_t N, std::int64_t k, std::int64_t C) {
  const std::int32_t* row = routes + rows_at(N, k);
  for (std::int64_t n = 0; n < N; ++n) {
    float* out = dy + n * C;
    if (!adds) std::fill_n(out, C, 0.0F);
    for (std::int64_t i = n * k; i < (n + 1) * k; ++i) {
      if (row[i] < 0) continue;
      const float* from = drows + row[i] * C;
      for (std::int64_t c = 0; c < C; ++c) out[c] += from[c];
    }
  }
}

void combine_rows_cpu(float* out, const float* rows, const float* gates, const float* shared,
                      const std::int32_t* routes, std::int64_t N, std::int64_t k, std::int64_t C) {
  const std::int32_t* row = routes + rows_at(N, k);
  for (std::int64_t n = 0; n < N; ++n) {
    float* to = out + n * C;
    if (shared != nullptr)
      std::copy_n(shared + n * C, C, to);
    else
      std::fill_n(to, C, 0.0F);
    for (std::int64_t i = n * k; i < (n + 1) * k; ++i) {
      if (row[i] < 0) continue;
      const float* from = rows + row[i] * C;
      const float gate = gates[i];
      for (std::int64_t c = 0; c < C; ++c) to[c] += gate * from[c];
    }
  }
}

void combine_rows_grad_cpu(float* drows, float* dgates, const float* dout, const float* rows,
                           const float* gates, const std::int32_t* routes, std::int64_t N,
                           std::int64_t k, std::int64_t C) {
  const std::int32_t* row = routes + rows_at(N, k);
  for (std::int64_t i = 0; i < N * k; ++i) {
    dgates[i] = 0;
    if (row[i] < 0) continue;
    const float* from = dout + i / k * C;
    const float* value = rows + row[i] * C;
    float* to = drows + row[i] * C;
    const float gate = gates[i];
    float dot = 0;
    for (std::int64_t c = 0; c < C; ++c) {
      to[c] = gate * from[c];
      dot += from[c] * value[c];
    }
    dgates[i] = dot;
  }
}

}  // namespace parallelarium
