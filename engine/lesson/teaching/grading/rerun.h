// SPDX-License-Identifier: Apache-2.0
// Runs some hand-ins again. A run that was really made is repeated bit for bit: a training step
// that begins with the same seed ends with the same bits on the same backend.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "engine/lesson/teaching/grading/report.h"

namespace parallelarium {

// What is wrong with a run that a hand-in tells of, without running it again: its Setup is not the
// one that the step sets for the student's numbers, or its bytes are not those of such a step.
std::optional<Message> fault_of_run(const Lesson& lesson, const HandIn& hand_in,
                                    const HandInStep& given, const Computer& computer);

// The run as a hand-in has it: {source, machine, backend, setup, losses, sent_bytes}.
nlohmann::json hand_in_run(const Observation& seen);

struct RerunCount {
  int drawn = 0;
  int run = 0;  // drawn hand-ins with a run that could be compared
};

// Draws `count` of the hand-ins that have runs (all of them if there are no more). It runs each of
// their training steps again on CPU ranks, with the Setup that the lesson sets for the student's
// numbers. It fills HandIn::drawn and HandInStep::rerun. Only the lesson's own Setup is run; a
// hand-in with another Setup has a fault. `course` is the folder of the lessons.
RerunCount rerun_hand_ins(ClassReport& report, int count, std::uint64_t seed,
                          const std::string& course,
                          const std::function<Result<Observation>(const Setup&)>& run);

}  // namespace parallelarium
