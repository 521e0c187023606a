// SPDX-License-Identifier: Apache-2.0
// "Prove it": the same training on one rank, compared.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/run/train/run.h"
#include "engine/train/parameters.h"

namespace parallelarium {

namespace {

constexpr double kNothingAlike = std::numeric_limits<double>::infinity();

double loss_difference(const std::vector<double>& many, const std::vector<double>& one) {
  if (many.size() != one.size() || one.empty()) return kNothingAlike;
  double largest = 0;
  for (std::size_t step = 0; step < one.size(); ++step) {
    const double difference = std::abs(many[step] - one[step]) / std::abs(one[step]);
    // A loss that is not a number is no proof.
    if (!(difference <= largest)) largest = std::isnan(difference) ? kNothingAlike : difference;
  }
  return largest;
}

// How far the parameters of two runs are apart at the end, as a share of what one update changes:
// AdamW moves each by some learning rate.
double drift_in_updates(const Setup& setup, const RunResult& a, const RunResult& b) {
  if (a.parameters.size() != b.parameters.size() || setup.learning_rate <= 0) return 0;
  double squares = 0, count = 0;
  for (std::size_t i = 0; i < b.parameters.size(); ++i) {
    const std::vector<float>&of_a = a.parameters[i].values, &of_b = b.parameters[i].values;
    for (std::size_t j = 0; j < std::min(of_a.size(), of_b.size()); ++j) {
      const double d = static_cast<double>(of_a[j]) - static_cast<double>(of_b[j]);
      squares += d * d;
    }
    count += static_cast<double>(of_b.size());
  }
  return count > 0 ? std::sqrt(squares / count) / setup.learning_rate : 0;
}

// The most by which a loss changes from one step to the next, relative to the least loss.
double largest_change(const std::vector<double>& losses) {
  double most = 0, least = std::numeric_limits<double>::infinity();
  for (std::size_t step = 0; step < losses.size(); ++step) {
    least = std::min(least, losses[step]);
    if (step > 0) most = std::max(most, std::abs(losses[step] - losses[step - 1]));
  }
  return least > 0 ? most / least : 0;
}

}  // namespace

Setup one_rank_setup(const Setup& setup) {
  Setup one = setup;
  one.mesh.dp = one.mesh.tp = one.mesh.pp = one.mesh.cp = one.mesh.ep = 1;
  one.microbatches = setup.mesh.dp * setup.microbatches;
  one.sequence_parallel = false;
  one.recompute = Recompute::kNone;
  one.attention = Attention::kUnfused;
  one.zero = one.zero_group = one.nodes = 0;
  const Setup usual;
  one.context_parallel = usual.context_parallel;
  one.cp_split = usual.cp_split;
  one.sequence_regather = usual.sequence_regather;
  one.zero_prefetch = usual.zero_prefetch;
  one.zero_reshard = usual.zero_reshard;
  one.gradient_reduction = usual.gradient_reduction;
  one.overlap_parameters = usual.overlap_parameters;
  one.overlap_tensor = usual.overlap_tensor;
  one.ring_tensor = usual.ring_tensor;
  one.overlap_pipeline = usual.overlap_pipeline;
  one.scatter_gather = usual.scatter_gather;
  one.microbatch_group = usual.microbatch_group;
  one.schedule = "1f1b";
  one.collectives = "direct";
  one.chunks = 1;
  one.stage_layers.clear();
  one.model.stage_layers.clear();
  one.run.backend = Backend::kCpu;
  one.run.slow_rank = {};
  return one;
}

Proof compare(const RunResult& many, const RunResult& one) {
  Proof proof;
  proof.losses_one_rank = one.observation.losses;
  proof.loss_difference = loss_difference(many.observation.losses, one.observation.losses);
  double difference = 0, norm = 0, worst = -1;
  bool alike = !one.gradients.empty() && many.gradients.size() == one.gradients.size();
  for (std::size_t i = 0; alike && i < one.gradients.size(); ++i) {
    const NamedTensor &a = many.gradients[i], &b = one.gradients[i];
    alike = a.parameter == b.parameter && a.layer == b.layer && a.values.size() == b.values.size();
    if (!alike) break;
    double own = 0;
    for (std::size_t j = 0; j < b.values.size(); ++j) {
      const double d = static_cast<double>(a.values[j]) - static_cast<double>(b.values[j]);
      own += d * d;
      norm += static_cast<double>(b.values[j]) * static_cast<double>(b.values[j]);
    }
    difference += own;
    if (own > worst) {
      worst = own;
      proof.worst_parameter = describe(b.parameter, b.layer);
    }
  }
  const double relative = norm > 0 ? std::sqrt(difference / norm) : kNothingAlike;
  proof.gradient_difference = alike && std::isfinite(relative) ? relative : kNothingAlike;
  return proof;
}

Proof compare(const Setup& setup, const RunResult& many, const RunResult& one,
              const RunResult& exact) {
  constexpr double kSpread = 1.5;  // two draws of the same rounding differ by as much
  constexpr double kMostGradient = 0.1, kLeastLoss = 1.0 / (1 << 13), kMostLoss = 1.0 / (1 << 4);
  const double terms = setup.mesh.tp * setup.mesh.cp;
  const auto tokens = static_cast<double>(setup.mesh.dp * setup.microbatches * setup.micro_batch) *
                      static_cast<double>(setup.model.sequence);
  const double spread = kSpread * std::sqrt(terms);
  Proof proof = compare(many, exact);
  proof.in_16_bit = true;
  const double one_token = setup.model.experts.count > 0 ? 0.5 / std::sqrt(tokens) : 0;
  proof.gradient_bound =
      std::min(spread * compare(one, exact).gradient_difference + one_token, kMostGradient);
  proof.loss_bound =
      std::clamp(proof.gradient_bound / std::sqrt(tokens) +
                     drift_in_updates(setup, one, exact) * largest_change(exact.observation.losses),
                 kLeastLoss, kMostLoss);
  return proof;
}

}  // namespace parallelarium
