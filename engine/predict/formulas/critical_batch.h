// SPDX-License-Identifier: Apache-2.0
// The critical batch of training a language model. With it, steps and tokens are both twice the
// least possible. Far below it, twice the batch saves half of the steps; far above it, none. A run
// measures its own noise scale (noise_scale.h); this is what others found before.
//
// Source: McCandlish et al. 2018 (arXiv 1812.06162), section 2.3, for what a batch costs; Kaplan et
// al. 2020 (arXiv 2001.08361), equations 1.1 and 1.4 and figure 10, for the figures, fitted on
// WebText2 with dense models of at most 1.5 billion parameters.
#pragma once

#include "engine/plan/model/model.h"

namespace parallelarium {

struct CriticalBatch {
  double parameters = 0;  // parameters that a token meets, without tables of tokens and positions
  double loss = 0;        // nats a token: the loss that such a model reaches on endless data
  double tokens = 0;      // the critical batch at that loss, which is the most that it grows to
  // The share of the steps that twice a batch of `batch` tokens saves.
  double saved_by_twice(double batch) const;
};

// The largest number of parameters that the law was fitted on.
inline constexpr double kMostFittedParameters = 1.5e9;

// Tokens of the critical batch at a loss in nats a token.
double critical_tokens(double loss);
// check_model(model) must be empty.
CriticalBatch critical_batch(const Model& model);

}  // namespace parallelarium
