// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/front.h"

#include <algorithm>

namespace parallelarium {

bool dominates(const std::vector<Plan>& front, std::int64_t nanoseconds, std::int64_t bytes,
               std::int64_t gpus) {
  return std::any_of(front.begin(), front.end(), [&](const Plan& plan) {
    return plan.time.count() <= nanoseconds && plan.needed_bytes <= bytes &&
           plan.candidate.gpus() <= gpus;
  });
}

bool outdoes(const std::vector<Plan>& front, std::int64_t nanoseconds, std::int64_t bytes,
             std::int64_t gpus) {
  return std::any_of(front.begin(), front.end(), [&](const Plan& plan) {
    const std::int64_t time = plan.time.count(), own = plan.candidate.gpus();
    return time <= nanoseconds && plan.needed_bytes <= bytes && own <= gpus &&
           (time < nanoseconds || plan.needed_bytes < bytes || own < gpus);
  });
}

void add_to_front(std::vector<Plan>& front, const Plan& plan) {
  const auto no_worse = [](const Plan& a, const Plan& b) {
    return a.time <= b.time && a.needed_bytes <= b.needed_bytes &&
           a.candidate.gpus() <= b.candidate.gpus();
  };
  if (std::any_of(front.begin(), front.end(), [&](const Plan& other) {
        return no_worse(other, plan) &&
               (!no_worse(plan, other) || !stands_before(plan, other, Objective::kTime));
      }))
    return;
  std::erase_if(front, [&](const Plan& other) { return no_worse(plan, other); });
  front.push_back(plan);
}

}  // namespace parallelarium
