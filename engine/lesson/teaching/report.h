// SPDX-License-Identifier: Apache-2.0
// Judges what a class hands in. A hand-in says which numbers were drawn (the seed) and what was
// answered; whether that is right is found out again here, whatever the file claims.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/lesson/lesson.h"

namespace parallelarium {

struct HandInStep {
  std::string step;
  StepKind kind = StepKind::kRead;
  bool judged = false;  // questions, drawings, orders and goals; a run leaves nothing to judge
  bool right = false;
  bool claimed = false;  // what the file says
  std::string answer;    // as it was given: a number, an option's id, an order
  int attempts = 0, hints = 0;
};

struct HandIn {
  std::string file, name;  // as given; who the file says it is of
  std::string lesson;
  int version = 0;
  std::uint64_t seed = 0;
  int minutes = 0;
  std::vector<HandInStep> steps;
  std::vector<Message> faults;  // why it cannot be judged, or what it claims wrongly
  int asked() const;
  int right() const;
};

struct WrongAnswer {
  std::string lesson, step, answer;
  int count = 0;
};

struct ClassReport {
  std::vector<HandIn> hand_ins;
  // Files with the same drawn numbers and the same answers, each after the one it equals.
  std::vector<std::pair<std::string, std::string>> equal;
  std::vector<WrongAnswer> common;  // wrong answers of two hand-ins or more, most frequent first
  bool ok() const;                  // nothing was wrong with any file
};

// `files`: paths of what "Export my answers" wrote. Lessons are those of `course`. Predictions are
// of the devices of `computer`. With a class code, numbers that are not those of the name in the
// file (class_seed) are a fault.
ClassReport report_on(const std::vector<std::string>& files, const std::string& course,
                      const Computer& computer, const std::string& class_code = "");

nlohmann::json to_json(const ClassReport& report);
// A line for each step of each file: file, name, lesson, seed, step, kind, right, claimed,
// attempts, hints, answer.
std::string to_csv(const ClassReport& report);

}  // namespace parallelarium
