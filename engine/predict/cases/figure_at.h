// SPDX-License-Identifier: Apache-2.0
// One figure of an answer by its dotted key: what lessons check, sweeps draw and comparisons list.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace parallelarium {

// The number at a dotted key of `predict --json` or `run --json`, true as 1; none if it is not
// there. "bubble.ranks.2" is an element, "bubble.ranks.*" the largest of all. Of a table of rows a
// word that stands in some of them takes those, and the name of a column adds it up:
// "traffic.dp.sent_bytes".
std::optional<double> figure_at(const nlohmann::json& facts, const std::string& key);

}  // namespace parallelarium
