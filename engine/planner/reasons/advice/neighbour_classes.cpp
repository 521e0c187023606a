// SPDX-License-Identifier: Apache-2.0
// What a search makes of the neighbours of its best plans.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/plan/placement/parallel.h"
#include "engine/planner/bounds/bound.h"
#include "engine/planner/entry.h"
#include "engine/planner/reasons/advice/neighbours.h"

namespace parallelarium {

Message too_slow(std::int64_t nanoseconds, const std::vector<Plan>& best) {
  const auto seconds = [](double of) { return figure(fmt::format("{:.4g}", of)); };
  const Message least = seconds(1e-9 * static_cast<double>(nanoseconds));
  if (best.empty()) return message("plan-bounded-alone", "It takes {} s or more.", least);
  return message("plan-bounded",
                 "It takes {} s or more, and is none of the best {}; the first of them takes {} s.",
                 least, best.size(), seconds(best.front().step.seconds));
}

namespace {

// A Setup that is next to one or several of the best.
struct Looked {
  const Setup* setup = nullptr;
  PlanNeighbour told;        // without its change; where there is no plan, all of it
  std::optional<Plan> plan;  // whose step is known
};

PlanNeighbour too_large_by(const Bound& bound, const Machine& machine) {
  PlanNeighbour told;
  told.plan_class = PlanClass::kDoesNotFit;
  told.needed_bytes = bound.bytes;
  told.sentence = too_large(bound.stage, bound.bytes, machine, bound.states);
  return told;
}

// Whether bounds tell its class, which it then has: it is too large, or cannot beat the best.
// `closely`: also by a walk of all lanes, which costs a small part of a prediction.
bool is_told_by_bounds(Looked& looked, const std::vector<Plan>& best, const PlanRequest& request,
                       bool closely) {
  if (!may_bound(*looked.setup, request.machine)) return false;
  Result<Bound> bound = bound_of(*looked.setup, request.machine);
  if (!bound) return false;  // a prediction says so
  if (const auto capacity = capacity_of(request.machine); capacity && bound->bytes > *capacity) {
    looked.told = too_large_by(*bound, request.machine);
    return true;
  }
  const Plan& first = best.front();
  const auto value = [&](std::int64_t nanoseconds, std::int64_t bytes) {
    return objective_value(request.objective, nanoseconds, bytes, first.setup.mesh.ranks());
  };
  const auto may_beat_best = [&] {
    return value(bound->nanoseconds, bound->bytes) <= value(first.time.count(), first.needed_bytes);
  };
  if (may_beat_best()) {
    if (!closely) return false;
    const Result<std::int64_t> laned = laned_bound(*looked.setup, request.machine);
    if (!laned) return false;
    bound->nanoseconds = std::max(bound->nanoseconds, *laned);
    if (may_beat_best()) return false;
  }
  looked.told.plan_class = PlanClass::kBounded;
  looked.told.seconds = 1e-9 * static_cast<double>(bound->nanoseconds);
  looked.told.needed_bytes = bound->bytes;
  looked.told.sentence = too_slow(bound->nanoseconds, best);
  return true;
}

void look_at(Looked& looked, const std::vector<Plan>& best, const PlanRequest& request,
             const std::vector<TriedNeighbour>& all_tried) {
  const auto same = std::find_if(best.begin(), best.end(),
                                 [&](const Plan& plan) { return plan.setup == *looked.setup; });
  if (same != best.end()) {
    looked.plan = *same;
    return;
  }
  const std::vector<Message> wrong = validate(*looked.setup);
  std::optional<Message> why =
      wrong.empty() ? refusal_of(*looked.setup, request.refuses) : std::optional(wrong.front());
  const auto known = std::find_if(all_tried.begin(), all_tried.end(),
                                  [&](const auto& of) { return of.setup == *looked.setup; });
  if (!why && is_told_by_bounds(looked, best, request, known == all_tried.end())) return;
  Result<Tried> tried(Message{});
  if (!why)
    tried =
        known != all_tried.end() ? known->tried : try_setup(*looked.setup, request.machine, true);
  if (!why && !tried) why = tried.error();
  if (why) {
    looked.told.sentence = std::move(*why);
    return;
  }
  looked.told.needed_bytes = tried->plan.needed_bytes;
  if (tried->fits()) {
    looked.plan = std::move(tried->plan);
    return;
  }
  looked.told.plan_class = PlanClass::kDoesNotFit;
  looked.told.sentence = too_large(*tried, request.machine);
}

PlanNeighbour told_of(const Plan& plan, const ChangedSetup& changed, const Looked& looked) {
  PlanNeighbour told = looked.told;
  told.change = changed.change;
  if (!looked.plan) return told;
  told.plan_class = PlanClass::kSimulated;
  told.seconds = looked.plan->step.seconds;
  told.needed_bytes = looked.plan->needed_bytes;
  told.sentence = reason_for(plan, changed.change, *looked.plan).sentence;
  return told;
}

}  // namespace

std::vector<std::vector<PlanNeighbour>> neighbours_of_best(
    const std::vector<Plan>& best, const PlanRequest& request,
    const std::vector<TriedNeighbour>& tried) {
  std::vector<std::vector<ChangedSetup>> changes;
  for (const Plan& plan : best) changes.push_back(neighbours_of(plan.setup, request.machine));
  // Plans have neighbours in common.
  std::vector<Looked> all;
  std::vector<std::vector<std::size_t>> places(best.size());
  for (std::size_t at = 0; at < best.size(); ++at)
    for (const ChangedSetup& change : changes[at]) {
      const auto known = std::find_if(all.begin(), all.end(), [&](const Looked& looked) {
        return *looked.setup == change.setup;
      });
      places[at].push_back(static_cast<std::size_t>(known - all.begin()));
      if (known == all.end()) all.push_back({&change.setup, {}, {}});
    }
  in_parallel(all.size(), [&](std::size_t at) { look_at(all[at], best, request, tried); });
  std::vector<std::vector<PlanNeighbour>> told(best.size());
  for (std::size_t at = 0; at < best.size(); ++at)
    for (std::size_t next = 0; next < changes[at].size(); ++next)
      told[at].push_back(told_of(best[at], changes[at][next], all[places[at][next]]));
  return told;
}

nlohmann::json to_json(const std::vector<PlanNeighbour>& neighbours) {
  using nlohmann::json;
  json list = json::array();
  for (const PlanNeighbour& neighbour : neighbours) {
    json entry = {
        {"class", name_of(neighbour.plan_class)},
        {"seconds", neighbour.seconds ? json(*neighbour.seconds) : json(nullptr)},
        {"needed_bytes", neighbour.needed_bytes > 0 ? json(neighbour.needed_bytes) : json(nullptr)},
        {"sentence", neighbour.sentence.text}};
    put_change(entry, neighbour.change);
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace parallelarium
