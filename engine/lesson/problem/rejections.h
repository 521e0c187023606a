// SPDX-License-Identifier: Apache-2.0
// Which candidates of a search a lesson asks about.
#pragma once

#include <optional>

#include "engine/planner/search.h"

namespace parallelarium {

// Why a candidate is rejected.
struct Rejection {
  Setup setup;
  int cause = 0;
  double number = 0;
};
struct Rejections {
  std::optional<Rejection> refused, large, slow;
};
// Of the candidates of a search those that are nearest to its best plan.
Rejections rejections_of(const PlanRequest& request, const Space& space, const Plan& best,
                         const std::optional<LeastPlan>& least);

}  // namespace parallelarium
