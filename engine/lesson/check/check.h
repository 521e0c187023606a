// SPDX-License-Identifier: Apache-2.0
// Proves lessons. It finds out what a person would find by going through them again and again.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/lesson/lesson.h"

namespace parallelarium {

// A run, and its proof as `run --verify` prints it.
struct ProvedRun {
  Observation observation;
  nlohmann::json proof;
};

struct CheckOptions {
  Computer computer;  // the computer of the proof; predictions are for its devices
  // These run a Setup or a collective for run steps. If empty, checks on runs are left out.
  std::function<Result<Observation>(const Setup&)> run;
  std::function<Result<CollectiveObservation>(const CollectiveSpec&)> run_collective;
  std::size_t most_samples = 200;
  // Runs a Setup and proves it, for steps that ask for a proof. If empty, these are left out.
  std::function<Result<ProvedRun>(const Setup&)> prove;
};

struct LessonReport {
  std::string id;
  std::size_t steps = 0, samples = 0, languages = 0, predictions = 0, runs = 0;
  std::vector<Message> faults;       // kind: the rule; field: "step-id" or file; text: the sentence
  std::map<std::string, int> lines;  // of lesson.json, by step-id
  bool ok() const { return faults.empty(); }
};

// Proves for every drawn value (or for samples): the schema holds; every step has its text in every
// language, and there is no other text; Qt 6.4 can show the Markdown; links and pictures are there;
// the start state fails each goal and the solution passes; the limit binds; the answer is what is
// predicted; distractors differ from it by more than the tolerance; every wrong option has
// feedback; the solutions of orders pass; runs pass.
LessonReport check_lesson(const std::string& folder, const CheckOptions& options = {});

// Checks every lesson of a course folder, and course.json itself: titles, ids, lessons that are not
// listed, and whether each lesson, or one that it builds on, introduces the settings, views and
// words that it uses.
std::vector<LessonReport> check_course(const std::string& folder, const CheckOptions& options = {});

}  // namespace parallelarium
