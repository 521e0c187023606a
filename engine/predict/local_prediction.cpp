// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/local_prediction.h"

#include <utility>

#include "engine/plan/machine/resolve.h"
#include "engine/predict/compare.h"

namespace parallelarium {

Result<Prediction> predict_as_shown(const Setup& setup, const Machine& machine, bool all_ranks,
                                    std::optional<Message>* too_fast) {
  Result<Prediction> prediction = predict(setup, machine, all_ranks);
  if (!prediction || expected_source(setup, machine) != Source::kPaced) return prediction;
  const Result<PaceChoice> pace = pace_on(*prediction, machine);
  if (pace) {
    prediction->pace_slowed = pace->slowed;
    return dilated(std::move(*prediction), pace->factor);
  }
  const Result<double> wished = pace_factor(setup, machine);
  if (!wished) return wished.error();
  if (too_fast) *too_fast = pace.error();
  return dilated(std::move(*prediction), *wished);
}

}  // namespace parallelarium
