// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/keeping.h"

#include <algorithm>
#include <queue>
#include <set>
#include <utility>

#include "engine/planner/reasons/rules.h"

namespace parallelarium {

Keeping::Keeping(const PlanRequest& request, const Space& space,
                 const std::optional<std::int64_t>& capacity, std::vector<Entry>& entries,
                 LooksAhead& ahead, const std::atomic<bool>* cancel)
    : request_(request),
      space_(space),
      capacity_(capacity),
      entries_(entries),
      ahead_(ahead),
      cancel_(cancel) {}

void Keeping::note(PlanResult& result) {
  const auto add = [&](std::optional<Plan> plan) {
    result.keeping.push_back(std::move(plan));
    result.keeping_too_long.push_back(too_long_);
  };
  for (const std::string& rule : rule_ids()) {
    std::optional<Plan> plan = best(rule, result.best);
    if (cancelled()) return;
    add(std::move(plan));
  }
  std::optional<Plan> ordered = in_order(result.best);
  if (!cancelled()) add(std::move(ordered));
}

std::optional<Plan> Keeping::best(const std::string& rule, const std::vector<Plan>& found) {
  Setup setup = request_.base;
  too_long_ = 0;
  return best_that(
      [&](const Candidate& candidate) {
        space_.write(candidate, setup);
        return keeps_to_rule(rule, setup, request_.machine);
      },
      found);
}

std::optional<Plan> Keeping::in_order(const std::vector<Plan>& found) {
  const auto plain = [](const Candidate& candidate) {
    return candidate.cp == 1 && candidate.zero <= 1;
  };
  std::set<std::pair<std::int32_t, std::int32_t>> degrees;  // PP, TP
  std::int32_t shallowest = 0, widest = 0;
  for (const Entry& entry : entries_) {
    const Candidate& of = entry.candidate;
    if (!plain(of) || of.tp > std::max(1, request_.machine.devices_per_node)) continue;
    degrees.emplace(of.pp, of.tp);
    shallowest = degrees.begin()->first;
    widest = std::max(widest, of.tp);
  }
  too_long_ = 0;
  for (const auto& [pp, tp] : degrees) {
    if (pp != shallowest && tp != widest) continue;
    std::optional<Plan> plan =
        best_that([&, pp = pp, tp = tp](
                      const Candidate& of) { return plain(of) && of.pp == pp && of.tp == tp; },
                  found);
    if (plan || cancelled()) return plan;
  }
  return std::nullopt;
}

std::optional<Plan> Keeping::best_that(const Keeps& keeps, const std::vector<Plan>& found) {
  const auto known = std::find_if(found.begin(), found.end(),
                                  [&](const Plan& plan) { return keeps(plan.candidate); });
  if (known != found.end()) return *known;
  std::optional<Plan> first;
  // Fewer than were asked for are all that fit.
  if (found.size() < static_cast<std::size_t>(request_.top)) return first;
  std::vector<Timed> all;
  for (std::size_t at = 0; at < entries_.size(); ++at)
    if (!entries_[at].out) all.emplace_back(entries_[at].nanoseconds, at);
  Places<Timed> queue(std::greater<>(), std::move(all));
  const auto foresee = [&](const Entry& entry, bool /*of_queue*/, const Coming& /*coming*/) {
    if (first && entry.nanoseconds > first->time.count()) return Foreseen::kStop;
    if (!keeps(entry.candidate)) return Foreseen::kDrop;
    return actions_of(entry, space_) > kMostFrontActions ? Foreseen::kSkip : Foreseen::kLook;
  };
  const auto place_of = [](std::size_t at, const Entry& entry) {
    return Timed(entry.nanoseconds, at);
  };
  while (!queue.empty() && !cancelled()) {
    const auto [at_least, at] = queue.top();
    if (first && at_least > first->time.count()) break;
    queue.pop();
    Entry& entry = entries_[at];
    if (!keeps(entry.candidate)) continue;
    if (actions_of(entry, space_) > kMostFrontActions) {
      ++too_long_;
      continue;
    }
    std::optional<Plan> plan = look_at(entry, at, [&](const LooksAhead::Known& known) {
      return coming_looks(queue, entries_, capacity_, Coming(space_, entry), known, place_of,
                          foresee);
    });
    if (plan && (!first || stands_before(*plan, *first, Objective::kTime)))
      first = std::move(plan);
    else if (!plan && !entry.out)
      queue.emplace(entry.nanoseconds, at);
  }
  return first;
}

std::optional<Plan> Keeping::look_at(Entry& entry, std::size_t at,
                                     const LooksAhead::Coming& coming) {
  Look look = ahead_.take({at, entry}, coming);
  // While the search went on, it may have been stopped.
  if (look.trial && look.trial->ok() && (*look.trial)->stopped)
    look = ahead_.take({at, entry}, coming);
  if (cancelled()) return std::nullopt;
  if (look.bound) {
    if (*look.bound)
      entry.raise(**look.bound, capacity_);
    else
      entry.out = true;
    ++entry.walks;
    return std::nullopt;
  }
  entry.out = !*look.trial || !(*look.trial)->tried.fits();
  if (entry.out) return std::nullopt;
  Plan plan = std::move((*look.trial)->tried.plan);
  plan.candidate = entry.candidate;
  return plan;
}

}  // namespace parallelarium
