// SPDX-License-Identifier: Apache-2.0
// The best plans that keep to rules of thumb, from what a search knows of its candidates when all
// have their class, which they keep.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/planner/coming.h"
#include "engine/planner/entry.h"
#include "engine/planner/search.h"

namespace parallelarium {

class Keeping {
 public:
  // All that is given must outlive this. `capacity`: as Entry::raise() takes it. `ahead`: looks at
  // entries, and stops no trial any more that began by now. `cancel` may be null.
  Keeping(const PlanRequest& request, const Space& space,
          const std::optional<std::int64_t>& capacity, std::vector<Entry>& entries,
          LooksAhead& ahead, const std::atomic<bool>* cancel);

  // Notes what is said of PlanResult::keeping, of a search whose best plans are known.
  void note(PlanResult& result);

 private:
  // The shortest step that keeps to a rule of rules.h and fits; none: there is none that is not too
  // long, or the search was cancelled. `found`: the best plans of the search, which has shown that
  // no others are better.
  std::optional<Plan> best(const std::string& rule, const std::vector<Plan>& found);
  // The shortest step of the plan that the usual order of the axes makes: TP as far as a plan needs
  // it to fit, up to a node; then PP as far as it needs that; DP with the rest, ZeRO 0 or 1, no CP.
  // None, and `found`: as above.
  std::optional<Plan> in_order(const std::vector<Plan>& found);
  using Keeps = std::function<bool(const Candidate&)>;
  using Timed = std::pair<std::int64_t, std::size_t>;  // at least, and which
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
  // Of what was asked for last: candidates that were left out for their many actions, though they
  // keep to it and may be faster than what was found.
  std::int64_t too_long_ = 0;
};

}  // namespace parallelarium
