// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/local_prediction.h"

#include <cassert>
#include <utility>

#include "engine/plan/machine/resolve.h"
#include "engine/predict/compare.h"

namespace parallelarium {

Source expected_source(const Setup& setup, const Machine& machine) {
  if (!machine.local) return Source::kPredicted;
  if (machine.name == kLocalGpus)
    return ranks_share_gpu(setup, machine) ? Source::kSharedGpu : Source::kMeasured;
  assert(is_resolved(setup));
  const Backend backend = setup.run.backend;
  if (backend == Backend::kPaced) return Source::kPaced;
  const bool few = backend == Backend::kCpu && machine.cores < setup.mesh.ranks();
  return few ? Source::kOversubscribed : Source::kMeasured;
}

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
