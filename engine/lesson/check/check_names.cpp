// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "engine/lesson/check/check_parts.h"
#include "engine/lesson/play.h"
#include "engine/lesson/teaching/coverage.h"
#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {

namespace {

constexpr std::size_t kMostParts = 8;

// What a lesson may hide: the begin of a key.
constexpr const char* kHideable[] = {"plan",
                                     "lane",
                                     "memory",
                                     "traffic",
                                     "bubble",
                                     "step",
                                     "held",
                                     "layer",
                                     "experts",
                                     "losses",
                                     "formulas",
                                     "collective.seconds",
                                     "collective.steps",
                                     "collective.sent_bytes",
                                     "collective.algorithm_bandwidth",
                                     "collective.bus_bandwidth"};

bool is_setting(const std::string& key) {
  const std::vector<std::string>& collective = collective_keys();
  if (std::find(collective.begin(), collective.end(), key) != collective.end()) return true;
  const SetupSetting* row = find_setting(setup_settings(), key);
  return row != nullptr && row->key == key;
}

// The objects of a step that set something, by their keys.
std::vector<std::pair<std::string, const Fields*>> objects_of(const Step& step) {
  return {{"setup", &step.setup},
          {"reveal", &step.reveal},
          {"solution", &step.solution},
          {"tempting", &step.tempting}};
}

// A lesson's figures are those of one precision and one attention, whatever devices a student has.
void check_pins(const Lesson& lesson, Faults& faults) {
  for (const char* key : {"precision", "attention"}) {
    const auto sets = [&](const auto& field) { return field.first == key; };
    if (std::none_of(lesson.start.begin(), lesson.start.end(), sets))
      faults.add(message("lesson-auto",
                         "The start leaves \"{}\" to auto, which differs between computers; set "
                         "it, to {} for one.",
                         key, key == std::string_view("precision") ? "fp32" : "unfused"),
                 "start", key);
    const auto check = [&](const Fields& fields, const std::string& where,
                           const std::string& object) {
      for (const auto& field : fields)
        if (sets(field) && field.second == "auto")
          faults.add(
              message("lesson-auto.named",
                      "\"{}\" must not be auto, which differs between computers; name one.", key),
              where, object + key);
    };
    check(lesson.start, "start", "");
    for (const Step& step : lesson.steps)
      for (const auto& [object, fields] : objects_of(step)) check(*fields, step.id, object + ".");
  }
}

void check_rows(const Lesson& lesson, Faults& faults) {
  const auto rows = read_rows(lessons_folder());
  if (!rows) return faults.add(rows.error(), "covers");
  for (const auto& [row, step] : lesson.covers)
    if (rows->count(row) == 0)
      faults.add(message("lesson-row", "\"{}\" is not a row of rows.json.", row), "covers", row);
}

}  // namespace

bool covers(const std::vector<std::string>& keys, const std::string& key) {
  return std::any_of(keys.begin(), keys.end(), [&](const std::string& hidden) {
    return key == hidden || key.rfind(hidden + ".", 0) == 0;
  });
}

void check_names(const Lesson& lesson, Faults& faults) {
  check_pins(lesson, faults);
  check_rows(lesson, faults);
  const std::vector<std::string>& symbols = symbol_names();
  const std::set<std::string> reserved = {
      "guess",       "answer",        "predicted",  "observed",    "found",
      "kept",        "difference",    "faults",     "missed",      "all_parts",
      "wrong_parts", "broken_checks", "first_axis", "second_axis", "third_axis"};
  for (const Drawn& drawn : lesson.parameters)
    if (reserved.count(drawn.name) ||
        std::find(symbols.begin(), symbols.end(), drawn.name) != symbols.end())
      faults.add(message("parameter-name", "The parameter has the name of a symbol."), drawn.name);
  for (const Drawn& drawn : lesson.parameters)
    if (std::adjacent_find(drawn.values.begin(), drawn.values.end()) != drawn.values.end())
      faults.add(message("parameter-twice", "A value stands twice."), drawn.name);
  if (!lesson.constraint.empty()) {
    const Result<double> value = evaluate(lesson.constraint, draw(lesson, 0));
    if (!value) faults.add("lesson-constraint", value.error(), "constraint");
  }
  if (lesson.steps.size() > kMostParts)
    faults.add(message("lesson-long", "The lesson has {} parts, and {} are the most.",
                       lesson.steps.size(), kMostParts),
               "steps");
  bool asks_number = false, has_goal = false, builds = false, only_builds = true;
  for (const Step& step : lesson.steps) {
    builds = builds || step.kind == StepKind::kBuild;
    only_builds = only_builds && (step.kind == StepKind::kBuild || step.kind == StepKind::kFind ||
                                  step.kind == StepKind::kRead);
    asks_number = asks_number || (step.ask && !step.ask->answer.empty()) ||
                  std::any_of(step.parts.begin(), step.parts.end(),
                              [](const QuestionPart& part) { return part.option.empty(); });
    has_goal = has_goal || step.kind == StepKind::kGoal;
    for (std::size_t at = 0; at < step.allow.size(); ++at)
      if (!is_setting(step.allow[at]))
        faults.add(message("step-allow", "\"{}\" is not a setting.", step.allow[at]), step.id,
                   fmt::format("allow.{}", at));
    for (const auto& [object, fields] : objects_of(step))
      for (const auto& [key, value] : *fields)
        if ((fields == &step.solution || fields == &step.tempting) && !covers(step.allow, key))
          faults.add(message("goal-locked", "\"{}\" is needed and not in \"allow\".", key), step.id,
                     object + "." + key);
    for (std::size_t at = 0; at < step.hide.size(); ++at)
      if (std::none_of(std::begin(kHideable), std::end(kHideable),
                       [&](const char* part) { return covers({part}, step.hide[at]); }))
        faults.add(message("step-hide", "\"{}\" cannot be hidden.", step.hide[at]), step.id,
                   fmt::format("hide.{}", at));
    if (step.view_range && step.view_range->first >= step.view_range->second)
      faults.add(message("step-view", "The range of the view ends before it begins."), step.id,
                 "view.range");
  }
  // Orders with a length and limits to keep are goals enough for a lesson of nothing else.
  if (builds && only_builds) return;
  if (!asks_number) faults.add(message("lesson-number", "No step asks for a number."), "");
  if (!has_goal) faults.add(message("lesson-goal", "No step sets a goal."), "");
}

}  // namespace parallelarium
