// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/reasons/why_not.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/plan/text/message_json.h"
#include "engine/plan/text/units.h"
#include "engine/planner/listing.h"

namespace parallelarium {

namespace {

// Some values mean something beside some values of another axis alone. Says whether that put
// values of the other axis in place of those that the request allows.
bool narrow(PlanRequest& request, const std::string& axis, const std::string& value) {
  request.allowed[axis] = {value};
  bool replaces = false;
  const auto allow = [&](const char* other, std::vector<std::string> values) {
    replaces = request.allowed.count(other) > 0;
    request.allowed[other] = std::move(values);
  };
  if (axis == "chunks" && value != "1") allow("schedule", {"interleaved"});
  if (axis == "zero-group" && value != "0") allow("zero", {"1", "2", "3"});
  return replaces;
}

Message many(std::int64_t count) { return figure(count_text(static_cast<double>(count))); }
Message percent_of(double share) { return figure(percent_text(std::abs(share))); }

// Who the best with the value is: how much it was chosen from.
Message fastest_with(const WhyNot& answer) {
  const Message shown = value_of_axis(answer.axis, answer.value);
  return answer.candidates > 0
             ? message("plan-value-fastest-of", "The fastest of {} candidates with {}",
                       many(answer.candidates), shown)
             : message("plan-value-fastest", "The fastest plan with {}", shown);
}

// Why the search did not find a plan with the value that is better: `told` says that the request
// allows other values alone.
Message why_not_found(const WhyNot& answer, bool told) {
  return told ? message("plan-value-told", "the search was told other values")
              : message("plan-value-untried", "{} is not among the values that a search tries",
                        value_of_axis(answer.axis, answer.value));
}

Message said_of_best(const WhyNot& answer, const KnownPlans& known, Objective objective,
                     bool told) {
  const Message shown = value_of_axis(answer.axis, answer.value);
  const Plan& plan = *answer.plan;
  const Plan* best = known.best;
  const Message takes = figure(seconds_text(plan.step.seconds));
  if (best == nullptr)
    return message("plan-value-alone",
                   "Of {} candidates with {} the best takes {}; the search itself found none that "
                   "fits.",
                   many(answer.candidates), shown, takes);
  if (answer.change.empty())
    return message("plan-value-best", "The best plan has {} itself: its step takes {}.", shown,
                   takes);
  if (objective != Objective::kTime) {
    const auto value = [&](const Plan& of) {
      return objective_value(objective, of.time.count(), of.needed_bytes, of.setup.mesh.ranks());
    };
    const double behind = value(plan) / value(*best) - 1;
    const Message bytes = figure(bytes_text(static_cast<double>(plan.needed_bytes)));
    const std::string by(name_of(objective));
    if (behind < 0)
      return message("plan-value-objective-ahead",
                     "Of {} candidates with {} the best by {} lies {} ahead of the best plan ({}): "
                     "a step of {} with {} on {} GPUs; {}.",
                     many(answer.candidates), shown, by, percent_of(behind), answer.change.said,
                     takes, bytes, plan.setup.mesh.ranks(), why_not_found(answer, told));
    return message("plan-value-objective",
                   "Of {} candidates with {} the best by {} lies {} behind the best plan ({}): a "
                   "step of {} with {} on {} GPUs.",
                   many(answer.candidates), shown, by, percent_of(behind), answer.change.said,
                   takes, bytes, plan.setup.mesh.ranks());
  }
  const Message fastest = fastest_with(answer);
  if (*answer.seconds < 0)
    return message("plan-value-faster", "{} takes {}, {} less than the best plan ({}): {}.",
                   fastest, takes, figure(seconds_text(-*answer.seconds)), answer.change.said,
                   why_not_found(answer, told));
  if (*answer.seconds == 0)
    return message("plan-value-equal", "{} takes {}, as long as the best plan ({}).", fastest,
                   takes, answer.change.said);
  const Message longer = figure(seconds_text(*answer.seconds));
  const Message by = percent_of(*answer.seconds / best->step.seconds);
  const Cause cause = largest_of(causes_of(best->parts, plan.parts, *answer.seconds));
  const Message part = figure(seconds_text(cause.seconds));
  if (known.ties.within(best->step.seconds, plan.step.seconds))
    return message("plan-value-tied",
                   "{} takes {}, {} or {} longer than the best plan ({}): a tie, within {}. The "
                   "largest difference is {}, {}.",
                   fastest, takes, longer, by, answer.change.said,
                   figure(percent_text(*known.ties.share)), words_of(cause), part);
  return message("plan-value-slower",
                 "{} takes {}, {} or {} longer than the best plan ({}); the largest difference is "
                 "{}, {}.",
                 fastest, takes, longer, by, answer.change.said, words_of(cause), part);
}

Message none_can_be(const WhyNot& answer) {
  const auto count = [&](PlanClass of) { return answer.classes[static_cast<std::size_t>(of)]; };
  const ReasonCount& commonest = answer.reasons.front();
  return message(
      "plan-value-none",
      "Of {} candidates with {}, {} are refused and {} do not fit. The commonest reason, "
      "of {}: {}",
      many(answer.candidates), value_of_axis(answer.axis, answer.value),
      many(count(PlanClass::kRefused)), many(count(PlanClass::kDoesNotFit)), many(commonest.count),
      commonest.sentence);
}

}  // namespace

namespace {

// The first of the known plans that is a candidate of the narrowed request; none: it is not among
// them, or cannot be told.
std::optional<Plan> known_with_value(const PlanRequest& narrowed, const KnownPlans& known) {
  if (narrowed.objective != Objective::kTime || known.fastest.empty()) return std::nullopt;
  const Result<Space> space = Space::of(narrowed);
  if (!space) return std::nullopt;
  const auto found = std::find_if(known.fastest.begin(), known.fastest.end(),
                                  [&](const Setup& plan) { return space->covers(plan); });
  if (found == known.fastest.end()) return std::nullopt;
  Result<Tried> tried = try_setup(*found, narrowed.machine, true, narrowed.refuses);
  if (!tried || !tried->fits()) return std::nullopt;
  return std::move(tried->plan);
}

void compare_with_best(WhyNot& answer, const KnownPlans& known, Objective objective, bool told) {
  if (known.best != nullptr) {
    answer.seconds = answer.plan->step.seconds - known.best->step.seconds;
    answer.change = change_of(known.best->setup, answer.plan->setup);
  }
  answer.sentence = said_of_best(answer, known, objective, told);
}

}  // namespace

Result<WhyNot> why_not(const std::string& axis, const std::string& value, PlanRequest request,
                       const KnownPlans& known, const PlanWatch& watch) {
  const bool said = request.allowed.count(axis) > 0;
  const bool replaces = narrow(request, axis, value), told = said || replaces;
  request.top = 1;
  request.best_alone = true;
  WhyNot answer;
  answer.axis = axis;
  answer.value = value;
  // Else the known plans are not of all the candidates with the value.
  if (!replaces) answer.plan = known_with_value(request, known);
  if (answer.plan) {
    compare_with_best(answer, known, request.objective, told);
    return answer;
  }
  Result<PlanResult> found = search(request, watch);
  if (!found) {
    if (!says_that_none_is_made(found.error())) return found.error();
    answer.sentence = message("plan-value-empty", "No candidate has {}. {}",
                              value_of_axis(axis, value), found.error());
    return answer;
  }
  if (found->cancelled) return message("cancelled.plan", "The search was cancelled.");
  answer.candidates = found->candidates;
  std::copy(std::begin(found->classes), std::end(found->classes), std::begin(answer.classes));
  answer.reasons = std::move(found->reasons);
  if (found->best.empty()) {
    answer.sentence = none_can_be(answer);
    return answer;
  }
  answer.plan = std::move(found->best.front());
  compare_with_best(answer, known, request.objective, told);
  return answer;
}

Result<void> check_value(const std::string& axis, const std::string& value, PlanRequest request) {
  narrow(request, axis, value);
  const Result<Space> space = Space::of(request);
  if (!space) return space.error();
  return {};
}

nlohmann::json to_json(const WhyNot& answer) {
  using nlohmann::json;
  json told = {{"axis", answer.axis},
               {"value", answer.value},
               {"candidates", answer.candidates},
               {"classes", classes_json(answer.classes)},
               {"reasons", to_json(answer.reasons)},
               {"plan", answer.plan ? to_json(*answer.plan) : json(nullptr)},
               {"seconds", answer.seconds ? json(*answer.seconds) : json(nullptr)},
               {"sentence", answer.sentence.text},
               {"message", to_json(answer.sentence)}};
  put_change(told, answer.change);
  return told;
}

}  // namespace parallelarium
