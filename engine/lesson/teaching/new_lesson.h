// SPDX-License-Identifier: Apache-2.0
// A template for a new lesson.
#pragma once

#include <string>

#include "engine/plan/result.h"

namespace parallelarium {

// Writes lesson.json and text.en.md of a small lesson that check_lesson() proves: something to
// read, a prediction, a run and a goal. The folder's name is the lesson's id. Error: the name is no
// id, the folder has files, or it cannot be written.
Result<void> write_new_lesson(const std::string& folder);

}  // namespace parallelarium
