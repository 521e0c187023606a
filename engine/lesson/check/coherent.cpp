// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/check/coherent.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "engine/plan/text/phrases.h"
#include "engine/wire/view_ids.h"

namespace parallelarium {

namespace {

// What is wrong with a question of several parts, or nothing.
std::optional<Message> parts_fault(const Step& step) {
  if (step.ask)
    return message("form-ask-or-parts", "a question has \"ask\" or \"parts\", not both");
  if (step.parts.size() < 2)
    return message("form-few-parts", "a question of parts has two or more");
  std::set<std::string> ids, options;
  for (const Option& option : step.options) {
    if (!options.insert(option.id).second)
      return message("form-options-twice", "two options have the same id");
    if (option.correct || !option.value.empty() || !option.misconception.empty())
      return message("form-option-of-parts",
                     "an option of a question of parts has an id alone: each part names its own");
  }
  bool words = false;
  for (const QuestionPart& part : step.parts) {
    if (!ids.insert(part.id).second)
      return message("form-parts-twice", "two parts have the same id");
    words = words || !part.option.empty();
    std::vector<std::string> named = alternatives_of(part.option);
    if (named.empty() && !part.option.empty()) named.push_back(part.option);
    for (const std::string& option : named)
      if (options.count(option) == 0)
        return message("form-part-option", "a part names an option that is not there");
    if (part.option.empty() && part.ask.answer.empty())
      return message("form-part-needs",
                     "a part needs an \"option\", or a \"unit\" and an \"answer\"");
  }
  if (words != (options.size() > 1))
    return message("form-few-options", "parts choose from two options or more");
  return std::nullopt;
}

bool asks(const Step& step) {
  return step.kind == StepKind::kPredict || step.kind == StepKind::kExplain;
}

// What is wrong with the options of a step without parts, or nothing.
std::optional<Message> options_fault(const Step& step) {
  const bool numeric = step.ask && !step.ask->answer.empty();
  const bool chooses = asks(step) && !numeric;
  if (chooses && step.options.empty())
    return message("form-question-needs",
                   "a question needs an \"answer\", \"options\" or \"parts\"");
  std::set<std::string> options;
  long correct = 0;
  for (const Option& option : step.options) {
    if (!options.insert(option.id).second)
      return message("form-options-twice", "two options have the same id");
    correct += option.correct ? 1 : 0;
    if (option.correct == !option.misconception.empty())
      return message("form-misconception",
                     "every wrong option, and no other, names its misconception");
    if (numeric && option.value.empty())
      return message("form-foreseen-value", "a foreseen wrong number needs a \"value\"");
  }
  if (correct != (numeric || step.options.empty() ? 0 : 1))
    return numeric ? message("form-foreseen-correct", "a foreseen wrong number cannot be correct")
                   : message("form-one-correct", "exactly one option must be correct");
  if (chooses && step.options.size() < 2)
    return message("form-choice-options", "a choice needs two options or more");
  return std::nullopt;
}

// What is wrong with how a step goes on from an earlier one, or with what it is worth. The
// message's field is the key of the step.
std::optional<Message> plan_fault(const Step& step, const std::set<std::string>& earlier) {
  const auto wrong = [](const std::string& key, Message what) {
    what.field = key;
    return what;
  };
  if (!step.from.empty() && earlier.count(step.from) == 0)
    return wrong("from", message("form-from", "\"from\" names no earlier step"));
  if (step.kind == StepKind::kPredict && !step.checks.empty() && step.parts.empty())
    return wrong("checks", message("form-plan-parts", "a prediction of a plan has \"parts\""));
  std::set<std::string> rows;
  for (const RubricRow& row : step.rubric) {
    if (!rows.insert(row.id).second)
      return wrong("rubric",
                   message("form-rubric-twice", "two rows of the rubric have the same id"));
    for (const std::string& id : row.parts)
      if (std::none_of(step.parts.begin(), step.parts.end(),
                       [&](const QuestionPart& part) { return part.id == id; }))
        return wrong("rubric", message("form-rubric-part",
                                       "a row of the rubric names a part that is not there"));
  }
  return std::nullopt;
}

// What is wrong with a step that assigns, or nothing.
std::optional<Message> assign_fault(const Step& step) {
  if (!step.assigns()) return std::nullopt;
  if (step.kind != StepKind::kBuild) return message("form-assigns", "only a build step assigns");
  if (!step.order.solution.empty())
    return message("form-order-or-assign", "a build step has \"order\" or \"assign\", not both");
  std::vector<std::string> slots, values;
  for (const QuestionPart& part : step.parts) {
    slots.push_back(part.id);
    if (part.option.empty())
      return message("form-assign-option",
                     "each part of an assignment names an \"option\" of a solution");
  }
  for (const Option& option : step.options) values.push_back(option.id);
  for (const auto& [slot, value] : step.assign.tempting) {
    if (std::find(values.begin(), values.end(), value) == values.end())
      return message("form-tempting-option", "\"tempting\" names an option that is not there");
    if (std::find(slots.begin(), slots.end(), slot) == slots.end())
      return message("form-tempting-part", "\"tempting\" names a part that is not there");
  }
  Message fault = assignment_fault(step.assign.of, slots, values);
  if (fault.text.empty()) return std::nullopt;
  return fault;
}

}  // namespace

Result<void> coherent(const Lesson& lesson) {
  // `path`: of what is wrong, in the file.
  const auto wrong_at = [](const std::string& path, const std::string& where,
                           Message what) -> Result<void> {
    Message fault = message("lesson-form", "\"{}\": {}.", where, std::move(what));
    fault.field = path;
    return fault;
  };
  for (const Drawn& drawn : lesson.parameters)
    if (drawn.values.empty() || drawn.values.size() > kMostParameterValues)
      return wrong_at(
          "parameters." + drawn.name, drawn.name,
          message("form-values", "a parameter has 1 to {} values", kMostParameterValues));
  const std::vector<std::string>& sources = lesson.requirements.sources;
  const bool measured = sources == std::vector<std::string>{"measured"};
  std::set<std::string> steps, kept;
  for (std::size_t at = 0; at < lesson.steps.size(); ++at) {
    const Step& step = lesson.steps[at];
    // `key`: of the step.
    const auto wrong = [&](const std::string& key, Message what) {
      return wrong_at(fmt::format("steps.{}.{}", at, key), step.id, std::move(what));
    };
    if (!step.keep.empty() && (step.kind != StepKind::kRun || step.runs_collective()))
      return wrong("keep", message("form-keeps", "only a step that runs the setup keeps its run"));
    if (!step.keep.empty() && !kept.insert(step.keep).second)
      return wrong("keep", message("form-kept-twice", "two runs are kept under this name"));
    if (auto fault = plan_fault(step, steps)) return wrong(fault->field, std::move(*fault));
    if (!steps.insert(step.id).second)
      return wrong("id", message("form-steps-twice", "two steps have this id"));
    if (!step.tab.empty() && !is_view_id(step.tab))
      return wrong("view.tab", message("form-tab", "tab must be {}", join_or(view_ids())));
    if (auto fault = assign_fault(step)) return wrong("assign", std::move(*fault));
    if (!asks(step) && !step.assigns() &&
        (step.ask || !step.options.empty() || !step.parts.empty()))
      return wrong(step.ask             ? "ask"
                   : step.parts.empty() ? "options"
                                        : "parts",
                   message("form-asks", "only predict and explain steps ask"));
    for (std::size_t check = 0; check < step.checks.size(); ++check)
      if ((step.checks[check].of == "assignment") != step.assigns())
        return wrong(fmt::format("checks.{}.of", check),
                     message("form-checks-assignment",
                             "a step that assigns, and no other, checks the \"assignment\""));
    if (!step.parts.empty()) {
      if (auto fault = parts_fault(step)) return wrong("parts", std::move(*fault));
      continue;
    }
    if (auto fault = options_fault(step)) return wrong("options", std::move(*fault));
    for (std::size_t index = 0; index < step.checks.size(); ++index) {
      const Check& check = step.checks[index];
      const std::string key = fmt::format("checks.{}", index);
      if (check.of == "order" && step.kind != StepKind::kBuild)
        return wrong(key, message("form-order-check", "only a build step has an order to check"));
      if (check.of == "run" && check.key.starts_with("step.") && !measured)
        return wrong(key, message("form-measured",
                                  "times of a rehearsal are set: a lesson that checks a run's "
                                  "step requires measured runs alone"));
      if (check.of_proof() && step.kind != StepKind::kRun)
        return wrong(key, message("form-proved", "only the run of a run step is proved"));
      if (!check.than.empty() &&
          (check.of != "run" || check.than == step.keep || kept.count(check.than) == 0))
        return wrong(key, message("form-than", "\"than\" names a run that an earlier step keeps"));
      if (check.of == "run" && step.runs_collective())
        return wrong(key,
                     message("form-runs-one", "a step runs the setup or the collective, not both"));
    }
  }
  for (const auto& [row, step] : lesson.covers)
    if (steps.count(step) == 0)
      return wrong_at("covers." + row, "covers." + row,
                      message("form-no-step", "no step has this id"));
  return {};
}

}  // namespace parallelarium
