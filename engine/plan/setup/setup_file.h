// SPDX-License-Identifier: Apache-2.0
// What files that hold a Setup look like.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/plan/result.h"

namespace parallelarium {

// The Setup's own object in a document, in what `predict`, `run` and others print, or the best of
// `plan`; the whole where it is none of these. Errors: a document or plan without a Setup, and what
// is known to be something else, such as the answer of `sweep` or a Machine.
Result<nlohmann::json> setup_in(const nlohmann::json& file);

}  // namespace parallelarium
