// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/plan/program/report.h"
#include "engine/predict/predict.h"

namespace parallelarium {

// A run and the prediction of exactly its Setup, on the same Machine and Program.
struct RunRecord {
  std::shared_ptr<const Prediction> prediction;  // all ranks of the run are built
  std::shared_ptr<const Prediction> routed;  // by what the run's routers did; null without experts
  Observation observation;                   // of a pinned prediction: no ranks in the timeline
  std::optional<nlohmann::json> proof;       // of "Prove it", as the engine sent it
  bool observed() const { return !observation.timeline.ranks.empty(); }
};

// The record of an observation made on `machine`. Error: the prediction cannot be made, or is of
// another Program than the one that ran (an engine of another version). Takes as long as two
// predictions: not for the window's thread.
Result<RunRecord> make_run_record(Observation observation, const Machine& machine);

// The same of what the engine answered to `run`.
Result<RunRecord> record_of_answer(const nlohmann::json& answer);

// A prediction as a record, to be pinned.
RunRecord record_of(std::shared_ptr<const Prediction> prediction);

}  // namespace parallelarium
