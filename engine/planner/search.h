// SPDX-License-Identifier: Apache-2.0
// The search for the best Setups of a Space, exact and with a reason for every candidate.
//
// Each candidate ends in one class. It is refused by validate(). It is too large for a device. It
// is bounded: it cannot be among the best, and either a simulated plan is no slower and no larger,
// or it has too many actions to be simulated for the front alone. Or it is simulated, which is
// predict() itself. Candidates are taken in the order of their lower bounds (bound.h). So the first
// one that cannot be better ends the search.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/result.h"
#include "engine/planner/reasons/advice/change.h"
#include "engine/planner/reasons/causes.h"
#include "engine/planner/space/space.h"
#include "engine/predict/formulas/critical_batch.h"
#include "engine/predict/rates/axis_rates.h"

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
  std::int64_t device_bytes = 0;  // that a device has; 0: ranks share their memory
  // Bytes of the fullest rank, together with what a framework holds beside it
  // (framework_bytes_of()).
  std::int64_t held_bytes = 0;
  std::vector<MemoryRow> memory;
  StepFigures step;
  Bubble bubble;
  StepParts parts;
  std::vector<AxisRate> rates;  // the rates of communication; there if the parts are
  bool tied = false;            // it ties with the best, by the threshold
};

// Why a neighbour of the best plan is not the best, or why a plan is behind it.
struct PlanReason {
  Change change;
  std::optional<double> seconds;  // by which the step is longer; none: it is not possible
  std::int64_t more_bytes = 0;    // by which its fullest rank needs more, if it is possible
  Message sentence;               // of what the objective compares
  bool tied = false;              // the steps cannot be told apart; set by note_ties()
};

// What a search finds about a plan's neighbour, which differs from the plan in one axis.
struct PlanNeighbour {
  Change change;
  PlanClass plan_class = PlanClass::kRefused;
  // Seconds of the step; the least if it is bounded; none: it is not possible.
  std::optional<double> seconds;
  std::int64_t needed_bytes =
      0;             // the least if bounded, or if bounds show it too large; 0: unknown
  Message sentence;  // says why, or compares it with the plan
};

// A change of one axis, to any value, or of a setting that is no axis.
struct SingleChange {
  Change change;
  Plan plan;
  Message sentence;
  bool tied = false;  // its step cannot be told apart from that before the change
  struct Next {
    Change change;
    double seconds = 0;  // of the step
  };
  std::optional<Next> next;  // the second-best change; none: there is no other
};

// The candidates that are in a class for one reason.
struct ReasonCount {
  PlanClass plan_class = PlanClass::kRefused;
  std::int64_t count = 0;
  Message sentence;  // sentence of one of them; its id is that of the reason
  Setup example;     // that candidate, or one that is refused likewise with any ZeRO
  // The change with which an example that does not fit would fit. Set by note_fitting_changes()
  // (neighbours.h).
  std::optional<SingleChange> fitting;
  // Says that change, or that there is none. None: no change was tried.
  std::optional<Message> fitting_said;
};

// The candidate that is nearest to fitting among those that do not fit.
struct LeastPlan {
  std::int64_t over_bytes = 0;  // bytes that are too many on the fullest device: at least this many
  Setup setup;
};

// The threshold below which plans cannot be told apart: the mean of |a / b - 1| over pairs of
// neighbouring rows of a published table on this machine that no rate was fitted on. a and b are
// predicted over published for step, tokens or MFU.
struct TieThreshold {
  struct Row {
    std::string source, name;
    double ratio = 0;  // predicted over published
  };
  std::optional<double> share;  // share of a step; none: there are no two such rows
  int pairs = 0;
  std::vector<Row> rows;        // the rows of the pairs
  Message said;                 // says all this
  std::optional<double> error;  // mean of |a - 1| over the machine's rows; none: it has no row
  int held_out = 0;             // number of those rows, which no rate was fitted on
  Message trust;                // says the error
  std::optional<double> memory_error;  // the same for memory figures of those rows
  Message memory_trust;                // says the memory error
  std::int64_t plans = 0;              // simulated plans that are within it; set by note_ties()
  // Whether steps of these seconds cannot be told apart.
  bool within(double seconds, double other) const {
    return share && std::max(seconds, other) <= std::min(seconds, other) * (1 + *share);
  }
};
TieThreshold tie_threshold_of(const Machine& machine);
// The same, found once and then remembered.
TieThreshold known_ties_of(const Machine& machine);

