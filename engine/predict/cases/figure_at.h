// SPDX-License-Identifier: Apache-2.0
// Finds one figure of an answer by its dotted key. Lessons check such figures, sweeps draw them,
// and comparisons list them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace parallelarium {

// The number at a dotted key of `predict --json` or `run --json`; true counts as 1. None: it is not
// there. "bubble.ranks.2" is an element, and "bubble.ranks.*" is the largest of all. In a table, a
// word selects the rows that contain it, and the name of a column adds up that column:
// "traffic.dp.sent_bytes", which is 0 where that group sends nothing.
std::optional<double> figure_at(const nlohmann::json& facts, const std::string& key);

}  // namespace parallelarium
