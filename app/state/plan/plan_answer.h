// SPDX-License-Identifier: GPL-3.0-or-later
// What the engine answers of a search (`plan` of the protocol), read.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// Why a neighbour of a plan is not better, or why a plan is behind the best.
struct PlanWhy {
  std::string change;             // "TP 8 → 4"
  std::optional<double> seconds;  // that the step takes longer; none: it cannot be
  Message sentence;
};

struct FoundPlan {
  Setup setup;
  int gpus = 0, stage = 0;  // the stage that needs most memory
  double seconds = 0, tokens_per_second = 0, mfu = 0, bubble = 0, exposed_seconds = 0;
  std::vector<std::pair<std::string, double>> exposed;  // by axis
  std::vector<std::int64_t> stage_bytes;                // peak of each stage
  std::int64_t bytes = 0;
  bool tied = false, on_front = false;
  std::vector<PlanWhy> why;
};

// What the search makes of a setup that was asked about.
struct ExplainedPlan {
  Setup setup;
  std::string plan_class;  // "refused" "does_not_fit" "bounded" "simulated"
  Message sentence;
  std::optional<double> seconds;  // of its step; none: it cannot be, or does not fit
  std::int64_t bytes = 0;         // 0: it cannot be
  struct Change {
    std::string change;  // "TP 8 → 4"
    Message sentence;
    Setup setup;
  };
  std::optional<Change> change;  // the one that serves it best
};

struct PlanLoss {
  std::int64_t count = 0;
  Message sentence;  // of one of them
};

struct PlanAnswer {
  enum Class { kRefused, kDoesNotFit, kBounded, kSimulated, kClasses };
  std::int64_t candidates = 0, counts[kClasses] = {};
  std::int64_t valid = 0, fitting = 0;     // candidates that are left after the first two classes
  bool cancelled = false;                  // the best are those of what was simulated until then
  std::int64_t undecided = 0;              // then: candidates that have no class
  std::vector<PlanLoss> losses[kClasses];  // most frequent first
  // The best as they are shown: those that are tied with the first by memory, the others by time;
  // `best_time` is the fastest of them.
  std::vector<FoundPlan> plans;
  std::size_t best_time = 0;
  std::vector<FoundPlan> front;                         // by time
  std::vector<std::pair<double, std::int64_t>> points;  // seconds and bytes of the simulated
  std::optional<std::pair<std::int64_t, Setup>> least;  // of those that do not fit
  std::optional<double> tie_threshold;                  // share of a step
  std::optional<ExplainedPlan> explained;
  std::int64_t capacity_bytes = 0;
  std::string rates;  // prediction_word() of the Machine
  double search_seconds = 0;
};
// Error: it is no answer of `plan`.
Result<PlanAnswer> plan_answer_from_json(const nlohmann::json& json);
// Of `neighbours`.
Result<std::vector<PlanWhy>> neighbours_from_json(const nlohmann::json& json);

}  // namespace parallelarium
