// SPDX-License-Identifier: Apache-2.0
// A lesson while it is played: drawn numbers, what its steps set, the facts that they may name, and
// the judge of answers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/collectives/observation.h"
#include "engine/lesson/lesson.h"
#include "engine/lesson/text/expression.h"
#include "engine/plan/order/order.h"
#include "engine/plan/placement/placement.h"
#include "engine/plan/program/report.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"
#include "engine/predict/network/collective_plan.h"
#include "engine/predict/predict.h"
#include "engine/schedules/timing.h"

namespace parallelarium {

// Parameter values for a seed, and what the planner finds for them (problem.h). They are the same
// on every computer. Cost: that of solve() for each problem of the lesson.
Symbols draw(const Lesson& lesson, std::uint64_t seed);
// The parameter values alone.
Symbols draw_numbers(const Lesson& lesson, std::uint64_t seed);
// The drawn values together with what the planner finds. Error: a problem has no plan or no
// rejection.
Result<Symbols> with_problems(const Lesson& lesson, const Symbols& drawn);
// The step's options in an order that the seed draws.
std::vector<Option> options_drawn(const Step& step, std::uint64_t seed);
// Every combination that the constraint allows, or `most` samples if there are more than `most`.
std::vector<Symbols> draws(const Lesson& lesson, std::size_t most = 200);

// Everything that a lesson sets.
struct Settings {
  Setup setup;
  CollectiveChoice collective;
};

// The settings of a student who followed the lesson up to `step` (index): the lesson's start, then
// each step's setup, and for earlier steps also reveal and solution. With `revealed` it has this
// step's reveal too.
Result<Settings> settings_at(const Lesson& lesson, std::size_t step, const Symbols& drawn,
                             bool revealed = false);
Result<Settings> with_fields(Settings settings, const Fields& fields, const Symbols& drawn);
// The settings with which a step begins, after `before`: its small copy if it wants one, and its
// setup.
Result<Settings> entered(const Step& step, Settings before, const Symbols& drawn);
// The keys of a collective's settings, each with "collective." in front.
const std::vector<std::string>& collective_keys();

// The facts that checks and texts may name: the objects of predict, run, schedule and collective
// --json, with "held" and the number of a collective's steps added.
nlohmann::json facts_of(const Prediction& prediction);
nlohmann::json facts_of(const Observation& observation, const Program& program);
nlohmann::json facts_of(const Order& order, const std::vector<Durations>& stages);
// "proof" of a run, from what `run --verify` prints: holds (1 or 0), loss_difference, loss_bound,
// gradient_difference, gradient_bound (all relative), and largest_difference, the larger of the two
// differences. Null: the run was not proved.
nlohmann::json proof_facts(const nlohmann::json& proof);
// "experts" has means over layers, micro-batches and EP groups of "fullest" (rows of the fullest
// rank over the mean rank), "fullest_expert" (its choices of all micro-batches over the mean
// expert), "balance" (E sum f P) and "dispatched_bytes" (between the ranks of a group, one way);
// the share of choices "dropped"; "most_kept" of one home by one expert, and its "capacity". They
// follow from the Setup's skew, or from the counts of a run's `step`. Null without experts, and if
// `step` has no counts of this Setup.
nlohmann::json expert_facts(const Setup& setup, const Routing* step);
nlohmann::json facts_of(const CollectivePlan& plan);
nlohmann::json facts_of(const CollectiveObservation& seen, const CollectivePlan& plan);

// Facts that contexts share, since to copy those of a prediction takes as long as to judge an
// answer.
class Facts {
 public:
  Facts() = default;  // null
  Facts(nlohmann::json facts) : facts_(std::make_shared<const nlohmann::json>(std::move(facts))) {}
  const nlohmann::json& json() const;

 private:
  std::shared_ptr<const nlohmann::json> facts_;
};

// What judge() knows. A JSON object that does not exist is null.
struct Context {
  Settings settings;
  Symbols drawn;
  Facts predicted, collective_predicted;
  nlohmann::json observed, collective_observed;
  std::optional<double> guess;                 // the number committed last, for a run after it
  std::map<std::string, nlohmann::json> kept;  // what was observed, by Step::keep
  // symbols_of(settings), drawn, and "guess" if there is one.
  Symbols symbols() const;
  // The figure of a metric, such as "bubble.of_total" or "collective.seconds"; none if it is not
  // there.
  std::optional<double> predicted_figure(const std::string& metric) const;
  std::optional<double> observed_figure(const std::string& metric) const;
};

// A number in the ask's unit (a share as 0 to 1), or the id of an option.
struct PartAnswer {
  std::optional<double> number;
  std::string option;
  bool operator==(const PartAnswer&) const = default;
};

// The form in which answers are kept and handed in: {"first": "gather", "bytes": 12}. Reading
// leaves out what is neither a number nor a text.
nlohmann::json to_json(const std::map<std::string, PartAnswer>& parts);
std::map<std::string, PartAnswer> parts_from_json(const nlohmann::json& object);

struct Answer {
  std::optional<double> number;                  // in the ask's unit; a share is 0 to 1
  std::string option;                            // id of the chosen card
  std::vector<std::string> order;                // build: one line per rank
  std::set<std::pair<int, int>> marks;           // find: stage and slot
  std::map<std::string, PartAnswer> parts = {};  // by QuestionPart::id
};

enum class Verdict : std::uint8_t {
  kRight,
  kWrong,
  kAgain  // a run did not show it; runs vary, so the text is "try again"
};

struct CheckOutcome {
  Check check;
  bool holds = false;
  std::optional<double> value;  // the value found; none if the key is not there
  double wanted = 0;
};

struct Judgement {
  Verdict verdict = Verdict::kWrong;
  std::string feedback;  // id of the option whose feedback fits, "right", "wrong" or "again"
  std::vector<CheckOutcome> checks;
  std::set<std::string> wrong_parts;  // QuestionPart::id
  std::vector<Message> reasons;  // sentences beyond the lesson's text: why an order is refused, ...
  Symbols symbols;               // for the feedback's text
};

// The right number or option for a part. Error: an expression has no value.
Result<double> value_of_part(const QuestionPart& part, const Context& context);
Result<std::string> option_of_part(const QuestionPart& part, const Context& context);

// Judges the step's answer or checks. `context.settings` are the revealed ones. Checks on times of
// a run that was neither measured nor rehearsed give kAgain with a reason; for times of steps the
// run must be measured. Error: an expression or key of the lesson cannot be evaluated (check_lesson
// finds those).
Result<Judgement> judge(const Step& step, const Answer& answer, const Context& context);

// The error says what this computer lacks for the lesson.
Result<void> can_play(const Lesson& lesson, const Computer& computer);

}  // namespace parallelarium
