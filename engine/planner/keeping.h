// SPDX-License-Identifier: Apache-2.0
// Finds the best plans that keep to rules of thumb. It uses what a search knows of its candidates
// once all have their class, and leaves the classes as they are.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/planner/entry.h"
#include "engine/planner/search.h"
#include "engine/planner/space/coming.h"

namespace parallelarium {

class Keeping {
 public:
  // All arguments must outlive this. `capacity`: as Entry::raise() takes it. `ahead` looks at
  // entries, and no longer stops trials that have begun. `cancel` may be null.
  Keeping(const PlanRequest& request, const Space& space,
          const std::optional<std::int64_t>& capacity, std::vector<Entry>& entries,
          LooksAhead& ahead, const std::atomic<bool>* cancel);

  // Fills PlanResult::keeping and keeping_too_long. The best plans of the search must be known.
  void note(PlanResult& result);

 private:
  // The plan with the shortest step that fits and keeps to a rule of rules.h. None: all such plans
  // have too many actions, there is none, or the search was cancelled. `found`: the best plans of
  // the search, which has shown that no others are better.
  std::optional<Plan> best(const std::string& rule, const std::vector<Plan>& found);
  // The plan with the shortest step that the usual order of the axes gives: TP as far as the plan
  // needs it to fit, up to a node; then PP as far as the plan needs it; DP with the rest; ZeRO 0 or
  // 1; no CP. None, and `found`: as above.
  std::optional<Plan> in_order(const std::vector<Plan>& found);
  using Keeps = std::function<bool(const Candidate&)>;
  using Timed = std::pair<std::int64_t, std::size_t>;  // least time, and index of the entry
  std::optional<Plan> best_that(const Keeps& keeps, const std::vector<Plan>& found);
  // The next look at an entry. None: it is out, or its bounds may be higher now.
  std::optional<Plan> look_at(Entry& entry, std::size_t at, const LooksAhead::Coming& coming);
  bool cancelled() const { return cancel_ != nullptr && *cancel_; }

  const PlanRequest& request_;
  const Space& space_;
  const std::optional<std::int64_t>& capacity_;
  std::vector<Entry>& entries_;
  LooksAhead& ahead_;
  const std::atomic<bool>* cancel_;
  // How many candidates the last question left out because they have too many actions, though they
  // keep to the rule and may be faster than the plan that was found.
  std::int64_t too_long_ = 0;
};

}  // namespace parallelarium
