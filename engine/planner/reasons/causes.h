// SPDX-License-Identifier: Apache-2.0
// Where the time of a predicted step goes, part by part, so that the difference of two steps can be
// told by cause.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/program/repeats.h"
#include "engine/plan/program/report.h"
#include "engine/plan/result.h"
#include "engine/predict/predict.h"

namespace parallelarium {

// Seconds of the compute lanes, mean over the built ranks. They add up to the step, to the
// nanosecond of each op.
struct StepParts {
  double compute = 0;    // forward and backward
  double recompute = 0;  // what the backward computes again
  double optimizer = 0;
  // Idle, as explain.h tells: before a rank's first action, between two, after its last; without
  // the time in which the rank communicates meanwhile.
  double warm_up = 0, wait = 0, drain = 0;
  // By Axis: in the compute lane, or while it is idle.
  std::array<double, 6> exposed{};
  double idle() const { return warm_up + wait + drain; }
  double sum() const;
};
// `repeats`: of a prediction that has not every op of its step (predict/repeats/step_prediction.h).
StepParts parts_of(const Prediction& prediction, const Repeats& repeats = {});
// The same of a run of its Program. `timeline` must have a span for every op.
StepParts parts_of(const Prediction& prediction, const Timeline& timeline,
                   const Repeats& repeats = {});

enum class CauseKind : std::uint8_t {
  kCompute,
  kRecompute,
  kOptimizer,
  kWarmUp,
  kWait,
  kDrain,
  kBubble,   // these three together
  kExposed,  // communication; of one axis, or of all
  kRest,     // what no part explains
};
struct Cause {
  CauseKind kind = CauseKind::kRest;
  double seconds = 0;             // of the second step more than of the first
  std::optional<Axis> axis = {};  // of kExposed
  bool is_bubble() const { return kind >= CauseKind::kWarmUp && kind <= CauseKind::kBubble; }
};
// "compute", "bubble: warm-up", "exposed communication: tp", "unexplained", as JSON and the command
// line say it.
std::string name_of(const Cause& cause);
// They add up to `seconds`, the difference of the steps; kRest is what the parts leave.
std::vector<Cause> causes_of(const StepParts& first, const StepParts& second, double seconds);
// The same of a run, of which only the figures of its busiest rank are known.
std::vector<Cause> causes_of(const StepFigures& first, const StepFigures& second);
// The one that does most for the difference: the largest that has its sign; kRest of no
// seconds where there are none.
Cause largest_of(const std::vector<Cause>& causes);
// "the bubble at warm-up", "exposed communication of TP"
Message words_of(const Cause& cause);

nlohmann::json to_json(const std::vector<Cause>& causes);
// {"compute": seconds, "recompute", "optimizer", "warm_up", "wait", "drain"}: all but what is
// exposed.
nlohmann::json parts_json(const StepParts& parts);
// {"tp": seconds, ...} of the axes that communicate.
nlohmann::json exposed_json(const StepParts& parts);

}  // namespace parallelarium
