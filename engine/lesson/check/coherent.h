// SPDX-License-Identifier: Apache-2.0
// Checks what the schema of a lesson cannot express.
#pragma once

#include <cstddef>

#include "engine/lesson/lesson.h"

namespace parallelarium {

inline constexpr std::size_t kMostParameterValues = 64;

// Error: an id is there twice or names nothing, or a step has something that its kind does not
// have. Needs no prediction.
Result<void> coherent(const Lesson& lesson);

}  // namespace parallelarium
