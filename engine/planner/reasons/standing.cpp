// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/reasons/standing.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "engine/plan/setup/setup_settings.h"
#include "engine/plan/text/message_json.h"
#include "engine/plan/text/phrases.h"
#include "engine/plan/text/units.h"
#include "engine/planner/reasons/why_not.h"
#include "engine/predict/predict.h"

namespace parallelarium {

namespace {

// What makes it other work than the search's, whose steps do not compare with its own.
std::vector<Message> other_work(const Setup& setup, const PlanRequest& request) {
  const Setup& base = request.base;
  const auto shape = [](const Model& model) {  // a launch line knows neither name nor all the rest
    return std::tuple(model.layers, model.hidden, model.ffn, model.heads, model.kv_heads,
                      model.experts.count);
  };
  std::vector<Message> differences;
  if (shape(setup.model) != shape(base.model))
    differences.push_back(
        message("plan-other-model", "its model has another shape than {}", title_of(base.model)));
  if (setup.model.sequence != base.model.sequence)
    differences.push_back(message("plan-other-sequence",
                                  "its sequences have {} tokens, and those of the search {}",
                                  setup.model.sequence, base.model.sequence));
  if (setup.global_batch() != request.global_batch)
    differences.push_back(message("plan-other-batch", "it makes a global batch of {}, not {}",
                                  setup.global_batch(), request.global_batch));
  return differences;
}

// The value of an axis that alone keeps the Setup out of the search, and why.
Message untried_axis(const Setup& setup, const PlanRequest& request) {
  if (setup.recompute == Recompute::kSelective && setup.attention == Attention::kFused &&
      request.allowed.count("recompute") == 0)
    return message("plan-other-selective",
                   "unless it is told to, the search does not try {} beside fused attention, which "
                   "keeps no scores that it could free",
                   value_of_axis("recompute", text_of(setup.recompute)));
  for (const PlanAxis& axis : plan_axes()) {
    const SetupSetting& row = *find_setting(setup_settings(), axis.option);
    const std::string value = text_of_value(row.value.get(setup));
    PlanRequest wider = request;
    wider.allowed[axis.option] = {value};
    const Result<Space> space = value.empty() ? Result<Space>(Message()) : Space::of(wider);
    if (space && space->covers(setup))
      return message("plan-other-axis", "unless it is told to, the search does not try {}",
                     value_of_axis(axis.option, value));
  }
  return message("plan-other-axes",
                 "several axes have values that the search does not try unless it is told to");
}

// Why the search does not look at the Setup; none: it does.
std::optional<Message> outside_of(const Setup& setup, const PlanRequest& request) {
  std::vector<Message> differences = other_work(setup, request);
  const std::int64_t gpus = setup.mesh.ranks();
  if (gpus < request.least_gpus || gpus > request.most_gpus)
    differences.push_back(request.least_gpus == request.most_gpus
                              ? message("plan-other-gpus", "it has {} GPUs, and the search {}",
                                        gpus, request.most_gpus)
                              : message("plan-other-gpus-of",
                                        "it has {} GPUs, and the search {} to {}", gpus,
                                        request.least_gpus, request.most_gpus));
  if (differences.empty()) {
    const Result<Space> space = Space::of(request);
    if (!space || space->covers(setup)) return std::nullopt;
    return untried_axis(setup, request);
  }
  Message all = differences.front();
  for (std::size_t at = 1; at < differences.size(); ++at)
    all = message("plan-outside-and", "{}; {}", all, differences[at]);
  return all;
}

// Says first that the Setup is no candidate, and keeps what else is said of it.
// The same is said of a recommended plan that keeps such a value.
void put_outside(Standing& told, const std::optional<Message>& outside, const PlanRequest& request,
                 const std::vector<Recommended>& recommended = {}) {
  if (!outside) return;
  told.candidate = false;
  const bool keeps = std::any_of(recommended.begin(), recommended.end(), [&](const auto& each) {
    return outside_of(each.plan.setup, request).has_value();
  });
  told.sentence =
      keeps ? message("plan-outside-nearest",
                      "It is no candidate of this search: {}. The recommended plan that is nearest "
                      "to it keeps that. {}",
                      *outside, told.sentence)
            : message("plan-outside", "It is no candidate of this search: {}. {}", *outside,
                      told.sentence);
}

Standing refused(const Message& why) {
  Standing told;
  told.sentence = why;
  return told;
}

// The settings that are no axis and change a step, where the search has another value.
std::vector<const SetupSetting*> own_rows(const Setup& setup, const Setup& base) {
  std::vector<const SetupSetting*> all;
  for (const SetupSetting& row : setup_settings()) {
    const bool of_step = !row.option.empty() && !row.key.starts_with("model") &&
                         !row.key.starts_with("run.") && row.key != "machine" &&
                         row.key != "nodes" && row.key != "gpus" && row.key != "global_batch" &&
                         row.key != "learning_rate";
    const bool is_axis = std::any_of(plan_axes().begin(), plan_axes().end(),
                                     [&](const auto& axis) { return axis.option == row.option; });
    if (!of_step || is_axis || (row.applies && !row.applies(setup))) continue;
    if (text_of(setup, row) != text_of(base, row)) all.push_back(&row);
  }
  return all;
}

// "Overlap pipeline off (on)" of each of them; the search's value stands in brackets.
std::vector<Message> own_settings(const Setup& setup, const Setup& base) {
  std::vector<Message> all;
  for (const SetupSetting* row : own_rows(setup, base))
    all.push_back(message("plan-own-setting", "{} {} ({})", words_of_setting(*row),
                          words_of_value(*row, text_of(setup, *row)),
                          words_of_value(*row, text_of(base, *row))));
  return all;
}

// Whether what the change does to an axis that the search restricts is a value that it allows.
bool keeps_to_axes(const Setup& setup, const Setup& other, const PlanRequest& request) {
  return std::all_of(request.allowed.begin(), request.allowed.end(), [&](const auto& axis) {
    const SetupSetting& row = *find_setting(setup_settings(), axis.first);
    const std::string value = text_of(other, row);
    return value == text_of(setup, row) ||
           std::any_of(axis.second.begin(), axis.second.end(), [&](const std::string& allowed) {
             Setup with = other;
             return set_field(with, axis.first, allowed).ok() && text_of(with, row) == value;
           });
  });
}

// What overlaps with what, as the search has it: each a change that costs no memory and no result.
std::vector<ChangedSetup> overlaps_of(const Setup& setup, const Setup& base) {
  std::vector<ChangedSetup> all;
  for (const SetupSetting* row : own_rows(setup, base)) {
    Setup other = setup;
    if (!row->key.starts_with("overlap_") ||
        !set_field(other, row->option, text_of(base, *row)).ok())
      continue;
    Change change = change_of(setup, other);
    all.push_back({std::move(other), std::move(change)});
  }
  return all;
}

// What of the Setup stays in each change of it, though the search has it otherwise.
void note_own_settings(Standing& told, const Setup& setup, const PlanRequest& request,
                       const PlanResult& result) {
  const std::vector<Message> own = own_settings(setup, request.base);
  if (own.empty() || !told.tried || !other_work(setup, request).empty()) return;
  // Where the search has the axes of the change, too, only these settings can make it faster.
  const Result<Space> space = Space::of(request);
  const bool outdoes = told.change && !result.best.empty() && !told.change->tied && space &&
                       request.objective == Objective::kTime &&
                       space->covers(told.change->plan.setup) &&
                       told.change->plan.step.seconds < result.best.front().step.seconds;
  told.own = outdoes ? message("plan-own-faster",
                               "It has settings that the search does not vary, and with them the "
                               "change makes it faster than the best plan, which has the values in "
                               "brackets: {}.",
                               listed(own))
                     : message("plan-own",
                               "It has settings that the search does not vary; plans of the search "
                               "have the values in brackets: {}.",
                               listed(own));
}

// That the best change makes no difference, or that another one serves as well.
void note_tied_changes(SingleChange& change, const Plan& plan, const TieThreshold& ties) {
  const double seconds = change.plan.step.seconds;
  if (ties.within(seconds, plan.step.seconds)) {
    change.tied = true;
    change.sentence = message(
        "plan-tied-change",
        "No single change makes a difference that can be told: the best, {}, takes {} less, "
        "within {}.",
        change.change.said, figure(seconds_text(plan.step.seconds - seconds)),
        figure(percent_text(*ties.share)));
  } else if (change.next && ties.within(seconds, change.next->seconds)) {
    change.sentence =
        message("plan-faster-changes", "{} {} serves as well: {}, a tie within {}.",
                change.sentence, change.next->change.said,
                figure(seconds_text(change.next->seconds)), figure(percent_text(*ties.share)));
  }
}

// Of the Setup as a candidate, whose changes `rules` says.
Standing standing_as_candidate(const Setup& setup, const PlanRequest& request,
                               const PlanResult& result, const ChangeRules& rules) {
  const Machine& machine = request.machine;
  Result<Tried> tried = try_setup(setup, machine, true, request.refuses);
  if (!tried) return refused(tried.error());
  Standing told;
  told.tried = std::move(*tried);
  const Plan& plan = told.tried->plan;
  if (!told.tried->fits()) {
    told.plan_class = PlanClass::kDoesNotFit;
    told.sentence = too_large(*told.tried, machine);
    told.change = cheapest_change(setup, machine, rules);
    return told;
  }
  told.change = improving_change(plan, machine, rules);
  if (told.change && request.objective != Objective::kMemory)
    note_tied_changes(*told.change, plan, result.ties);
  told.plan_class = PlanClass::kSimulated;
  const Message step = figure(seconds_text(plan.step.seconds));
  if (!other_work(setup, request).empty()) {
    told.sentence = message("plan-explain-other",
                            "Its step takes {}. It is other work than the search's, so that the "
                            "two times say nothing of each other.",
                            step);
    return told;
  }
  if (result.best.empty()) {
    told.sentence = message("plan-explain-alone", "It fits, and the search found none that does.");
    return told;
  }
  const Plan& best = result.best.front();
  if (request.objective != Objective::kTime) {
    const auto needed = [](const Plan& of) {
      return figure(bytes_text(static_cast<double>(of.needed_bytes)));
    };
    told.sentence = message(
        "plan-explain-objective",
        "Its step takes {}, and its fullest rank needs {}; the best plan by the objective takes {} "
        "and needs {}.",
        step, needed(plan), figure(seconds_text(best.step.seconds)), needed(best));
    return told;
  }
  const double longer = plan.step.seconds - best.step.seconds;
  const bool among = result.best.size() < static_cast<std::size_t>(request.top) ||
                     plan.time <= result.best.back().time;
  if (!among) told.plan_class = PlanClass::kBounded;
  if (longer <= 0) {
    told.sentence = message("plan-explain-best", "Its step takes {}; no plan's takes less.", step);
    return told;
  }
  if (result.ties.within(best.step.seconds, plan.step.seconds)) {
    told.sentence = message(
        "plan-explain-tied", "Its step takes {}, {} more than the best plan's: a tie, within {}.",
        step, figure(seconds_text(longer)), figure(percent_text(*result.ties.share)));
    return told;
  }
  const Cause cause = largest_of(causes_of(best.parts, plan.parts, longer));
  told.sentence = message(
      "plan-explain",
      "Its step takes {}, {} more than the best plan's; the largest difference is {}, {}.", step,
      figure(seconds_text(longer)), words_of(cause), figure(seconds_text(cause.seconds)));
  return told;
}

}  // namespace

SetupFilter changes_within(const Setup& setup, const PlanRequest& request) {
  if (Result<Space> space = Space::of(request); space && !outside_of(setup, request))
    return [space = std::move(*space)](const Setup& other) { return space.covers(other); };
  return [&](const Setup& other) { return keeps_to_axes(setup, other, request); };
}

Standing refused_standing(const Message& why, const Setup& setup, const PlanRequest& request) {
  Standing told = refused(why);
  put_outside(told, outside_of(setup, request), request);
  return told;
}

Standing standing_of(const Setup& setup, const PlanRequest& request, const PlanResult& result,
                     const std::function<void(double share)>& progress) {
  const std::optional<Message> outside = outside_of(setup, request);
  ChangeRules rules;
  rules.refuses = request.refuses;
  rules.others = overlaps_of(setup, request.base);
  rules.progress = progress;
  rules.objective = request.objective;
  rules.wanted = changes_within(setup, request);
  Standing told = standing_as_candidate(setup, request, result, rules);
  note_own_settings(told, setup, request, result);
  put_outside(told, outside, request, result.recommended);
  return told;
}

nlohmann::json to_json(const Standing& standing, const Setup& asked) {
  nlohmann::json json = {{"setup", to_json(asked)},
                         {"class", name_of(standing.plan_class)},
                         {"candidate", standing.candidate},
                         {"sentence", standing.sentence.text},
                         {"message", to_json(standing.sentence)},
                         {"own", standing.own ? to_json(*standing.own) : nlohmann::json(nullptr)},
                         {"step", nullptr},
                         {"memory", nullptr},
                         {"plan", nullptr},
                         {"change", nullptr}};
  if (standing.tried) {
    const Plan& plan = standing.tried->plan;
    json["plan"] = to_json(plan);
    json["plan"]["memory"]["fits"] = standing.tried->fits();
    json["memory"] = {{"needed_bytes", plan.needed_bytes}, {"capacity_bytes", plan.capacity_bytes}};
    if (standing.tried->fits()) {
      json["step"] = to_json(plan.step, false);
    } else {
      json["memory"]["stage"] = standing.tried->over.stage;
      json["memory"]["over_bytes"] = standing.tried->over.bytes;
    }
  }
  if (standing.change) json["change"] = to_json(*standing.change);
  return json;
}

}  // namespace parallelarium
