// SPDX-License-Identifier: Apache-2.0
// Rings of TP inside folds. Only what the fold computes waits for such a ring, and the ring waits
// for nothing else. So the fold alone tells the time that both take together.
#pragma once

#include <vector>

#include "engine/passes/pieces.h"

namespace parallelarium {

// Whether each draft is a part of a ring of TP, or goes with one.
std::vector<bool> in_rings(const std::vector<Draft>& drafts);

// For each draft of the rings' lane: the last draft of the compute lane that it waits for, and the
// other way round; -1: none. `slots`: the number of slots.
std::vector<std::int32_t> ring_waits(const std::vector<Draft>& drafts, std::size_t slots);

// Takes drafts out of `inside`: those that wait for another op than their own, those for which
// another op waits, and those whose lane may be busy when their op begins. `waits`: ring_waits().
// `cuts`: whether an op begins at each draft, and at the end. `outer`: slots of buffers that
// another lane touches beside the rings. Returns whether it took any.
bool take_out_rings(const std::vector<Draft>& drafts, const std::vector<std::int32_t>& waits,
                    const std::vector<bool>& cuts, const std::vector<bool>& outer,
                    std::vector<bool>& inside);

// Whether the lane of rings ends its work in the list no later than the compute lane.
bool ring_lane_ends(const std::vector<Draft>& drafts, const std::vector<std::int32_t>& waits);

// Adds the steps of drafts [begin, end) of an op, with the rings inside, to the Fold. It adds none
// if there is no ring.
void add_steps(const std::vector<Draft>& drafts, std::size_t begin, std::size_t end,
               const std::vector<bool>& inside, const std::vector<std::int32_t>& waits, Fold& fold);

}  // namespace parallelarium
