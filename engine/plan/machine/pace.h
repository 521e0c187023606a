// SPDX-License-Identifier: Apache-2.0
// When a paced run leaves the cores too little room to keep its modelled durations.
#pragma once

#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// The share of the cores above which a paced run is refused: modelled durations would no longer be
// what the threads can keep.
inline constexpr double kMostPacedLoad = 0.7;

// Nobody chose the pace: a run may be slower where the cores need it.
bool pace_is_default(const RunSettings& run);

// The least pace at which the real work fills no more than kMostPacedLoad of the cores, rounded up
// to two digits; `load` at `pace_seconds`.
double least_pace(double pace_seconds, double load);

// The refusal, with the least pace that would do. load: share of the cores that the real work fills
// at the Setup's pace; least_load: the same with what a slower pace adds (sleeps), at least `load`.
Message pace_too_fast(const Setup& setup, double load, double least_load, int cores);

}  // namespace parallelarium
