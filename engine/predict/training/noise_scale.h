// SPDX-License-Identifier: Apache-2.0
// The gradient noise scale: the batch at which the noise of a gradient equals the gradient. Below
// it, twice the batch needs about half the steps; above it, hardly fewer. It is estimated from the
// gradient norms of two batches: that of each data-parallel rank before the reduction, and that of
// all after it.
//
// Source: McCandlish et al. 2018 (arXiv 1812.06162), section 2.2 and appendix A.1.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>

#include "engine/plan/program/report.h"

namespace parallelarium {

// The noise scale of the last training step of one run, or of several runs that differ only in
// their seed.
struct NoiseScale {
  std::int64_t small = 0, big = 0;  // batches in sequences: of one rank, and of all ranks
  std::int64_t sequence = 0;        // tokens of one sequence
  double gradient_squared = 0;      // |G|^2, the squared norm of the gradient without noise
  double noise = 0;                 // tr(Sigma), the variance of one sequence's gradient
  // The noise scale in sequences. None: the estimate of |G|^2 is not above 0, so noise hides the
  // gradient.
  std::optional<double> sequences() const;
};

// None if ranks do not know the norm of their own gradients (ZeRO 2 and 3 add up each micro-batch
// at once), if there is only one data-parallel rank, and if ranks hold parts of layers or experts.
std::optional<NoiseScale> noise_scale_of(const Observation& observed);

// Both parts are averaged before they are divided, since the ratio of single runs is biased.
// There must be a run, and all must have the same batches.
NoiseScale average(std::span<const NoiseScale> runs);

// {sequences, tokens, gradient_squared, noise, small_batch, big_batch, runs: [sequences of each],
// least, most}; numbers that are not known are null.
nlohmann::json to_json(std::span<const NoiseScale> runs);

}  // namespace parallelarium
