// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/run/run_record.h"

#include "engine/predict/predict.h"
#include "engine/wire/messages.h"

namespace parallelarium {

Result<RunRecord> make_run_record(Observation observation, const Machine& machine) {
  Result<Prediction> prediction = predict(observation.setup, machine, true);
  if (!prediction) return prediction.error();
  const auto& built = prediction->program.ranks;
  const auto& ranks = observation.timeline.ranks;
  bool same = built.size() == ranks.size() && observation.memory.size() == ranks.size() &&
              observation.traffic.size() == ranks.size();
  for (std::size_t rank = 0; same && rank < ranks.size(); ++rank)
    same = ranks[rank].spans.size() == built[rank].ops.size();
  if (!same)
    return message("run-program",
                   "The run was made by an engine of another version, whose program differs from "
                   "the predicted one; run it again with this version.");
  RunRecord record;
  if (const Routing* routing = routing_of_timeline(observation)) {
    Result<Prediction> routed = predict(observation.setup, machine, true, routing);
    if (!routed) return routed.error();
    record.routed = std::make_shared<const Prediction>(std::move(*routed));
  }
  record.prediction = std::make_shared<const Prediction>(std::move(*prediction));
  record.observation = std::move(observation);
  return record;
}

Result<RunRecord> record_of_answer(const nlohmann::json& answer) {
  if (!answer.is_object() || !answer.contains("observation") || !answer.contains("machine"))
    return message("run-answer", "The engine answered a run without an observation; run it again.");
  Result<Observation> observation = observation_from_json(answer["observation"]);
  if (!observation) return observation.error();
  const Result<Machine> machine = machine_from_json(answer["machine"]);
  if (!machine) return machine.error();
  Result<RunRecord> record = make_run_record(std::move(*observation), *machine);
  if (record && answer.contains("proof") && answer["proof"].is_object())
    record->proof = answer["proof"];
  return record;
}

RunRecord record_of(std::shared_ptr<const Prediction> prediction) {
  RunRecord record;
  record.observation.setup = prediction->setup;
  record.prediction = std::move(prediction);
  return record;
}

}  // namespace parallelarium
