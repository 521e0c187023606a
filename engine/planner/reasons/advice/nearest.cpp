// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/reasons/advice/nearest.h"

#include <algorithm>
#include <bit>

#include "engine/plan/setup/schedule_rules.h"
#include "engine/plan/setup/setup_settings.h"
#include "engine/planner/reasons/advice/recommended.h"
#include "engine/planner/space/space.h"

namespace parallelarium {
namespace {

// What a change may be of; SP goes with TP, so that one of them or both are one change.
constexpr const char* kChanged[] = {"tp", "cp", "micro-batch", "recompute"};
constexpr unsigned kAll = (1U << std::size(kChanged)) - 1;
// What follows from the others, so that no value of it stays.
constexpr const char* kFollowing[] = {"dp", "microbatches"};

bool is_free(const std::string& axis, unsigned changed) {
  if (axis == "sequence-parallel") return (changed & 1U) != 0;
  for (std::size_t at = 0; at < std::size(kChanged); ++at)
    if (axis == kChanged[at]) return (changed >> at & 1U) != 0;
  return std::find(std::begin(kFollowing), std::end(kFollowing), axis) != std::end(kFollowing);
}

bool is_balanced(const Setup& setup) {
  return !setup.stage_layers.empty() &&
         setup.stage_layers ==
             balanced_cut(setup.model, stages_of(setup), head_layers(setup.model));
}

// The request with the other axes as `today` has them; none: it does not allow that.
std::optional<PlanRequest> keeping_all_but(unsigned changed, const PlanRequest& request,
                                           const Setup& today) {
  PlanRequest narrowed = request;
  narrowed.objective = Objective::kTime;
  narrowed.best_alone = true;
  narrowed.top = 1;
  narrowed.least_gpus = narrowed.most_gpus = today.mesh.ranks();
  for (const PlanAxis& axis : plan_axes()) {
    if (is_free(axis.option, changed)) continue;
    std::string value =
        text_of_value(find_setting(setup_settings(), axis.option)->value.get(today));
    const auto is_allowed = [&](const std::string& one) {
      const auto allowed = request.allowed.find(axis.option);
      return allowed == request.allowed.end() ||
             std::find(allowed->second.begin(), allowed->second.end(), one) !=
                 allowed->second.end();
    };
    if (!is_allowed(value) && axis.option == std::string_view("stage-layers") && is_balanced(today))
      value = "balanced";
    if (!is_allowed(value)) return std::nullopt;
    narrowed.allowed[axis.option] = {value};
  }
  return narrowed;
}

class Nearest {
 public:
  Nearest(const PlanResult& result, const PlanRequest& request, const Setup& today,
          const std::atomic<bool>* cancel)
      : result_(result), request_(request), today_(today), cancel_(cancel) {}

  // By how many axes change.
  std::optional<Plan> find() const {
    if (tied_with(0)) return std::nullopt;
    std::optional<Plan> with_all = tied_with(kAll);
    if (!with_all) return std::nullopt;
    std::optional<Plan> nearest;
    for (int count = 1; count < std::popcount(kAll) && !nearest; ++count)
      for (unsigned changed = 1; changed < kAll; ++changed) {
        if (std::popcount(changed) != count) continue;
        std::optional<Plan> plan = tied_with(changed);
        if (plan && (!nearest || stands_before(*plan, *nearest, Objective::kTime)))
          nearest = std::move(plan);
      }
    return nearest ? nearest : with_all;
  }

 private:
  // The fastest plan that changes these alone, where it is a tie with the fastest of all.
  std::optional<Plan> tied_with(unsigned changed) const {
    if (cancel_ != nullptr && *cancel_) return std::nullopt;
    const std::optional<PlanRequest> request = keeping_all_but(changed, request_, today_);
    if (!request) return std::nullopt;
    PlanWatch quiet;
    quiet.cancel = cancel_;
    Result<PlanResult> found = search(*request, quiet);
    if (!found || found->cancelled || found->best.empty()) return std::nullopt;
    Plan& plan = found->best.front();
    const double fastest = fastest_of(result_.recommended).step.seconds;
    if (!result_.ties.within(fastest, plan.step.seconds)) return std::nullopt;
    return std::move(plan);
  }

  const PlanResult& result_;
  const PlanRequest& request_;
  const Setup& today_;
  const std::atomic<bool>* cancel_;
};

}  // namespace

void note_nearest(PlanResult& result, const PlanRequest& request, const Setup& today,
                  const PlanWatch& watch) {
  if (result.cancelled || result.recommended.empty() || !result.ties.share) return;
  if (request.objective != Objective::kTime) return;  // plans tie in their steps alone
  if (today.global_batch() != request.global_batch || today.mesh.ranks() < request.least_gpus ||
      today.mesh.ranks() > request.most_gpus)
    return;
  watch.tell(kNearestShare, message("plan-nearest", "Looking for a plan near to today's."));
  std::optional<Plan> nearest = Nearest(result, request, today, watch.cancel).find();
  if (!nearest) return;
  for (Recommended& other : result.recommended)
    if (other.plan.setup == nearest->setup) return other.merits.push_back(PlanMerit::kNearest);
  nearest->tied = true;
  result.recommended.push_back({{PlanMerit::kNearest}, std::move(*nearest)});
}

}  // namespace parallelarium
