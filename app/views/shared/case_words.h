// SPDX-License-Identifier: GPL-3.0-or-later
// The words of published runs, which the sheet of them and the Compare view show.
#pragma once

#include <QString>

#include "engine/predict/cases/cases.h"

namespace parallelarium {

// "step", "peak memory", in the user's language.
QString metric_text(const std::string& metric);
// What a case's file says in a sentence, in the user's language; names of rows and sources stay.
QString case_text(const std::string& words);
// In the metric's unit: "32.5 s".
QString metric_value_text(const std::string& metric, double value);
// "+5.1 %": how far a prediction lies from what was published.
QString error_text(double error);

}  // namespace parallelarium
