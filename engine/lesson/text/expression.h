// SPDX-License-Identifier: Apache-2.0
// The small arithmetic of lessons: "(p - 1) / (m + p - 1)". It has numbers, names, + - * / ^ %,
// comparisons, && ||, brackets, and min, max, abs, sqrt, ceil, floor, round, log2. A comparison is
// 1 or 0. An expression has no loops and no variables, so it ends at once.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"
#include "engine/predict/network/collective_plan.h"

namespace parallelarium {

using Symbols = std::map<std::string, double, std::less<>>;

inline constexpr std::size_t kMostExpressionBytes = 200;

// Errors: a syntax error says at which character; an unknown name lists the known ones; a result
// that is not finite names the expression.
Result<double> evaluate(std::string_view expression, const Symbols& symbols);

// The symbols of the formula panel for a Setup: p stages, m micro-batches, v chunks; d, t, c, e
// degrees of DP, TP, CP, EP; b micro-batch size, s sequence, h hidden, a heads, k key/value heads,
// L layers, V vocabulary, f inner width of the MLP, z ZeRO stage; E experts, top_k experts of a
// token, factor of their capacity, skew.
Symbols symbols_of(const Setup& setup);
// The symbols for a collective: n ranks, S bytes of the whole array, alpha seconds of latency and
// beta seconds per byte of a link.
Symbols symbols_of(const CollectiveChoice& collective);
// The names of both. A lesson's parameters must have other names.
const std::vector<std::string>& symbol_names();

}  // namespace parallelarium
