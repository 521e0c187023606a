// SPDX-License-Identifier: Apache-2.0
// Compares predicted with observed figures.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/program/report.h"
#include "engine/predict/predict.h"

namespace parallelarium {

struct Comparison {
  // The dotted key of both JSON objects: "step.seconds", "memory.ranks.0.peak_bytes". A row of
  // traffic is found by its names: "traffic.pp.send_recv.activations.sent_bytes".
  std::string metric;
  double predicted = 0;
  double observed = 0;
  std::string unit;             // "seconds", "bytes", "1", "tokens/second"
  std::optional<double> error;  // predicted / observed - 1; none if observed is 0
};

// The difference between observed and predicted, as a share of the predicted. People see it as
// "difference". (Comparison::error is the reverse: how far the prediction is from the observed.)
// None if the prediction is 0 or one of the two is not finite.
std::optional<double> relative_difference(double predicted, double observed);

// Whether the Machine's rates are those of the devices that ran. For ranks on CPUs these must be
// rates of CPUs. For ranks on GPUs they must be those of this computer's calibrated GPUs, shared if
// and only if the prediction shares them.
bool predicts_times(const Machine& machine, const Observation& observation);

// Compares step seconds and compute seconds, tokens per second, both bubbles, the peak and every
// category of memory of each row that the prediction has, and the sent bytes of every traffic row
// of rank 0 that either side has (0 on the side that lacks it). It leaves out times if
// predicts_times() says no for the prediction's Machine. observation.setup must be
// prediction.setup.
std::vector<Comparison> compare_with(const Prediction& prediction, const Observation& observation);

// The bytes that the arenas of all ranks held at their peaks. The rest of process_bytes is
// unexplained.
std::int64_t counted_bytes(const Observation& observation);

// The objects of `run --json`'s "compare": {metric, predicted, measured, unit, error or null}.
nlohmann::json to_json(const std::vector<Comparison>& comparisons);

}  // namespace parallelarium
