// SPDX-License-Identifier: Apache-2.0
// Points for a hand-in, by the rubric of its lesson.
#pragma once

#include <vector>

#include "engine/lesson/lesson.h"
#include "engine/lesson/teaching/report.h"

namespace parallelarium {

// A row for each of the lesson's rubric, in its order. A row with parts gives each of them the same
// share of its points; one without gives all where every check of the step holds, or where the step
// is right if it has none. What a file leaves out gives nothing.
std::vector<HandInPoints> points_of(const Lesson& lesson, const std::vector<HandInStep>& steps);

}  // namespace parallelarium
