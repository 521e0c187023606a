// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/cli/training.h"

namespace parallelarium {

// What `run` prints for people: the prediction beside what was observed, why ranks idled, and what
// was trained.
std::string run_text(const Training& training);

}  // namespace parallelarium
