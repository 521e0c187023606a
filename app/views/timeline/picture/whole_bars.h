// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline from farther away: bars that belong together put into one. From far a bar is a line
// of the Order, such as the F3 or B3 of a stage; nearer it is a layer of that, or its embedding or
// head; nearest a piece or a collective, which is what bars_of() gives.
#pragma once

#include <cstddef>
#include <vector>

#include "app/state/session.h"
#include "engine/plan/program/timeline.h"

namespace parallelarium {

struct WholeBars {
  // Sorted as their parts. A whole spans from the first begin to the last end of its parts, so
  // waiting between them is inside; it takes kind and action from its first compute part.
  std::vector<Bar> bars;
  // Bar i stands for the parts [parts[i], parts[i + 1]); one entry more than bars.
  std::vector<std::size_t> parts;
};

// `pieces` must be bars of the compute lane of one rank, sorted by begin, and zoom not kPieces.
WholeBars whole_bars(const std::vector<Bar>& pieces, Zoom zoom);

}  // namespace parallelarium
