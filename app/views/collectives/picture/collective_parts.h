// SPDX-License-Identifier: GPL-3.0-or-later
// An all-reduce taken apart: a reduce-scatter and the all-gather after it, as one plan, so that it
// can stand beside the all-reduce.
#pragma once

#include "app/views/collectives/picture/collective_motion.h"

namespace parallelarium {

// Null where `plan` is no all-reduce, or the parts do not work with its ranks. The parts are those
// of halving-doubling for that algorithm, else rings; the topology is the plan's.
std::shared_ptr<const CollectiveMotion> reduce_scatter_then_all_gather(const CollectivePlan& plan);

// In how many of all chunks of all ranks both hold the same contributions at these times.
struct Agreement {
  int same = 0, all = 0;
};
// Both must have as many ranks. Chunks are compared where both cut the array alike, else `all` is
// 0.
Agreement agreement(const CollectiveMotion& a, Nanoseconds at_a, const CollectiveMotion& b,
                    Nanoseconds at_b);

}  // namespace parallelarium
