// SPDX-License-Identifier: Apache-2.0
// What the schema of a lesson cannot say.
#pragma once

#include <cstddef>

#include "engine/lesson/lesson.h"

namespace parallelarium {

inline constexpr std::size_t kMostParameterValues = 64;

// Error: ids that stand twice or name nothing, or a step with what its kind does not have. Needs no
// prediction.
Result<void> coherent(const Lesson& lesson);

}  // namespace parallelarium
