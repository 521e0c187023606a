// SPDX-License-Identifier: Apache-2.0
// Predictions and runs as text for people: aligned tables, three significant digits, and beside
// every block the word that says where its numbers come from.
#pragma once

#include <string>
#include <vector>

#include "engine/predict/compare.h"
#include "engine/predict/explanation.h"
#include "engine/predict/predict.h"

namespace parallelarium {

// `rank`: whose traffic is shown.
std::string prediction_text(const Prediction& prediction, int rank);
std::string traffic_text(const std::vector<TrafficRow>& rows);
// Idle shares, critical path, memory peaks and waits; `word` says where the times come from.
std::string explanation_text(const Explanation& explanation, const std::string& word);
// Predicted beside observed; `observed` is the word of the run's source.
std::string comparison_text(const std::vector<Comparison>& comparisons,
                            const std::string& observed);

}  // namespace parallelarium
