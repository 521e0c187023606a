// SPDX-License-Identifier: Apache-2.0
// What a rehearsal takes from a prediction: the durations of its ops, and how much slower than the
// Machine the cores of this computer let it go. plan/placement/stretch.h says what a rehearsal is.
#pragma once

#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/predict/predict.h"

namespace parallelarium {

// The modelled seconds of every op on the prediction's Machine, by [rank][op]; of even routing,
// since a run knows its own.
std::vector<std::vector<Nanoseconds>> modelled_durations(const Prediction& prediction);

// The stretch of a rehearsal of the prediction on the cores of `here`, this computer: the least
// that leaves them room, up to eight times that where the run stays short, and at least the
// Setup's. The run's second step may ask for more.
double stretch_of(const Prediction& prediction, const Machine& here);

// Seconds that somebody waits for a run without a thought.
inline constexpr double kPatienceSeconds = 20;

// What all steps of that rehearsal take by the clock, warm-up included.
double clock_seconds_of(const Prediction& prediction, double stretch);

}  // namespace parallelarium
