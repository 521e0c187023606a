// SPDX-License-Identifier: Apache-2.0
// From files to a Lesson: bounds first, then the schema, then plain data.
#include <algorithm>

#include "engine/lesson/check/coherent.h"
#include "engine/lesson/files.h"
#include "engine/lesson/lesson.h"
#include "engine/lesson/schema.h"
#include "engine/lesson/teaching/json_place.h"

namespace parallelarium {

namespace {

using nlohmann::json;

constexpr std::size_t kMostLanguages = 16;

std::string text_of(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  return value.dump();
}

Fields fields_from(const json& object, const char* key) {
  Fields fields;
  if (object.contains(key))
    for (const auto& member : object[key].items())
      fields.emplace_back(member.key(), text_of(member.value()));
  std::stable_partition(fields.begin(), fields.end(),
                        [](const auto& field) { return field.first == "model"; });
  return fields;
}

std::vector<std::string> texts_from(const json& object, const char* key) {
  std::vector<std::string> texts;
  if (object.contains(key))
    for (const json& text : object[key]) texts.push_back(text.get<std::string>());
  return texts;
}

Tolerance tolerance_from(const json& object) {
  const json tolerance = object.value("tolerance", json::object());
  return {tolerance.value("absolute", 0.0), tolerance.value("relative", 0.0)};
}

StepKind kind_from(const std::string& word) {
  for (const StepKind kind : {StepKind::kRead, StepKind::kPredict, StepKind::kRun,
                              StepKind::kExplain, StepKind::kGoal, StepKind::kBuild})
    if (name_of(kind) == word) return kind;
  return StepKind::kFind;
}

Check check_from(const json& object) {
  Check check;
  check.of = object["of"].get<std::string>();
  check.key = object["key"].get<std::string>();
  check.op = object["op"].get<std::string>();
  check.value = text_of(object["value"]);
  check.tolerance = tolerance_from(object);
  check.limit = object.value("limit", false);
  check.than = object.value("than", "");
  return check;
}

Ask ask_from(const json& object) {
  return {object.value("metric", ""), object["unit"].get<std::string>(), object.value("answer", ""),
          tolerance_from(object), object.value("few", false)};
}

Option option_from(const json& object) {
  Option option;
  option.id = object["id"].get<std::string>();
  option.correct = object.value("correct", false);
  option.value = object.value("value", "");
  option.misconception = object.value("misconception", "");
  return option;
}

Step step_from(const json& object) {
  Step step;
  step.id = object["id"].get<std::string>();
  step.kind = kind_from(object["kind"].get<std::string>());
  step.setup = fields_from(object, "setup");
  step.reveal = fields_from(object, "reveal");
  step.solution = fields_from(object, "solution");
  step.tempting = fields_from(object, "tempting");
  step.allow = texts_from(object, "allow");
  step.hide = texts_from(object, "hide");
  step.hints = object.value("hints", 0);
  step.keep = object.value("keep", "");
  step.from = object.value("from", "");
  step.small_copy = object.value("small_copy", false);
  if (object.contains("rubric"))
    for (const json& row : object["rubric"])
      step.rubric.push_back({row["id"].get<std::string>(), row["points"].get<int>(),
                             texts_from(row, "parts"), row.value("teacher", false)});
  if (object.contains("view")) {
    const json& view = object["view"];
    step.tab = view.value("tab", "");
    step.highlight = texts_from(view, "highlight");
    if (view.contains("range"))
      step.view_range = {view["range"][0].get<double>(), view["range"][1].get<double>()};
  }
  if (object.contains("ask")) step.ask = ask_from(object["ask"]);
  if (object.contains("parts"))
    for (const json& part : object["parts"])
      step.parts.push_back({part["id"].get<std::string>(), part.value("option", ""),
                            part.contains("option") ? Ask{} : ask_from(part)});
  if (object.contains("options"))
    for (const json& option : object["options"]) step.options.push_back(option_from(option));
  if (object.contains("checks"))
    for (const json& check : object["checks"]) step.checks.push_back(check_from(check));
  if (object.contains("assign")) {
    step.assign.of = object["assign"]["of"].get<std::string>();
    step.assign.tempting = object["assign"]["tempting"].get<Assignment>();
  }
  if (object.contains("order")) {
    const json& order = object["order"];
    step.order.start = texts_from(order, "start");
    step.order.solution = texts_from(order, "solution");
    Durations& durations = step.order.durations;
    durations.forward = order["forward"].get<double>();
    durations.backward = order["backward"].get<double>();
    durations.input_grad = order.value("input", durations.backward / 2);
    durations.weight_grad = order.value("weight", durations.backward - durations.input_grad);
    durations.transfer = order.value("transfer", 0.0);
    step.order.lengths = order.value("lengths", std::vector<double>());
    step.order.split = order.value("split", false);
    step.order.ghosts = order.value("ghosts", true);
  }
  return step;
}

PlanProblem problem_from(const json& object) {
  PlanProblem problem;
  problem.name = object["name"].get<std::string>();
  problem.setup = fields_from(object, "setup");
  problem.gpus = text_of(object["gpus"]);
  problem.global_batch = text_of(object["global_batch"]);
  problem.memory_bytes = object.contains("memory_bytes") ? text_of(object["memory_bytes"]) : "";
  problem.allowed = fields_from(object, "allowed");
  problem.rejections = object.value("rejections", false);
  return problem;
}

std::vector<Drawn> parameters_from(const json& object) {
  std::vector<Drawn> parameters;
  if (!object.contains("parameters")) return parameters;
  for (const auto& member : object["parameters"].items()) {
    Drawn& drawn = parameters.emplace_back();
    drawn.name = member.key();
    if (member.value().contains("list"))
      for (const json& value : member.value()["list"]) drawn.values.push_back(value.get<double>());
    else
      for (auto value = member.value()["range"][0].get<double>();
           value <= member.value()["range"][1].get<double>() &&
           drawn.values.size() <= kMostParameterValues;
           ++value)
        drawn.values.push_back(value);
  }
  return parameters;
}

// "lesson.json: …"
Message found_in(const std::string& file, const Message& fault) {
  Message found = message("found-in", "{}: {}", file, fault);
  found.kind = fault.kind;
  found.field = fault.field;
  return found;
}

// "lesson.json, line 7: …", of a fault at a path.
Message found_at(const std::string& file, const std::string& content, const Message& fault) {
  Message found = message("found-in.line", "{}, line {}: {}", file,
                          json_line(content, fault.field).line, fault);
  found.kind = fault.kind;
  found.field = fault.field;
  return found;
}

}  // namespace

std::string_view name_of(StepKind kind) {
  switch (kind) {
    case StepKind::kRead:
      return "read";
    case StepKind::kPredict:
      return "predict";
    case StepKind::kRun:
      return "run";
    case StepKind::kExplain:
      return "explain";
    case StepKind::kGoal:
      return "goal";
    case StepKind::kBuild:
      return "build";
    case StepKind::kFind:
      break;
  }
  return "find";
}

bool Step::wants_proof() const {
  return std::any_of(checks.begin(), checks.end(),
                     [](const Check& check) { return check.of_proof(); });
}

bool Step::runs_collective() const {
  return std::any_of(checks.begin(), checks.end(),
                     [](const Check& check) { return check.of == "collective-run"; });
}

const LessonText& Lesson::text(const std::string& language) const {
  const auto found = texts.find(language);
  return found != texts.end() ? found->second : texts.at("en");
}

bool Lesson::begins_with_collectives() const { return steps.front().tab == "collectives"; }

const Step* Lesson::find(const std::string& step_id) const {
  const auto found = std::find_if(steps.begin(), steps.end(),
                                  [&](const Step& step) { return step.id == step_id; });
  return found == steps.end() ? nullptr : &*found;
}

Result<Lesson> lesson_from_files(const std::map<std::string, std::string>& files,
                                 const json& schema) {
  const auto file = files.find("lesson.json");
  if (file == files.end()) return message("lesson-file.none", "The lesson lacks lesson.json.");
  const Result<json> object = lesson_json("lesson.json", file->second);
  if (!object) return object.error();
  const Result<void> valid = validate_json(*object, schema);
  if (!valid) return found_at("lesson.json", file->second, valid.error());
  Lesson lesson;
  lesson.id = (*object)["id"].get<std::string>();
  lesson.version = (*object)["version"].get<int>();
  lesson.minutes = (*object)["minutes"].get<int>();
  const json& requirements = (*object)["requires"];
  lesson.requirements.ranks = requirements["ranks"].get<int>();
  lesson.requirements.sources = texts_from(requirements, "source");
  lesson.requirements.gpu = requirements["gpu"].get<bool>();
  lesson.start = fields_from(*object, "start");
  lesson.parameters = parameters_from(*object);
  lesson.constraint = object->value("constraint", "");
  if (object->contains("problems"))
    for (const json& problem : (*object)["problems"])
      lesson.problems.push_back(problem_from(problem));
  for (const json& object_of_step : (*object)["steps"]) {
    Step& step = lesson.steps.emplace_back(step_from(object_of_step));
    if (step.kind != StepKind::kFind) continue;
    Result<Drawing> drawing = drawing_from_lines(texts_from(object_of_step, "drawing"));
    if (!drawing) {
      Message fault = found_in(step.id, drawing.error());
      fault.field = fmt::format("steps.{}.drawing", lesson.steps.size() - 1);
      return found_at("lesson.json", file->second, fault);
    }
    step.drawing = std::move(*drawing);
  }
  lesson.covers = object->value("covers", std::map<std::string, std::string>());
  const Result<void> fits = coherent(lesson);
  if (!fits) return found_at("lesson.json", file->second, fits.error());

  for (const auto& [name, content] : files) {
    const std::string language = language_of(name);
    if (language.empty()) continue;
    if (lesson.texts.size() >= kMostLanguages)
      return message("lesson-languages", "The lesson has more than {} languages.", kMostLanguages);
    Result<LessonText> text = lesson_text_from(content);
    if (!text) return found_in(name, text.error());
    lesson.texts.emplace(language, std::move(*text));
  }
  if (!lesson.texts.count("en")) return message("lesson-english", "The lesson lacks text.en.md.");
  return lesson;
}

Result<Lesson> read_lesson(const std::string& folder) {
  const Result<json> schema = lesson_schema();
  if (!schema) return schema.error();
  const auto files = lesson_files(folder);
  if (!files) return files.error();
  Result<Lesson> lesson = lesson_from_files(*files, *schema);
  if (!lesson) return found_in(folder, lesson.error());
  std::error_code ignored;
  lesson->folder = std::filesystem::weakly_canonical(folder, ignored).string();
  return lesson;
}

}  // namespace parallelarium
