// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/local_prediction.h"

#include <utility>

#include "engine/predict/compare.h"

namespace parallelarium {

Source expected_source(const Setup& setup, const Machine& machine) {
  if (!machine.local) return Source::kPredicted;
  if (machine.name == kLocalGpus)
    return ranks_share_gpu(setup, machine) ? Source::kSharedGpu : Source::kMeasured;
  const bool enough = machine.cores >= setup.mesh.ranks();
  switch (setup.run.backend) {
    case Backend::kPaced:
      return Source::kPaced;
    case Backend::kCpu:
      return enough ? Source::kMeasured : Source::kOversubscribed;
    case Backend::kCuda:
      return Source::kMeasured;
    case Backend::kAuto:
      break;
  }
  return enough ? Source::kMeasured : Source::kPaced;
}

Result<Prediction> predict_as_shown(const Setup& setup, const Machine& machine, bool all_ranks,
                                    std::optional<Message>* too_fast, bool takes_gpus) {
  if (takes_gpus && setup.run.backend != Backend::kCuda) {
    Setup on_gpus = setup;
    on_gpus.run.backend = Backend::kCuda;
    Result<Prediction> prediction = predict_as_shown(on_gpus, machine, all_ranks, too_fast);
    if (prediction) prediction->setup = setup;
    return prediction;
  }
  Result<Prediction> prediction = predict(setup, machine, all_ranks);
  if (!prediction || expected_source(setup, machine) != Source::kPaced) return prediction;
  const Result<double> factor = pace_factor(setup, machine);
  if (!factor) return factor.error();
  if (too_fast) {
    const Result<void> keeps = can_keep_pace(*prediction, *factor, machine);
    if (!keeps) *too_fast = keeps.error();
  }
  return dilated(std::move(*prediction), *factor);
}

}  // namespace parallelarium
