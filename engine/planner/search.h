// SPDX-License-Identifier: Apache-2.0
// The search for the best Setups of a Space, exact and with a reason for every candidate.
//
// Each ends in one class: refused by validate(), too large for a device, bounded (it cannot be
// among the best, and a plan that was simulated is no slower and no larger, or it has so many
// actions that it is not simulated for the front alone), or simulated, which is predict() itself.
// Candidates are taken in the order of their lower bounds (bound.h), so that the first that cannot
// be better ends the search.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/result.h"
#include "engine/planner/reasons/causes.h"
#include "engine/planner/reasons/change.h"
#include "engine/planner/space.h"
#include "engine/predict/axis_rates.h"
#include "engine/predict/formulas/critical_batch.h"

namespace parallelarium {

enum class PlanClass : std::uint8_t { kRefused, kDoesNotFit, kBounded, kSimulated };
inline constexpr int kPlanClasses = 4;
std::string_view name_of(PlanClass plan_class);  // "refused" "does_not_fit" ...

// A candidate that was predicted and fits.
struct Plan {
  Candidate candidate;
  Setup setup;
  Nanoseconds time{0};            // of the step
  std::int64_t needed_bytes = 0;  // Prediction::needed_bytes
  std::int64_t capacity_bytes = 0;
  // Of the fullest rank together with what a framework holds beside it (framework_bytes_of()).
  std::int64_t held_bytes = 0;
  std::vector<MemoryRow> memory;
  StepFigures step;
  Bubble bubble;
  StepParts parts;
  std::vector<AxisRate> rates;  // what communication stands on; with the parts
  bool tied = false;            // with the best, by the threshold
};

// Why a neighbour of the best plan is not the best, or why a plan is behind it.
struct PlanReason {
  Change change;
  std::optional<double> seconds;  // that the step takes longer; none where it cannot be
  Message sentence;
  bool tied = false;  // the steps cannot be told apart; by note_ties()
};

// What a search makes of a plan's neighbour, which differs from it in one axis.
struct PlanNeighbour {
  Change change;
  PlanClass plan_class = PlanClass::kRefused;
  std::optional<double> seconds;  // of the step; at least, where it is bounded; none: it cannot be
  std::int64_t needed_bytes =
      0;             // likewise, and where bounds show that it is too large; 0: unknown
  Message sentence;  // says why, or what it takes beside the plan
};

// A change of one axis, to any value, or of a setting that is no axis.
struct SingleChange {
  Change change;
  Plan plan;
  Message sentence;
  bool tied = false;  // its step cannot be told apart from what it is a change of
  struct Next {
    Change change;
    double seconds = 0;  // of the step
  };
  std::optional<Next> next;  // the change that serves second best; none: there is no other
};

// Candidates that a class has for one reason.
struct ReasonCount {
  PlanClass plan_class = PlanClass::kRefused;
  std::int64_t count = 0;
  Message sentence;  // of one of them; its id is the reason's
  Setup example;     // of that one, or of one that is refused likewise whatever its ZeRO
  // With which an example that does not fit would fit; by note_fitting_changes(), in neighbours.h.
  std::optional<SingleChange> fitting;
  bool changes_tried = false;  // so that without `fitting` no change would do
};

// The candidate that comes nearest to fitting, of all that do not.
struct LeastPlan {
  std::int64_t over_bytes = 0;  // that are too many on the fullest device, or more
  Setup setup;
};

// Which plans cannot be told apart: the mean of |a / b - 1| over pairs of neighbouring rows of one
// published table on this machine that no rate was fitted on, where a and b are what is predicted
// over what was published, of step, tokens or MFU.
struct TieThreshold {
  struct Row {
    std::string source, name;
    double ratio = 0;  // predicted over published
  };
  std::optional<double> share;  // of a step; none: there are no two such rows
  int pairs = 0;
  std::vector<Row> rows;        // of the pairs
  Message said;                 // all this
  std::optional<double> error;  // mean of |a - 1| over the rows of the machine; none: it has no row
  int held_out = 0;             // those rows, which no rate was fitted on
  Message trust;                // says the error
  std::optional<double> memory_error;  // the same of memory figures in those rows
  Message memory_trust;                // says it
  std::int64_t plans = 0;              // that were simulated and lie within it; by note_ties()
  // Whether steps of so many seconds cannot be told apart.
  bool within(double seconds, double other) const {
    return share && std::max(seconds, other) <= std::min(seconds, other) * (1 + *share);
  }
};
TieThreshold tie_threshold_of(const Machine& machine);
// The same, told once and then remembered.
TieThreshold known_ties_of(const Machine& machine);

// What people advise, beside the best plan that keeps to it.
struct PlanRule {
  std::string id;                 // "tp-in-node"
  std::string source;             // who says so
  bool holds = false;             // the best plan keeps to it
  std::optional<double> seconds;  // that the best which keeps to it takes longer; none: none fits
  bool tied = false;              // which cannot be told apart
  std::optional<Setup> setup;     // of that one
  // Candidates that keep to it, may be faster and are too long to be simulated for it; of the order
  // of the axes also those at degrees that it passed over, where none was simulated that fits.
  std::int64_t too_long = 0;
  std::optional<CriticalBatch> critical;  // of the rule about the batch, which no plan breaks
  Message sentence;
};

// What a plan is recommended for (note_recommended()): it is the fastest, has the least memory or
// the fewest axes of those that cannot be told apart from the fastest.
// kLessMemory, kSimpler: slower plans with a tenth less memory, or with fewer axes.
// kNearest: it changes least of a Setup that was asked about (note_nearest()).
enum class PlanMerit : std::uint8_t {
  kFastest,
  kLeastMemory,
  kSimplest,
  kLessMemory,
  kSimpler,
  kNearest
};
// "fastest" "least-memory" "simplest" "less-memory" "simpler" "nearest"
std::string_view name_of(PlanMerit merit);
struct Recommended {
  std::vector<PlanMerit> merits;
  Plan plan;
};

struct PlanResult {
  std::int64_t candidates = 0;
  std::int64_t classes[kPlanClasses] = {};
  bool cancelled = false;  // the best and the front are those of what was simulated until then
  std::int64_t left = 0;   // candidates that had no class yet
  std::vector<ReasonCount> reasons;                    // most frequent first
  std::vector<Plan> best;                              // by objective; at most `top`
  std::vector<std::vector<PlanReason>> why;            // of each of them
  std::vector<std::vector<PlanNeighbour>> neighbours;  // of each of them
  // By time: of what was simulated, none other is faster and smaller and needs fewer GPUs. It may
  // lack some of the `front_too_long` candidates that no plan dominates and that have so many
  // actions that they are not simulated for it.
  std::vector<Plan> pareto;
  std::int64_t front_too_long = 0;
  struct Point {
    double seconds = 0;
    std::int64_t bytes = 0;
  };
  std::vector<Point> points;  // of all that were simulated and fit
  std::optional<LeastPlan> least;
  TieThreshold ties;  // by note_ties()
  // To which side rows of the planned model, or of models like it, are missed; by note_ties().
  std::optional<Message> near_rows;
  std::vector<Recommended> recommended;  // by note_recommended(), in recommended.h
  std::vector<Message> recommended_why;  // why these are fewer than three; empty: they are three
  // The best plan that keeps to each of rule_ids(), where one fits, and last the one that the order
  // of the axes makes (Keeping::in_order); fewer where the search was cancelled, and none for
  // another objective than time.
  std::vector<std::optional<Plan>> keeping;
  // Of each of them: candidates that keep to it, may be faster and are too long to be simulated for
  // it.
  std::vector<std::int64_t> keeping_too_long;
  std::vector<PlanRule> rules;  // by note_rules(), in rules.h
  double seconds = 0;           // that the search took
};

// What search() and then note_ties(), note_recommended() and an explanation tell: the share never
// falls, and is below 1 while something is left to do.
struct PlanWatch {
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(double share, const Message& what)> progress;  // on the calling thread
  void tell(double share, const Message& what) const {
    if (progress) progress(share, what);
  }
};
// Where rules of thumb are tested, the neighbours of the best are tried, published runs are
// predicted, changes with which candidates would fit are tried, plans are recommended, and changes
// of a Setup that was asked about are tried.
inline constexpr double kRulesShare = 0.83, kNeighboursShare = 0.85, kTiesShare = 0.87,
                        kFittingShare = 0.88, kRecommendedShare = 0.89, kNearestShare = 0.91,
                        kExplainShare = 0.93;

// Errors: those of Space::of; "plan-empty", "plan-many"; "cancelled.plan" where it was cancelled
// before anything was simulated that fits.
Result<PlanResult> search(const PlanRequest& request, const PlanWatch& watch = {});

// The limit of a device's memory that is broken: what a rank's own tensors may fill, or else what
// they and a framework may fill together.
struct Excess {
  std::int64_t bytes = 0;       // that are too many on the fullest device; 0: it fits
  int stage = 0;                // of that device
  bool with_framework = false;  // the second of the limits
};
// Why a Setup that is valid may not be tried: `refuses`, which may be null, refuses it.
std::optional<Message> refusal_of(const Setup& setup, const PlanRefusal& refuses);
// The plan of a Setup as predict() tells it with a folded Program. It fits where predict() says so
// and a device has room for what a framework keeps beside it.
// Error: predict()'s, or that `refuses` refuses it.
struct Tried {
  Plan plan;
  Excess over;
  bool fits() const { return over.bytes == 0; }
};
Result<Tried> try_setup(const Setup& setup, const Machine& machine, bool with_parts,
                        const PlanRefusal& refuses = {});
// Of the stage that needs most. The plan must have been predicted.
const MemoryRow& fullest_row(const Plan& plan);
// "Stage 0 needs 91.2 GiB, 11.2 GiB more than a device has", or than may be used of it.
Message too_large(int stage, std::int64_t bytes, const Machine& machine, std::int64_t states);
// Of a Setup that was tried and does not fit: that, or that there is no room for the framework.
Message too_large(const Tried& tried, const Machine& machine);
// What may be used of a device.
std::int64_t usable_bytes(const Machine& machine);
// The same where each rank has a device; none: ranks share their memory, so that no rank alone
// tells what fits.
std::optional<std::int64_t> capacity_of(const Machine& machine);
// What of a device's memory a plan is held to, and what is not counted.
Message memory_counted(const Machine& machine);
// Whether `a` stands before `b`: by objective, time, memory, fewer axes, and the text of the Setup.
bool stands_before(const Plan& a, const Plan& b, Objective objective);
// Whether both have one stage and differ at most in the schedule, its chunks and their layers. One
// stage leaves nothing to schedule, so the one that stands before the other stands for both.
bool comes_to_the_same(const Plan& a, const Plan& b);
// What the objective compares; the less the better. Of bounds: a lower bound of it.
double objective_value(Objective objective, std::int64_t nanoseconds, std::int64_t bytes,
                       std::int64_t gpus);

// Why the neighbours of plan 0, which differ in one axis, are not better, and why the plans behind
// it are not: by causes. Cost: some predictions, which are `tried` then.
struct TriedNeighbour {
  Setup setup;
  Result<Tried> tried;  // with parts
};
std::vector<std::vector<PlanReason>> reasons_of(const std::vector<Plan>& best,
                                                const PlanRequest& request,
                                                std::vector<TriedNeighbour>& tried);
// Why another plan's step is longer than the best's, or not: by cause. Of both count the Setup,
// the seconds of the step, and its parts.
PlanReason reason_behind(const Plan& best, const Plan& plan);
// The same of any plan and what a change makes of it.
PlanReason reason_for(const Plan& plan, const Change& change, const Plan& changed);
// The neighbours of each of the best plans of a search. What cannot beat the first of them is known
// by its bounds alone. `tried`: by reasons_of(). Cost: some milliseconds for each neighbour, and a
// prediction of the others that were not tried.
std::vector<std::vector<PlanNeighbour>> neighbours_of_best(
    const std::vector<Plan>& best, const PlanRequest& request,
    const std::vector<TriedNeighbour>& tried);
nlohmann::json to_json(const std::vector<PlanNeighbour>& neighbours);
nlohmann::json to_json(const std::vector<PlanReason>& reasons);
nlohmann::json to_json(const std::vector<ReasonCount>& reasons);
nlohmann::json to_json(const SingleChange& change);
// {"refused": count, ...}
nlohmann::json classes_json(const std::int64_t (&counts)[kPlanClasses]);
// The layers of stages in short: "even", "7+8×14+7".
std::string layers_text(const std::vector<int>& layers);
// The axes of a plan in short: "TP 8, PP 4, DP 2, ZeRO 1, zb-h1, micro-batch 2".
std::string short_axes(const Setup& setup);

// Notes the threshold, and which of the best plans and of their reasons are ties by it. Cost: a
// prediction of each such row.
void note_ties(PlanResult& result, const PlanRequest& request, const PlanWatch& watch = {});

nlohmann::json to_json(const Plan& plan);
nlohmann::json to_json(const PlanResult& result);

}  // namespace parallelarium
