// SPDX-License-Identifier: Apache-2.0
// Predicted beside observed, figure by figure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/program/report.h"
#include "engine/predict/predict.h"

namespace parallelarium {

struct Comparison {
  // The dotted key of both JSON objects: "step.seconds", "memory.ranks.0.peak_bytes"; a row of
  // traffic by its names: "traffic.pp.send_recv.activations.sent_bytes".
  std::string metric;
  double predicted = 0;
  double observed = 0;
  std::string unit;             // "seconds", "bytes", "1", "tokens/second"
  std::optional<double> error;  // predicted / observed - 1; none where observed is 0
};

// How far what was observed lies from the prediction, as a share of it: what people are shown as
// "difference". (Comparison::error is the reverse: how far the prediction lies from the truth.)
// None where the prediction is 0 or either is not finite.
std::optional<double> relative_difference(double predicted, double observed);

// Whether the Machine's rates are those of the devices that ran: of CPUs for ranks on CPUs, of this
// computer's calibrated GPUs for ranks on these, shared by them if and only if it was predicted so.
bool predicts_times(const Machine& machine, const Observation& observation);

// Step seconds and compute seconds, tokens per second, both bubbles, the peak and every category of
// memory of each row that the prediction has, and the sent bytes of every traffic row of rank 0
// that either side has (0 on the side that lacks it). observation.setup must be prediction.setup.
// No times where predicts_times() of the prediction's Machine says no.
std::vector<Comparison> compare_with(const Prediction& prediction, const Observation& observation);

// What the arenas of all ranks held at their peaks; the rest of process_bytes is unexplained.
std::int64_t counted_bytes(const Observation& observation);

// The objects of `run --json`'s "compare": {metric, predicted, measured, unit, error or null}.
nlohmann::json to_json(const std::vector<Comparison>& comparisons);

}  // namespace parallelarium
