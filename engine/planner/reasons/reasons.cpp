// SPDX-License-Identifier: Apache-2.0
// Why the neighbours of the best plan lose, and the plans behind it.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "engine/plan/placement/parallel.h"
#include "engine/plan/text/units.h"
#include "engine/planner/reasons/advice/neighbours.h"
#include "engine/planner/search.h"

namespace parallelarium {

namespace {

// "TP 8 → 4 takes 1.2 s more; the largest difference is exposed communication of TP, +0.9 s."
Message sentence_of(const Message& change, double seconds, const Cause& cause) {
  const Message by = figure(seconds_text(std::abs(seconds)));
  const Message part = figure(
      fmt::format("{}{}", cause.seconds < 0 ? "−" : "+", seconds_text(std::abs(cause.seconds))));
  const Message why = words_of(cause);
  if (seconds == 0) return message("plan-why-equal", "{} takes exactly as long.", change);
  return seconds > 0
             ? message("plan-why-slower", "{} takes {} longer; the largest difference is {}, {}.",
                       change, by, why, part)
             : message("plan-why-faster", "{} takes {} less; the largest difference is {}, {}.",
                       change, by, why, part);
}

// "TP 8 → 4 needs 41.2 GiB (−3.10 GiB), and its step takes 10.9 s (+217 ms)."
Message needs_and_takes(const Message& change, const Plan& best, const Plan& plan) {
  const auto signed_text = [](double value, const auto& text_of) {
    return figure(fmt::format("{}{}", value < 0 ? "−" : "+", text_of(std::abs(value))));
  };
  const auto size = [](double bytes) { return bytes_text(bytes); };
  const auto time = [](double seconds) { return seconds_text(seconds); };
  return message("plan-why-needs", "{} needs {} ({}), and its step takes {} ({}).", change,
                 figure(size(static_cast<double>(plan.needed_bytes))),
                 signed_text(static_cast<double>(plan.needed_bytes - best.needed_bytes), size),
                 figure(time(plan.step.seconds)),
                 signed_text(plan.step.seconds - best.step.seconds, time));
}

// Of the plan `tried`, which `change` makes of the best.
PlanReason reason_of(const Plan& best, Change change, const Plan& plan, Objective objective) {
  PlanReason reason;
  reason.change = std::move(change);
  reason.seconds = plan.step.seconds - best.step.seconds;
  reason.more_bytes = plan.needed_bytes - best.needed_bytes;
  if (objective == Objective::kMemory) {
    reason.sentence = needs_and_takes(reason.change.said, best, plan);
    return reason;
  }
  const Cause cause = largest_of(causes_of(best.parts, plan.parts, *reason.seconds));
  reason.sentence = sentence_of(reason.change.said, *reason.seconds, cause);
  return reason;
}

PlanReason reason_of(const Plan& best, const ChangedSetup& changed, const Result<Tried>& tried,
                     const Machine& machine, Objective objective) {
  PlanReason reason;
  reason.change = changed.change;
  if (!tried) {
    reason.sentence = tried.error();
    return reason;
  }
  if (!tried->fits()) {
    reason.sentence = too_large(*tried, machine);
    return reason;
  }
  return reason_of(best, changed.change, tried->plan, objective);
}

std::vector<TriedNeighbour> tried_all(const std::vector<ChangedSetup>& changes,
                                      const Machine& machine, const PlanRefusal& refuses) {
  std::vector<TriedNeighbour> all;
  for (const ChangedSetup& change : changes) all.push_back({change.setup, Message()});
  in_parallel(all.size(), [&](std::size_t at) {
    all[at].tried = try_setup(all[at].setup, machine, true, refuses);
  });
  return all;
}

// Of these changes of a plan, each of which was tried, the best by the objective first, and last
// those that cannot be.
std::vector<PlanReason> neighbour_reasons(const Plan& plan,
                                          const std::vector<ChangedSetup>& changes,
                                          const std::vector<TriedNeighbour>& all,
                                          const Machine& machine, Objective objective) {
  struct Neighbour {
    const Plan* plan = nullptr;  // null: it cannot be
    PlanReason reason;
  };
  std::vector<Neighbour> neighbours(changes.size());
  for (std::size_t at = 0; at < changes.size(); ++at) {
    const Result<Tried>& tried = all[at].tried;
    neighbours[at].reason = reason_of(plan, changes[at], tried, machine, objective);
    if (tried && tried->fits()) neighbours[at].plan = &tried->plan;
  }
  std::stable_sort(neighbours.begin(), neighbours.end(), [=](const auto& a, const auto& b) {
    if (a.plan == nullptr || b.plan == nullptr) return a.plan != nullptr && b.plan == nullptr;
    return stands_before(*a.plan, *b.plan, objective);
  });
  std::vector<PlanReason> reasons;
  for (Neighbour& neighbour : neighbours) reasons.push_back(std::move(neighbour.reason));
  return reasons;
}

}  // namespace

PlanReason reason_for(const Plan& plan, const Change& change, const Plan& changed) {
  return reason_of(plan, change, changed, Objective::kTime);
}

PlanReason reason_behind(const Plan& best, const Plan& plan, Objective objective) {
  return reason_of(best, change_of(best.setup, plan.setup), plan, objective);
}

Result<std::vector<PlanReason>> neighbours_of_plan(const Setup& setup, const Machine& machine,
                                                   const PlanRefusal& refuses,
                                                   const SetupFilter& wanted, Objective objective) {
  const Result<Tried> tried = try_setup(setup, machine, true);
  if (!tried) return tried.error();
  std::vector<ChangedSetup> changes = single_changes(setup, machine);
  if (wanted) std::erase_if(changes, [&](const auto& change) { return !wanted(change.setup); });
  std::vector<PlanReason> reasons = neighbour_reasons(
      tried->plan, changes, tried_all(changes, machine, refuses), machine, objective);
  std::set<nlohmann::json> near;
  for (const ChangedSetup& neighbour : neighbours_of(setup, machine))
    near.insert(to_json(neighbour.change.settings));
  std::erase_if(reasons, [&](const PlanReason& reason) {
    return !reason.seconds && near.count(to_json(reason.change.settings)) == 0;
  });
  return reasons;
}

std::vector<std::vector<PlanReason>> reasons_of(const std::vector<Plan>& best,
                                                const PlanRequest& request,
                                                std::vector<TriedNeighbour>& tried) {
  std::vector<std::vector<PlanReason>> all(best.size());
  if (best.empty()) return all;
  const std::vector<ChangedSetup> changes = neighbours_of(best.front().setup, request.machine);
  tried = tried_all(changes, request.machine, request.refuses);
  all.front() = neighbour_reasons(best.front(), changes, tried, request.machine, request.objective);
  for (std::size_t at = 1; at < best.size(); ++at)
    all[at].push_back(reason_behind(best.front(), best[at], request.objective));
  return all;
}

}  // namespace parallelarium
