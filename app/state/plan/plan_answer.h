// SPDX-License-Identifier: GPL-3.0-or-later
// The engine's answer to a search (`plan` of the protocol), as data.
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
  std::optional<double> seconds;  // by which the step is longer; none: it is not possible
  std::int64_t more_bytes = 0;    // by which its fullest rank needs more, if it is possible
  Message sentence;
  bool tied = false;  // the steps cannot be told apart; set by note_ties()
};

struct FoundPlan {
  Setup setup;
  int gpus = 0, stage = 0;  // the stage that needs most memory
  double seconds = 0, tokens_per_second = 0;
  // Share of the step in which ranks neither compute nor communicate, as the mean over the ranks:
  // with what they compute and what is exposed it makes the whole.
  double bubble = 0;
  double mfu = 0, mfu_causal = 0, mfu_6n = 0;  // by what counts of attention's scores
  // Seconds in which a rank communicates and computes nothing, as the mean over the ranks: by axis,
  // and in total.
  std::vector<std::pair<std::string, double>> exposed;
  double exposed_seconds = 0;
  std::vector<Message> rates;     // says the rates of each axis's communication
  std::vector<MemoryRow> memory;  // of a rank of each stage
  std::int64_t bytes = 0;         // of the fullest rank, without what a framework holds
  std::int64_t device_bytes = 0;  // Plan::device_bytes
  StepParts parts;
  bool tied = false, on_front = false;
  std::vector<PlanWhy> why;
};

// What the search says about a setup that was asked about.
struct ExplainedPlan {
  Setup setup;
  std::string plan_class;  // "refused" "does_not_fit" "bounded" "simulated"
  Message sentence;
  std::optional<Message> own;     // the settings that it has but no plan of the search has
  std::optional<double> seconds;  // of its step; none: it is not possible, or does not fit
  std::int64_t bytes = 0;         // 0: it is not possible
  std::optional<FoundPlan> plan;  // its figures; none: it is not possible
  struct Change {
    Message sentence;
    FoundPlan plan;
  };
  std::optional<Change> change;  // the change that helps it most
};

struct PlanLoss {
  std::int64_t count = 0;
  Message sentence;  // of one of the candidates
  Setup example;     // that candidate
  Message fitting;   // says the cheapest change with which it would fit; empty: none was tried
};

// A rule that people advise, and the best plan that keeps to it (PlanRule of the engine).
struct ToldRule {
  std::string source;  // who advises it
  Message sentence;    // says what the rule costs, too
  bool costs = false;  // the best plan breaks it; plans that keep to it are slower or do not fit
  std::optional<FoundPlan> plan;  // the best plan that keeps to it, if that is another plan
};

// A plan to look at first, and its merits: name_of() of each PlanMerit.
struct PlanAdvice {
  std::vector<std::string> merits;
  FoundPlan plan;
};

struct PlanAnswer {
  std::string objective = "time";  // name_of() an Objective
  bool by_time() const { return objective == "time"; }
  bool by_memory() const { return objective == "memory"; }
  enum Class { kRefused, kDoesNotFit, kBounded, kSimulated, kClasses };
  std::int64_t candidates = 0, counts[kClasses] = {};
  std::int64_t valid = 0, fitting = 0;     // candidates that are left after the first two classes
  bool cancelled = false;                  // the best are those that were simulated so far
  std::int64_t undecided = 0;              // if cancelled: candidates without a class
  std::vector<Message> tried;              // says what of free axes is tried, if not all
  std::vector<PlanLoss> losses[kClasses];  // most frequent first
  // The best in the order in which they are shown. By time those that are tied with the first stand
  // by memory, and `best_at` is the index of the fastest.
  std::vector<FoundPlan> plans;
  std::size_t best_at = 0;
  std::vector<FoundPlan> front;                         // by time
  std::vector<std::pair<double, std::int64_t>> points;  // seconds and bytes of the simulated
  std::optional<std::pair<std::int64_t, Setup>> least;  // of those that do not fit: bytes too many
  std::vector<PlanAdvice> recommended;                  // by the search, fastest first
  std::vector<Message> recommended_why;                 // why there are fewer than three
  Message ties;  // says how close plans must be to share a rank, and by which published rows
  std::optional<double> step_error;  // share by which a step may be off; `trust` says it
  Message trust;
  std::optional<Message> near_rows;    // says to which side published rows of the model are off
  std::optional<double> memory_error;  // the same for memory figures; memory_trust says it
  Message memory_trust;
  std::vector<ToldRule> rules;  // those of the search, for all the memory that it could use
  // Sets `tied` of those changes whose step makes a tie with a step of `seconds`.
  void note_ties(double seconds, std::vector<PlanWhy>& changes) const;
  // The plans on at most `gpus` GPUs that no such plan beats in time and memory, by time.
  std::vector<const FoundPlan*> front_up_to(int gpus) const;
  std::vector<int> gpu_counts() const;  // of the front, ascending
  // The number of simulated plans that share the rank of the first; `plans` has some of them.
  std::int64_t tied_plans() const;
  std::optional<ExplainedPlan> explained;
  std::optional<double> tie_threshold;  // share of a step
  std::int64_t capacity_bytes = 0;      // bytes of a device that may be used
  std::int64_t searched_bytes = 0;      // the same in the search, maybe more
  std::string rates;                    // prediction_word() of the Machine
  double search_seconds = 0;
};
// Reads the answer of `standing`, or that part of an answer of `plan`.
Result<ExplainedPlan> explained_plan_from_json(const nlohmann::json& json);
// Error: the JSON is no answer of `plan`.
Result<PlanAnswer> plan_answer_from_json(const nlohmann::json& json);
// The answer of a search for less memory than it could use. The fastest plan is exact, since the
// front has it. Behind it come the plans that the search kept. The counts are those of the search.
PlanAnswer with_limit(const PlanAnswer& answer, std::int64_t bytes);
// Why a plan of the answer is behind the best: by cause or, if the objective is memory, by what it
// needs.
PlanWhy why_behind(const PlanAnswer& answer, const FoundPlan& best, const FoundPlan& plan);

// What became of the candidates with one value of an axis (`why_not` of the protocol).
struct ValueAnswer {
  std::string axis, value;  // "tp", "8"
  Message sentence;
  std::optional<FoundPlan> plan;  // the best of them; none: all are refused or do not fit
};
Result<ValueAnswer> value_answer_from_json(const nlohmann::json& json);
// Reads the answer of `neighbours`.
Result<std::vector<PlanWhy>> neighbours_from_json(const nlohmann::json& json);

}  // namespace parallelarium