// A rule that people advise, and the best plan that keeps to it.
struct PlanRule {
  std::string id;      // "tp-in-node"
  std::string source;  // who advises it
  bool holds = false;  // the best plan of all keeps to it
  // Seconds by which the best plan that keeps to it is slower; none: no such plan fits.
  std::optional<double> seconds;
  bool tied = false;           // the two cannot be told apart
  std::optional<Setup> setup;  // Setup of the best plan that keeps to it
  // Candidates that keep to it and may be faster, but have too many actions to be simulated for it.
  // For the order of the axes also those at degrees that it passed over because no simulated plan
  // fits there.
  std::int64_t too_long = 0;
  std::optional<CriticalBatch> critical;  // for the rule about the batch, which no plan breaks
  Message sentence;
};

// Why a plan is recommended (note_recommended()). It is the fastest, or it has the least memory or
// the fewest axes among those that cannot be told apart from the fastest. kLessMemory, kSimpler: it
// is slower, but has a tenth less memory or fewer axes. kNearest: it changes least in a Setup that
// was asked about (note_nearest()). kObjective: it is the best by another objective than time.
// kUsual: it is the fastest that a framework trains in its usual way (PlanRequest::unusual).
enum class PlanMerit : std::uint8_t {
  kObjective,
  kFastest,
  kLeastMemory,
  kSimplest,
  kLessMemory,
  kSimpler,
  kUsual,
  kNearest
};
// "objective" "fastest" "least-memory" "simplest" "less-memory" "simpler" "usual" "nearest"
std::string_view name_of(PlanMerit merit);
struct Recommended {
  std::vector<PlanMerit> merits;
  Plan plan;
};

struct PlanResult {
  Objective objective = Objective::kTime;
  std::int64_t candidates = 0;
  std::int64_t classes[kPlanClasses] = {};
  bool cancelled = false;                    // best and front then cover what was simulated so far
  std::int64_t left = 0;                     // candidates that had no class yet
  std::vector<Message> tried;                // Space::tried_said()
  std::vector<ReasonCount> reasons;          // most frequent first
  std::vector<Plan> best;                    // by objective; at most `top`
  std::vector<std::vector<PlanReason>> why;  // for each of `best`
  std::vector<std::vector<PlanNeighbour>> neighbours;  // for each of `best`
  // The plans that no simulated plan beats in time, memory and GPUs, fastest first. Some of the
  // `front_too_long` candidates may be missing: no plan dominates them, but they have too many
  // actions to be simulated for the front.
  std::vector<Plan> pareto;
  std::int64_t front_too_long = 0;
  struct Point {
    double seconds = 0;
    std::int64_t bytes = 0;
  };
  std::vector<Point> points;  // of all simulated plans that fit
  std::optional<LeastPlan> least;
  TieThreshold ties;  // set by note_ties()
  // Says to which side predictions miss published rows of the planned model, or of models like it.
  // Set by note_ties().
  std::optional<Message> near_rows;
  std::vector<Recommended> recommended;  // set by note_recommended() (recommended.h)
  std::vector<Message> recommended_why;  // why there are fewer than three; empty: there are three
  // For each of rule_ids() the best plan that keeps to it, if one fits; last the plan that the
  // order of the axes gives (Keeping::in_order). There are fewer if the search was cancelled, and
  // none for other objectives than time.
  std::vector<std::optional<Plan>> keeping;
  // For each rule: how many candidates keep to it and may be faster, but have too many actions to
  // be simulated for it.
  std::vector<std::int64_t> keeping_too_long;
  std::vector<PlanRule> rules;  // set by note_rules() (rules.h)
  double seconds = 0;           // seconds that the search took
};

// The progress of search() and then of note_ties(), note_recommended() and an explanation. The
// share never falls, and is below 1 while something is left to do.
struct PlanWatch {
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(double share, const Message& what)> progress;  // on the calling thread
  void tell(double share, const Message& what) const {
    if (progress) progress(share, what);
  }
};
// The shares at which the parts begin: rules of thumb are tested, neighbours of the best are tried,
// published runs are predicted, changes with which candidates would fit are tried, plans are
// recommended, and changes of a Setup that was asked about are tried.
inline constexpr double kRulesShare = 0.83, kNeighboursShare = 0.85, kTiesShare = 0.87,
                        kFittingShare = 0.88, kRecommendedShare = 0.89, kNearestShare = 0.91,
                        kExplainShare = 0.93;

