// SPDX-License-Identifier: Apache-2.0
// Chooses the candidates of a search that a lesson asks about.
#pragma once

#include <optional>

#include "engine/planner/search.h"

namespace parallelarium {

// A rejected candidate. `cause`, `number`: see problem.h.
struct Rejection {
  Setup setup;
  int cause = 0;
  double number = 0;
};
struct Rejections {
  std::optional<Rejection> refused, large, slow;
};
// Returns the rejected candidates of a search that are nearest to its best plan.
Rejections rejections_of(const PlanRequest& request, const Space& space, const Plan& best,
                         const std::optional<LeastPlan>& least);

}  // namespace parallelarium
