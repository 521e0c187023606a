// SPDX-License-Identifier: Apache-2.0
// Gives points for a hand-in, by the rubric of its lesson.
#pragma once

#include <vector>

#include "engine/lesson/lesson.h"
#include "engine/lesson/teaching/grading/report.h"

namespace parallelarium {

// Returns an entry for each row of the lesson's rubric, in its order. A row with parts gives each
// part the same share of its points. A row without parts gives all points if every check of the
// step holds or, if the step has no checks, if the step is right. What a file leaves out gives
// nothing.
std::vector<HandInPoints> points_of(const Lesson& lesson, const std::vector<HandInStep>& steps);

}  // namespace parallelarium
