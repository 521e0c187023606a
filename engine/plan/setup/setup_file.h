// SPDX-License-Identifier: Apache-2.0
// Finds the Setup in a file.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/plan/result.h"

namespace parallelarium {

// Returns the Setup's own object in a document, in what `predict`, `run` and other commands print,
// or the best Setup of `plan`. If the file is none of these, it returns the whole. Errors: the file
// is a document or plan without a Setup, or is known to be something else, such as the answer of
// `sweep` or a Machine.
Result<nlohmann::json> setup_in(const nlohmann::json& file);

}  // namespace parallelarium
