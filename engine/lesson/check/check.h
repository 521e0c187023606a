// SPDX-License-Identifier: Apache-2.0
// Proves lessons. It finds out what a person would find by going through them again and again.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/lesson/play.h"

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
  // Once it is set, a check ends as soon as it can, and its reports are not to be used.
  const std::atomic<bool>* cancelled = nullptr;
  bool goes_on() const { return !cancelled || !*cancelled; }
};

// What is wrong in a lesson, and where. `kind` is the rule; `field` a step's id, a file, a key of
// the lesson, or empty for the whole of it.
struct LessonFault : Message {
  std::string key;   // below `field`: "ask.answer"; of a text the heading: "hint 2"; or empty
  std::string file;  // "lesson.json", "text.de.md"; empty: it belongs to none
  int line = 0;      // of that key in it, from 1
};

struct LessonReport {
  std::string id;
  std::size_t steps = 0, samples = 0, languages = 0, predictions = 0, runs = 0;
  std::vector<LessonFault> faults;
  bool ok() const { return faults.empty(); }
};

// Proves for every drawn value (or for samples): the schema holds; every step has its text in every
// language, and there is no other text; Qt 6.4 can show the Markdown; links and pictures are there;
// the start state fails each goal and the solution passes; the limit binds; the answer is what is
// predicted, and stands nowhere while it is asked for; distractors differ from it by more than the
// tolerance; every wrong option has feedback; the solutions of orders pass; runs pass.
LessonReport check_lesson(const std::string& folder, const CheckOptions& options = {});

// Checks every lesson of a course folder, and course.json itself: titles, ids, lessons that are not
// listed, and whether each lesson, or one that it builds on, introduces the settings, views and
// words that it uses.
std::vector<LessonReport> check_course(const std::string& folder, const CheckOptions& options = {});

}  // namespace parallelarium
