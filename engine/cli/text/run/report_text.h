// SPDX-License-Identifier: Apache-2.0
// Predictions and runs as text for people: aligned tables, three significant digits, and beside
// every block the word that says where its numbers come from.
#pragma once

#include <string>
#include <vector>

#include "engine/predict/compare.h"
#include "engine/predict/explain/explanation.h"
#include "engine/predict/predict.h"

namespace parallelarium {

// "precision auto (fp32), 4 + 4 + 0 + 8 bytes a parameter; attention fused": what a Setup that was
// asked for was resolved to.
std::string chosen_text(const Setup& setup, const Setup& asked);
// `rank`: whose traffic is shown.
std::string prediction_text(const Prediction& prediction, const Setup& asked, int rank);
std::string traffic_text(const std::vector<TrafficRow>& rows);
// Idle shares, critical path, memory peaks and waits; `word` says where the times come from.
std::string explanation_text(const Explanation& explanation, const std::string& word);
// Predicted beside observed, and the difference as the window shows it: observed against predicted;
// where durations are no evidence, what `source` makes of them instead.
std::string comparison_text(const std::vector<Comparison>& comparisons, Source source);

}  // namespace parallelarium
