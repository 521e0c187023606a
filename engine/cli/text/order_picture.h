// SPDX-License-Identifier: Apache-2.0
// A timed Order as rows of text cells, as papers draw it.
#pragma once

#include <optional>
#include <string>

#include "engine/schedules/timing.h"

namespace parallelarium {

// One line per rank: "rank 0  F0 F1 F2 F3 .. .. B0 -- F4": a cell is `cell` units of time, ".." is
// idle, "--" continues the action before it. Nothing where the times are not whole numbers of cells
// or where a line would have more than `most_cells` cells.
struct OrderPicture {
  std::string text;
  double cell = 1;
};
std::optional<OrderPicture> picture_of(const TimedOrder& timed, int chunks, int most_cells);

}  // namespace parallelarium
