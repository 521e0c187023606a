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
#include "engine/planner/reasons/causes.h"

namespace parallelarium {

// Why a neighbour of a plan is not better, or why a plan is behind the best.
struct PlanWhy {
  Message change;                 // "TP 8 → 4 (follows: DP 16)"
  std::optional<double> seconds;  // that the step takes longer; none: it cannot be
  Message sentence;
  bool tied = false;  // the steps cannot be told apart; by note_ties()
};

struct FoundPlan {
  Setup setup;
  int gpus = 0, stage = 0;  // the stage that needs most memory
  double seconds = 0, tokens_per_second = 0, bubble = 0;
  double mfu = 0, mfu_causal = 0, mfu_6n = 0;  // by what attention's scores count
  // In which a rank communicates and computes nothing, mean of the ranks: by axis, and together.
  std::vector<std::pair<std::string, double>> exposed;
  double exposed_seconds = 0;
  std::vector<Message> rates;             // what the communication of each axis stands on
  std::vector<std::int64_t> stage_bytes;  // peak of each stage
  std::int64_t bytes = 0;
  std::int64_t framework_bytes = 0;  // that a framework holds beside it, at most
  StepParts parts;
  bool tied = false, on_front = false;
  std::vector<PlanWhy> why;
};

// What the search makes of a setup that was asked about.
struct ExplainedPlan {
  Setup setup;
  std::string plan_class;  // "refused" "does_not_fit" "bounded" "simulated"
  Message sentence;
  std::optional<Message> own;     // the settings that it has and no plan of the search
  std::optional<double> seconds;  // of its step; none: it cannot be, or does not fit
  std::int64_t bytes = 0;         // 0: it cannot be
  std::optional<FoundPlan> plan;  // its figures; none: it cannot be
  struct Change {
    Message sentence;
    FoundPlan plan;
  };
  std::optional<Change> change;  // the one that serves it best
};

struct PlanLoss {
  std::int64_t count = 0;
  Message sentence;  // of one of them
  Setup example;     // of that one
};

// What people advise, beside the best plan that keeps to it (PlanRule of the engine).
struct ToldRule {
  std::string source;  // who says so
  Message sentence;    // with what it costs
  bool costs = false;  // the best plan breaks it, and which keeps to it is slower, or does not fit
  std::optional<FoundPlan> plan;  // the best that keeps to it, where that is another plan
};

// A plan to look at first, and for what: "fastest" "least-memory" "simplest"
// "less-memory" "simpler" "nearest".
struct PlanAdvice {
  std::vector<std::string> merits;
  FoundPlan plan;
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
  std::optional<std::pair<std::int64_t, Setup>> least;  // bytes too many, of those that do not fit
  std::vector<PlanAdvice> recommended;                  // of the search, the fastest first
  std::vector<Message> recommended_why;                 // why these are fewer than three
  Message ties;  // how close plans must be to share a rank, and by which published rows
  std::optional<double> step_error;  // share by which a step may be off; `trust` says so
  Message trust;
  std::optional<Message> near_rows;    // to which side published rows of the model are off
  std::optional<double> memory_error;  // the same of memory figures, and what says it
  Message memory_trust;
  std::vector<ToldRule> rules;  // of the search, with all the memory that it was told of
  // Notes of changes to a step of so many seconds which of them make a tie with it.
  void note_ties(double seconds, std::vector<PlanWhy>& changes) const;
  // Of plans on at most so many GPUs, those that none beats in time and memory, by time.
  std::vector<const FoundPlan*> front_up_to(int gpus) const;
  std::vector<int> gpu_counts() const;  // of the front, ascending
  // Simulated plans that share the first one's rank, of which `plans` has some.
  std::int64_t tied_plans() const;
  std::optional<ExplainedPlan> explained;
  std::optional<double> tie_threshold;  // share of a step
  std::int64_t capacity_bytes = 0;      // of a device that may be used
  std::int64_t searched_bytes = 0;      // the same of the search, which may be more
  std::string rates;                    // prediction_word() of the Machine
  double search_seconds = 0;
};
// Of `standing`, or of the part of an answer of `plan`.
Result<ExplainedPlan> explained_plan_from_json(const nlohmann::json& json);
// Error: it is no answer of `plan`.
Result<PlanAnswer> plan_answer_from_json(const nlohmann::json& json);
// What a search says of less memory than it was told of. The fastest is exact, since the front has
// it; behind it stand what the search kept. The counts are those of the search.
PlanAnswer with_limit(const PlanAnswer& answer, std::int64_t bytes);
// Why a plan is behind the best, by cause.
PlanWhy why_behind(const FoundPlan& best, const FoundPlan& plan);

// What became of the candidates that have one value of an axis (`why_not` of the protocol).
struct ValueAnswer {
  std::string axis, value;  // "tp", "8"
  Message sentence;
  std::optional<FoundPlan> plan;  // the best of them; none: all are refused or do not fit
};
Result<ValueAnswer> value_answer_from_json(const nlohmann::json& json);
// Of `neighbours`.
Result<std::vector<PlanWhy>> neighbours_from_json(const nlohmann::json& json);

}  // namespace parallelarium
