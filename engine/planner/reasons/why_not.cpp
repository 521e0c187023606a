// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/reasons/why_not.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/plan/text/message_json.h"
#include "engine/plan/text/units.h"

namespace parallelarium {

std::string value_of_axis(const std::string& axis, const std::string& value) {
  std::string name = axis;
  if (axis.size() == 2)
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char of) { return std::toupper(of); });
  if (axis == "zero") name = "ZeRO";
  if (axis == "zero-group") name = "ZeRO group";
  return name + " " + value;
}

namespace {

// Some values mean something beside one value of another axis alone.
void narrow(PlanRequest& request, const std::string& axis, const std::string& value) {
  request.allowed[axis] = {value};
  if (axis == "chunks" && value != "1") request.allowed["schedule"] = {"interleaved"};
  if (axis == "zero-group" && value != "0") request.allowed["zero"] = {"1", "2", "3"};
}

Message percent_of(double share) { return figure(percent_text(std::abs(share))); }

Message said_of_best(const WhyNot& answer, const Plan* best, Objective objective) {
  const std::string shown = value_of_axis(answer.axis, answer.value);
  const Plan& plan = *answer.plan;
  const Message takes = figure(seconds_text(plan.step.seconds));
  if (best == nullptr)
    return message("plan-value-alone",
                   "Of {} candidates with {} the best takes {}; the search itself found none that "
                   "fits.",
                   answer.candidates, shown, takes);
  if (answer.change.empty())
    return message("plan-value-best", "The best plan has {} itself: its step takes {}.", shown,
                   takes);
  if (objective != Objective::kTime) {
    const auto value = [&](const Plan& of) {
      return objective_value(objective, of.time.count(), of.needed_bytes, of.setup.mesh.ranks());
    };
    return message("plan-value-objective",
                   "Of {} candidates with {} the best by {} lies {} behind the best plan ({}): a "
                   "step of {} with {} on {} GPUs.",
                   answer.candidates, shown, std::string(name_of(objective)),
                   percent_of(value(plan) / value(*best) - 1), answer.change, takes,
                   figure(bytes_text(static_cast<double>(plan.needed_bytes))),
                   plan.setup.mesh.ranks());
  }
  if (*answer.seconds < 0)
    return message("plan-value-faster",
                   "Of {} candidates with {} the fastest takes {}, {} less than the best plan "
                   "({}): the search was told another value.",
                   answer.candidates, shown, takes, figure(seconds_text(-*answer.seconds)),
                   answer.change);
  if (*answer.seconds == 0)
    return message("plan-value-equal",
                   "Of {} candidates with {} the fastest takes {}, as long as the best plan ({}).",
                   answer.candidates, shown, takes, answer.change);
  const Cause cause = largest_of(causes_of(best->parts, plan.parts, *answer.seconds));
  return message(
      "plan-value-slower",
      "Of {} candidates with {} the fastest takes {}, {} or {} longer than the best plan "
      "({}); the largest difference is {}, {}.",
      answer.candidates, shown, takes, figure(seconds_text(*answer.seconds)),
      percent_of(*answer.seconds / best->step.seconds), answer.change, words_of_cause(cause.cause),
      figure(seconds_text(cause.seconds)));
}

Message none_can_be(const WhyNot& answer) {
  const auto count = [&](PlanClass of) { return answer.classes[static_cast<std::size_t>(of)]; };
  const ReasonCount& commonest = answer.reasons.front();
  return message(
      "plan-value-none",
      "Of {} candidates with {}, {} are refused and {} do not fit. The commonest reason, "
      "of {}: {}",
      answer.candidates, value_of_axis(answer.axis, answer.value), count(PlanClass::kRefused),
      count(PlanClass::kDoesNotFit), commonest.count, commonest.sentence);
}

}  // namespace

Result<WhyNot> why_not(const std::string& axis, const std::string& value, PlanRequest request,
                       const Plan* best, const PlanWatch& watch) {
  narrow(request, axis, value);
  request.top = 1;
  request.best_alone = true;
  WhyNot answer;
  answer.axis = axis;
  answer.value = value;
  Result<PlanResult> found = search(request, watch);
  if (!found) {
    if (found.error().id != "plan-empty") return found.error();
    answer.sentence = message("plan-value-empty",
                              "No candidate has {}: with it no combination makes so many GPUs and "
                              "a global batch of {} sequences.",
                              value_of_axis(axis, value), request.global_batch);
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
  if (best != nullptr) {
    answer.seconds = answer.plan->step.seconds - best->step.seconds;
    answer.change = change_of(best->setup, answer.plan->setup);
  }
  answer.sentence = said_of_best(answer, best, request.objective);
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
  return {{"axis", answer.axis},
          {"value", answer.value},
          {"candidates", answer.candidates},
          {"classes", classes_json(answer.classes)},
          {"reasons", to_json(answer.reasons)},
          {"plan", answer.plan ? to_json(*answer.plan) : json(nullptr)},
          {"seconds", answer.seconds ? json(*answer.seconds) : json(nullptr)},
          {"change", answer.change},
          {"sentence", answer.sentence.text},
          {"message", to_json(answer.sentence)}};
}

}  // namespace parallelarium
