// SPDX-License-Identifier: Apache-2.0
// Writes the current settings into the lesson.json of a lesson that a teacher writes.
#pragma once

#include <string>
#include <vector>

#include "engine/lesson/lesson.h"
#include "engine/lesson/play.h"

namespace parallelarium {

// The settings with which a step begins, or those that solve it.
enum class RecordAs : std::uint8_t { kStart, kSolution };

// Writes those settings of `now` that differ from what the step has so far with the drawn values.
// They become the lesson's "start" for the first step, the step's "setup" for any other, or the
// "solution" of a goal. For a build step it writes the current order as "order.start" or
// "order.solution". An expression stays if it gives the current value. All else of the file stays
// as it is, byte for byte. How ranks run ("run.…") is never written. Returns the keys that were
// written. Empty: nothing differed, and the file is as it was.
// Errors: the lesson came with the program, the step has no solution, a setting cannot be written,
// the goal does not allow a setting to be changed, or the file cannot be written.
Result<std::vector<std::string>> record_setup(const Lesson& lesson, std::size_t step, RecordAs as,
                                              const Symbols& drawn, const Settings& now);

// Whether the lesson came with the program; such lessons are not written. Those of
// $PARALLELARIUM_LESSONS belong to their author.
bool came_with_program(const Lesson& lesson);

}  // namespace parallelarium
