// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/check/coherent.h"

#include <algorithm>
#include <set>

#include "engine/wire/view_ids.h"

namespace parallelarium {

namespace {

// What is wrong with a question of several parts, or nothing.
std::string_view parts_fault(const Step& step) {
  if (step.ask) return "a question has \"ask\" or \"parts\", not both";
  if (step.parts.size() < 2) return "a question of parts has two or more";
  std::set<std::string> ids, options;
  for (const Option& option : step.options) {
    if (!options.insert(option.id).second) return "two options have the same id";
    if (option.correct || !option.value.empty() || !option.misconception.empty())
      return "an option of a question of parts has an id alone: each part names its own";
  }
  bool words = false;
  for (const QuestionPart& part : step.parts) {
    if (!ids.insert(part.id).second) return "two parts have the same id";
    words = words || !part.option.empty();
    std::vector<std::string> named = alternatives_of(part.option);
    if (named.empty() && !part.option.empty()) named.push_back(part.option);
    for (const std::string& option : named)
      if (options.count(option) == 0) return "a part names an option that is not there";
    if (part.option.empty() && part.ask.answer.empty())
      return "a part needs an \"option\", or a \"unit\" and an \"answer\"";
  }
  if (words != (options.size() > 1)) return "parts choose from two options or more";
  return {};
}

// What is wrong with how a step goes on from an earlier one, or with what it is worth.
std::string_view plan_fault(const Step& step, const std::set<std::string>& earlier) {
  if (!step.from.empty() && earlier.count(step.from) == 0) return "\"from\" names no earlier step";
  if (step.kind == StepKind::kPredict && !step.checks.empty() && step.parts.empty())
    return "a prediction of a plan has \"parts\"";
  std::set<std::string> rows;
  for (const RubricRow& row : step.rubric) {
    if (!rows.insert(row.id).second) return "two rows of the rubric have the same id";
    for (const std::string& id : row.parts)
      if (std::none_of(step.parts.begin(), step.parts.end(),
                       [&](const QuestionPart& part) { return part.id == id; }))
        return "a row of the rubric names a part that is not there";
  }
  return {};
}

// What is wrong with a step that assigns, or nothing.
std::string assign_fault(const Step& step) {
  if (!step.assigns()) return {};
  if (step.kind != StepKind::kBuild) return "only a build step assigns";
  if (!step.order.solution.empty()) return "a build step has \"order\" or \"assign\", not both";
  std::vector<std::string> slots, values;
  for (const QuestionPart& part : step.parts) {
    slots.push_back(part.id);
    if (part.option.empty()) return "each part of an assignment names an \"option\" of a solution";
  }
  for (const Option& option : step.options) values.push_back(option.id);
  for (const auto& [slot, value] : step.assign.tempting) {
    if (std::find(values.begin(), values.end(), value) == values.end())
      return "\"tempting\" names an option that is not there";
    if (std::find(slots.begin(), slots.end(), slot) == slots.end())
      return "\"tempting\" names a part that is not there";
  }
  return assignment_fault(step.assign.of, slots, values);
}

}  // namespace

Result<void> coherent(const Lesson& lesson) {
  const auto wrong = [](const std::string& where, std::string_view what) -> Result<void> {
    Message fault = message("lesson-form", "\"{}\": {}.", where, what);
    fault.field = where;
    return fault;
  };
  for (const Drawn& drawn : lesson.parameters)
    if (drawn.values.empty() || drawn.values.size() > kMostParameterValues)
      return wrong(drawn.name, "a parameter has 1 to 64 values");
  const std::vector<std::string>& sources = lesson.requirements.sources;
  const bool measured = sources == std::vector<std::string>{"measured"};
  std::set<std::string> steps, kept;
  for (const Step& step : lesson.steps) {
    if (!step.keep.empty() && (step.kind != StepKind::kRun || step.runs_collective()))
      return wrong(step.id, "only a step that runs the setup keeps its run");
    if (!step.keep.empty() && !kept.insert(step.keep).second)
      return wrong(step.id, "two runs are kept under this name");
    if (const auto fault = plan_fault(step, steps); !fault.empty()) return wrong(step.id, fault);
    if (!steps.insert(step.id).second) return wrong(step.id, "two steps have this id");
    if (!step.tab.empty() && !is_view_id(step.tab))
      return wrong(step.id, fmt::format("tab must be {}", view_ids_text()));
    const bool numeric = step.ask && !step.ask->answer.empty();
    const bool asks = step.kind == StepKind::kPredict || step.kind == StepKind::kExplain;
    if (const std::string fault = assign_fault(step); !fault.empty()) return wrong(step.id, fault);
    if (!asks && !step.assigns() && (step.ask || !step.options.empty() || !step.parts.empty()))
      return wrong(step.id, "only predict and explain steps ask");
    for (const Check& check : step.checks)
      if ((check.of == "assignment") != step.assigns())
        return wrong(step.id, "a step that assigns, and no other, checks the \"assignment\"");
    if (!step.parts.empty()) {
      if (const auto fault = parts_fault(step); !fault.empty()) return wrong(step.id, fault);
      continue;
    }
    if (asks && !numeric && step.options.empty())
      return wrong(step.id, "a question needs an \"answer\", \"options\" or \"parts\"");
    std::set<std::string> options;
    long correct = 0;
    for (const Option& option : step.options) {
      if (!options.insert(option.id).second) return wrong(step.id, "two options have the same id");
      correct += option.correct ? 1 : 0;
      if (option.correct == !option.misconception.empty())
        return wrong(step.id, "every wrong option, and no other, names its misconception");
      if (numeric && option.value.empty())
        return wrong(step.id, "a foreseen wrong number needs a \"value\"");
    }
    if (correct != (numeric || step.options.empty() ? 0 : 1))
      return wrong(step.id, numeric ? "a foreseen wrong number cannot be correct"
                                    : "exactly one option must be correct");
    if (asks && !numeric && step.options.size() < 2)
      return wrong(step.id, "a choice needs two options or more");
    for (const Check& check : step.checks) {
      if (check.of == "order" && step.kind != StepKind::kBuild)
        return wrong(step.id, "only a build step has an order to check");
      if (check.of == "run" && check.key.starts_with("step.") && !measured)
        return wrong(step.id,
                     "times of a rehearsal are set: a lesson that checks a run's step requires "
                     "measured runs alone");
      if (check.of_proof() && step.kind != StepKind::kRun)
        return wrong(step.id, "only the run of a run step is proved");
      if (!check.than.empty() &&
          (check.of != "run" || check.than == step.keep || kept.count(check.than) == 0))
        return wrong(step.id, "\"than\" names a run that an earlier step keeps");
      if (check.of == "run" && step.runs_collective())
        return wrong(step.id, "a step runs the setup or the collective, not both");
    }
  }
  for (const auto& [row, step] : lesson.covers)
    if (steps.count(step) == 0) return wrong("covers." + row, "no step has this id");
  return {};
}

}  // namespace parallelarium
