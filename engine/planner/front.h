// SPDX-License-Identifier: Apache-2.0
// The plans that no other plan beats in step time, memory and GPUs at once.
#pragma once

#include <vector>

#include "engine/planner/search.h"

namespace parallelarium {

// Whether a plan of the front is no slower and no larger than this and needs no more GPUs.
bool dominates(const std::vector<Plan>& front, std::int64_t nanoseconds, std::int64_t bytes,
               std::int64_t gpus);
// The same, and the plan is better in at least one respect.
bool outdoes(const std::vector<Plan>& front, std::int64_t nanoseconds, std::int64_t bytes,
             std::int64_t gpus);
// Adds the plan unless another one covers it, and removes the plans that it covers.
void add_to_front(std::vector<Plan>& front, const Plan& plan);

}  // namespace parallelarium
