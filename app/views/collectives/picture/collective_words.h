// SPDX-License-Identifier: GPL-3.0-or-later
// Sentences about a collective: its steps, moves and frames, as pictures, tables, exports and
// screen readers say them.
#pragma once

#include "app/selection/selection_panel.h"
#include "app/views/collectives/picture/collective_motion.h"

namespace parallelarium {

// What a lesson asks for, and so is neither painted nor told.
struct CollectiveHidden {
  bool predicted = false, run = false;  // all of it
  bool times = false;                   // the time or what it follows from: bandwidth or steps
  bool seconds = false, algorithm_bandwidth = false, bus_bandwidth = false, sent_bytes = false,
       steps = false, formulas = false;
};

// "reduce-scatter" or "all-gather": the part of an all-reduce that a step belongs to; else empty.
QString phase_of(const CollectivePlan& plan, int step);
// "Every rank sends one chunk to its right neighbour, who adds it to its own."
QString step_sentence(const CollectivePlan& plan, int step);
// "1 MiB on every link in this step · each rank has sent 2 of its 6 MiB", or without the total.
QString bytes_line(const CollectiveMotion& motion, Nanoseconds time, bool with_total = true);
// "Every chunk ends as the sum of all 4 ranks"
QString result_sentence(const CollectiveSpec& spec);
// "Ring against binomial tree on the same inexact inputs: 12 of 4,096 elements differ, by at most 1
// unit in the last place"
QString rounding_sentence(const CollectiveSpec& spec, const RoundingComparison& rounding);
// "Chunk c1 from rank 3 to rank 0"
QString move_sentence(const CollectivePlan& plan, const Move& move);
QString chunk_name(const CollectivePlan& plan, int chunk);  // "c1", of an all-to-all "3 → 0"
// "{0, 3}": whose contributions are in a chunk.
QString set_text(RankSet set);

// A move with its bytes, what it does and its times on either side; `observed` may be null.
SelectionText describe_move(const CollectiveMotion& predicted, const CollectiveMotion* observed,
                            MoveRef ref);
// Everything about the frame at `time`, for screen readers.
QString frame_sentence(const CollectiveMotion& motion, Nanoseconds time,
                       const CollectiveHidden& hidden = {});

}  // namespace parallelarium
