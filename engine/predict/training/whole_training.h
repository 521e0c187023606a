// SPDX-License-Identifier: Apache-2.0
// The time and the cost of all tokens of a training at the speed of one step.
#pragma once

#include <optional>
#include <string>

#include "engine/plan/result.h"

namespace parallelarium {

struct WholeTraining {
  double tokens = 0;  // tokens of the training; 0: nobody asked
  double price = 0;   // price of a GPU hour; 0: nobody said
};
// Reads "300B" or "15T". Errors: it is no number above 0; there is a price without tokens.
Result<WholeTraining> whole_training_from(const std::string& tokens, double price);

struct TrainingTime {
  double days = 0, gpu_hours = 0;
  std::optional<double> cost;  // none without a price
};
// `tokens_per_second` is the sum over all devices and must be above 0.
TrainingTime time_of(const WholeTraining& training, double tokens_per_second, int devices);

}  // namespace parallelarium
