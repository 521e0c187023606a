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
// that either side has (0 on the side that lacks it). Requires: observation.setup is
// prediction.setup, and a paced observation stands beside dilated(prediction,
// observation.pace_factor).
// No times where predicts_times() of the prediction's Machine says no.
std::vector<Comparison> compare_with(const Prediction& prediction, const Observation& observation);

// What the arenas of all ranks held at their peaks; the rest of process_bytes is unexplained.
std::int64_t counted_bytes(const Observation& observation);

// The objects of `run --json`'s "compare": {metric, predicted, measured, unit, error or null}.
nlohmann::json to_json(const std::vector<Comparison>& comparisons);

// The prediction as a paced run will show it: every time multiplied by `factor`, rates divided by
// it, and no MFU, since nothing about the pace says how well a device is used. A paced rank's lanes
// never compete for its core, so where the Machine's do, the step is simulated again without that.
// Requires: factor > 0.
Prediction dilated(Prediction prediction, double factor);

// The factor of a paced run: `run.pace_seconds` over the modelled seconds of the forward of the
// whole model for one sequence on one rank of the machine.
// Errors: those of predict() for that one rank.
Result<double> pace_factor(const Setup& setup, const Machine& machine);

// Whether the cores of `here` (this computer, calibrated) can do the real work of a paced run of
// the prediction's Program at that factor. Error: "pace-too-fast", with the least pace, where the
// work would more than fill them; between that and kMostPacedLoad the run itself finds out.
Result<void> can_keep_pace(const Prediction& prediction, double factor, const Machine& here);

// How a paced run goes.
struct PaceChoice {
  double factor = 1;  // of all modelled times
  double slowed = 1;  // the part of it that the cores asked for, beyond run.pace_seconds
};
// The pace of a run of the prediction (not dilated) on the cores of `here`: that of the Setup.
// Where nobody chose one and the work would fill more than kMostPacedLoad of the cores, the least
// pace that leaves room. Errors: as pace_factor() and can_keep_pace(); no pace is slow enough.
Result<PaceChoice> pace_on(const Prediction& prediction, const Machine& here);

// The modelled seconds of every op on the machine, by [rank][op]: what a paced run is given.
std::vector<std::vector<Nanoseconds>> modelled_durations(const Prediction& prediction);

}  // namespace parallelarium
