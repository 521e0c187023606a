// SPDX-License-Identifier: Apache-2.0
// How long all tokens of a training take at the speed of one step, and what they cost.
#pragma once

#include <optional>
#include <string>

#include "engine/plan/result.h"

namespace parallelarium {

struct WholeTraining {
  double tokens = 0;  // of the training; 0: nobody asked
  double price = 0;   // of a GPU hour; 0: nobody said
};
// "300B", "15T". Errors: what is no number above 0; a price without tokens.
Result<WholeTraining> whole_training_from(const std::string& tokens, double price);

struct TrainingTime {
  double days = 0, gpu_hours = 0;
  std::optional<double> cost;  // none without a price
};
// `tokens_per_second` counts those of all devices together, and must be above 0.
TrainingTime time_of(const WholeTraining& training, double tokens_per_second, int devices);

}  // namespace parallelarium
