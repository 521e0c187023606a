// SPDX-License-Identifier: Apache-2.0
// Writes what is set into the lesson.json of a lesson that a teacher writes.
#pragma once

#include <string>
#include <vector>

#include "engine/lesson/lesson.h"

namespace parallelarium {

// What a step begins with, or what solves it.
enum class RecordAs : std::uint8_t { kStart, kSolution };

// Writes those settings of `now` that differ from what the step has by now, with the values that
// are drawn: as the lesson's "start" for the first step and the step's "setup" for any other, or as
// the "solution" of a goal; of a build step the order that is set, as "order.start" or
// "order.solution". Values that are expressions stay where they give what is set. All else of the
// file stays as it is, byte for byte. How ranks run ("run.…") is never written.
// Result: the keys that were written; empty: all was so already, and the file is as it was.
// Errors: the lesson came with the program, the step has no solution, a setting cannot be written
// or is not one that the goal lets be changed, the file cannot be written.
Result<std::vector<std::string>> record_setup(const Lesson& lesson, std::size_t step, RecordAs as,
                                              const Symbols& drawn, const Settings& now);

// Whether it is of the lessons that came with the program: these are not written. Those of
// $PARALLELARIUM_LESSONS are their author's.
bool came_with_program(const Lesson& lesson);

}  // namespace parallelarium
