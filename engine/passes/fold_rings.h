// SPDX-License-Identifier: Apache-2.0
// Rings of TP inside folds. Nothing but what the fold computes waits for such a ring, and the ring
// waits for nothing else: what both take together is a number that the fold alone tells.
#pragma once

#include <vector>

#include "engine/passes/pieces.h"

namespace parallelarium {

// Whether each draft is a part of a ring of TP, or goes with one.
std::vector<bool> in_rings(const std::vector<Draft>& drafts);

// By draft of a list: the last one of the compute lane that one of the rings' lane waits for, and
// the other way round; -1: none. `slots`: how many there are.
std::vector<std::int32_t> ring_waits(const std::vector<Draft>& drafts, std::size_t slots);

// Takes out of `inside` what waits for another op than its own, or is waited for by one, or whose
// lane may be busy when its op begins. `waits`: ring_waits(); `cuts`: whether an op begins at each
// draft, and at the end; `outer`: slots of buffers that another lane touches beside the rings.
// Returns whether it took any.
bool take_out_rings(const std::vector<Draft>& drafts, const std::vector<std::int32_t>& waits,
                    const std::vector<bool>& cuts, const std::vector<bool>& outer,
                    std::vector<bool>& inside);

// Whether all that the lane of rings does in the list has ended when the compute lane has.
bool ring_lane_ends(const std::vector<Draft>& drafts, const std::vector<std::int32_t>& waits);

// The steps of drafts [begin, end) of an op, with the rings inside, added to the Fold. None where
// there is no ring.
void add_steps(const std::vector<Draft>& drafts, std::size_t begin, std::size_t end,
               const std::vector<bool>& inside, const std::vector<std::int32_t>& waits, Fold& fold);

}  // namespace parallelarium