// Errors: those of Space::of; "plan-empty", "plan-many"; "cancelled.plan" (it was cancelled before
// a plan that fits was simulated).
Result<PlanResult> search(const PlanRequest& request, const PlanWatch& watch = {});

// The broken limit of a device's memory: what a rank's own tensors may fill or, if that holds, what
// they and a framework may fill together.
struct Excess {
  std::int64_t bytes = 0;       // bytes that are too many on the fullest device; 0: it fits
  int stage = 0;                // stage of that device
  bool with_framework = false;  // the second limit is broken
};
// Why `refuses`, which may be null, refuses a valid Setup.
std::optional<Message> refusal_of(const Setup& setup, const PlanRefusal& refuses);
// The plan of a Setup from predict() with a folded Program. It fits if predict() says so and a
// device has room for what a framework keeps beside it.
// Error: that of predict(), or that of `refuses`.
struct Tried {
  Plan plan;
  Excess over;
  bool fits() const { return over.bytes == 0; }
};
Result<Tried> try_setup(const Setup& setup, const Machine& machine, bool with_parts,
                        const PlanRefusal& refuses = {});
// What is left of the memory on the rank that comes nearest to a limit: that of its own tensors, or
// the device, which they and a framework may fill together.
struct MemoryRoom {
  std::int64_t free_bytes = 0, limit_bytes = 0;
  std::int64_t framework_bytes = 0;  // what a framework holds within the limit; 0: it is the first
};
// `device_bytes` 0: there is the first limit alone. `rows` must not be empty.
MemoryRoom room_of(const std::vector<MemoryRow>& rows, std::int64_t capacity_bytes,
                   std::int64_t device_bytes);
// The row of the stage that needs most. The plan must have been predicted.
const MemoryRow& fullest_row(const Plan& plan);
// "Stage 0 needs 91.2 GiB, 11.2 GiB more than a device has", or more than may be used of it.
Message too_large(int stage, std::int64_t bytes, const Machine& machine, std::int64_t states);
// Says why a tried Setup does not fit: the sentence above, or that there is no room for the
// framework.
Message too_large(const Tried& tried, const Machine& machine);
// The bytes of a device that may be used.
std::int64_t usable_bytes(const Machine& machine);
// The same if each rank has a device. None: ranks share their memory, so that a single rank does
// not tell what fits.
std::optional<std::int64_t> capacity_of(const Machine& machine);
// Says how much of a device's memory a plan may use, and what is not counted.
Message memory_counted(const Machine& machine);
// Whether `a` comes before `b`: by objective, time, memory, fewer axes, and the text of the Setup.
bool stands_before(const Plan& a, const Plan& b, Objective objective);
// Whether both have one stage and differ at most in the schedule, its chunks and their layers. One
// stage leaves nothing to schedule, so the plan that comes first counts for both.
bool comes_to_the_same(const Plan& a, const Plan& b);
// The value that the objective compares; less is better. From bounds it is a lower bound.
double objective_value(Objective objective, std::int64_t nanoseconds, std::int64_t bytes,
                       std::int64_t gpus);

// Says by causes why the neighbours of plan 0, which differ in one axis, are not better, and why
// the plans behind it are not. Cost: some predictions; `tried` receives them.
struct TriedNeighbour {
  Setup setup;
  Result<Tried> tried;  // with parts
};
std::vector<std::vector<PlanReason>> reasons_of(const std::vector<Plan>& best,
                                                const PlanRequest& request,
                                                std::vector<TriedNeighbour>& tried);
// Says by cause why another plan's step is longer than the best's, or that it is not; if the
// objective is memory, what it needs and takes. It reads the Setup, the seconds of the step, the
// bytes and the parts of both.
PlanReason reason_behind(const Plan& best, const Plan& plan,
                         Objective objective = Objective::kTime);
// The same for any plan and what a change makes of it.
PlanReason reason_for(const Plan& plan, const Change& change, const Plan& changed);
// The neighbours of each of the best plans of a search. For a neighbour that cannot beat the first
// of them, bounds are enough. `tried` comes from reasons_of(). Cost: some milliseconds for each
// neighbour, and a prediction of each other one that was not tried.
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
// prediction of each published row that counts.
void note_ties(PlanResult& result, const PlanRequest& request, const PlanWatch& watch = {});

nlohmann::json to_json(const Plan& plan);
// The keys are the members above. `reasons[].change` is null where no change would fit, and absent
// where none was tried: of other reasons, and after a cancel. `front_complete` is false where the
// front may lack candidates.
nlohmann::json to_json(const PlanResult& result);

}  // namespace parallelarium
