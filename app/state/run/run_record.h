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
  std::shared_ptr<const Prediction> routed;  // with the routing of the run; null without experts
  Observation observation;              // has no ranks in its timeline if a prediction was pinned
  std::optional<nlohmann::json> proof;  // of "Prove it", as the engine sent it
  bool observed() const { return !observation.timeline.ranks.empty(); }
};

// Makes the record of an observation on `machine`. Error: the prediction cannot be made, or its
// Program is not the one that ran (an engine of another version). It takes as long as two
// predictions, so do not call it on the window's thread.
Result<RunRecord> make_run_record(Observation observation, const Machine& machine);

// The same from the engine's answer to `run`.
Result<RunRecord> record_of_answer(const nlohmann::json& answer);

// Makes a prediction a record, so that it can be pinned.
RunRecord record_of(std::shared_ptr<const Prediction> prediction);

}  // namespace parallelarium
