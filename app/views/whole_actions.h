// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline from far: one bar for each line of the Order, such as the F3 or B3 of a stage, with
// all its pieces and the collectives between them.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/plan/timeline.h"

namespace parallelarium {

struct WholeActions {
  // Sorted as their parts. A whole spans from the first begin to the last end of its parts, so
  // waiting between them is inside; it takes kind and action from its first compute part.
  std::vector<Bar> bars;
  // Bar i stands for the parts [parts[i], parts[i + 1]); one entry more than bars.
  std::vector<std::size_t> parts;
  bool merged = false;  // whether a bar has more than one part
};

// Requires: `compute` are bars of the compute lane of `rank`, sorted by begin.
WholeActions whole_actions(const RankProgram& rank, const std::vector<Bar>& compute);

}  // namespace parallelarium
