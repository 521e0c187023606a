// SPDX-License-Identifier: Apache-2.0
// When a paced run leaves the cores too little room to keep its modelled durations.
#pragma once

#include "engine/plan/result.h"
#include "engine/plan/setup.h"

namespace parallelarium {

// The share of the cores above which a paced run is refused: modelled durations would no longer be
// what the threads can keep.
inline constexpr double kMostPacedLoad = 0.7;

// The refusal, with the least pace that would do. load: share of the cores that the real work fills
// at the Setup's pace; least_load: the same with what a slower pace adds (sleeps), at least `load`.
Message pace_too_fast(const Setup& setup, double load, double least_load, int cores);

}  // namespace parallelarium
