// SPDX-License-Identifier: Apache-2.0
// Files as students hand them in.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/lesson/check/check_parts.h"
#include "engine/lesson/play.h"
#include "engine/lesson/teaching/grading/rerun.h"
#include "engine/plan/placement/resolve.h"
#include "engine/predict/predict.h"
#include "tests/lesson/lesson_copy.h"

namespace parallelarium {

// A run that was not made, with losses that tell its Setup, and the bytes that are predicted.
inline Result<Observation> told_losses(const Setup& setup) {
  Observation seen;
  seen.setup = setup;
  seen.backend = "cpu";
  seen.losses = {2.0 + setup.mesh.pp, 1.0 + 1.0 / setup.microbatches};
  const Result<Situation> here = situation_of(setup, Computer());
  if (!here) return here.error();
  const Result<Prediction> prediction = predict(here->setup, here->machine);
  if (!prediction) return prediction.error();
  for (int rank = 0; rank < here->setup.mesh.ranks(); ++rank)
    seen.traffic.push_back(expected_traffic(*prediction, rank));
  return seen;
}

// What a lesson leaves to the computer, as a student has it.
inline auto set_as_students(auto setup) {
  if (is_auto(setup.precision)) setup.precision = *find_precision("fp32");
  if (setup.attention == Attention::kAuto) setup.attention = Attention::kUnfused;
  setup.run.backend = Backend::kPaced;
  setup.run.seed = 17;
  return setup;
}

inline Lesson shipped(const std::string& id) {
  Result<Lesson> lesson = read_lesson(shipped_lessons() + "/" + id);
  EXPECT_TRUE(lesson) << (lesson ? "" : lesson.error().text);
  return std::move(*lesson);
}

inline std::string in_folder(const std::string& name) {
  return (std::filesystem::path(testing::TempDir()) / name).string();
}

inline std::string write_hand_in(const std::string& name, const nlohmann::json& content) {
  const std::string path = in_folder(name);
  std::ofstream(path) << content.dump();
  return path;
}

// The answers and runs of one who knows every answer, claiming nothing; but step `wrong` is
// answered wrongly.
inline nlohmann::json played(const std::string& id, std::uint64_t seed,
                             const std::string& wrong = "") {
  const Lesson lesson = shipped(id);
  const Symbols drawn = draw(lesson, seed);
  nlohmann::json steps = nlohmann::json::array();
  for (std::size_t at = 0; at < lesson.steps.size(); ++at) {
    const Step& step = lesson.steps[at];
    nlohmann::json given = {
        {"step", step.id}, {"kind", name_of(step.kind)}, {"attempts", 1}, {"hints", 0}};
    Result<Settings> settings = settings_at(lesson, at, drawn, true);
    Context context;
    if (step.sets_plan()) {
      settings = with_fields(*settings, step.solution, drawn);
      Predictions predictions({});
      context.predicted = context_of(*settings, drawn, predictions)->predicted;
    }
    context.settings = *settings;
    context.drawn = drawn;
    for (const QuestionPart& part : step.parts)
      if (part.option.empty())
        given["parts"][part.id] = *value_of_part(part, context);
      else if (step.id != wrong)
        given["parts"][part.id] = *option_of_part(part, context);
    if (step.ask && !step.ask->answer.empty()) {
      given["number"] = *evaluate(step.ask->answer, context.symbols());
      if (step.id == wrong) given["number"] = 1234.5;
    }
    for (const Option& option : step.options)
      if (!given.contains("number") && step.parts.empty() && option.correct != (step.id == wrong))
        given["option"] = option.id;
    if (step.builds_order())
      given["order"] = step.id == wrong ? step.order.start : step.order.solution;
    for (const DrawnFault& fault : faults_of(step.drawing))
      if (step.id != wrong) given["marks"].push_back({fault.stage, fault.slot});
    for (const auto& [key, value] : step.id == wrong ? step.tempting : step.solution)
      given["settings"][key] = *picked(value, drawn);
    if (step.kind == StepKind::kRun && !step.runs_collective())
      given["run"] =
          hand_in_run(*told_losses(set_as_students(settings_at(lesson, at, drawn)->setup)));
    steps.push_back(std::move(given));
  }
  return {{"format", "parallelarium-answers/1"},
          {"name", "N. N."},
          {"lesson", id},
          {"version", lesson.version},
          {"seed", seed},
          {"seconds", 600},
          {"steps", std::move(steps)}};
}

}  // namespace parallelarium
