// SPDX-License-Identifier: Apache-2.0
// What a rehearsal takes from a prediction: the durations of its ops, and how much slower than the
// Machine it must go on the cores of this computer. plan/placement/stretch.h says what a rehearsal
// is.
#pragma once

#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/predict/predict.h"

namespace parallelarium {

// The modelled seconds of every op on the prediction's Machine, by [rank][op]. They assume even
// routing, since a run knows its own routing.
std::vector<std::vector<Nanoseconds>> modelled_durations(const Prediction& prediction);

// The stretch of a rehearsal of the prediction on the cores of `here`, this computer: the least
// that leaves them room, or up to eight times that if the run stays short, and at least the
// Setup's. The run's second step may ask for more.
double stretch_of(const Prediction& prediction, const Machine& here);

// Seconds that people wait for a run without noticing.
inline constexpr double kPatienceSeconds = 20;

// The seconds that all steps of that rehearsal take by the clock, warm-up included.
double clock_seconds_of(const Prediction& prediction, double stretch);

}  // namespace parallelarium
