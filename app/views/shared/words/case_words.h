// SPDX-License-Identifier: GPL-3.0-or-later
// The words of published runs, which the sheet of them and the Compare view show.
#pragma once

#include <QString>

#include "engine/predict/cases/cases.h"

namespace parallelarium {

// "step", "peak memory", in the user's language.
QString metric_text(const std::string& metric);
// A sentence of a case's file in the user's language. Names of rows and sources stay.
QString case_text(const std::string& words);
// The value in the metric's unit: "32.5 s".
QString metric_value_text(const std::string& metric, double value);
// "+5.1 %": how far a prediction is from the published figure.
QString error_text(double error);

}  // namespace parallelarium
