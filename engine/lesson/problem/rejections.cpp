// SPDX-License-Identifier: Apache-2.0
// Which candidates of a search are asked about, and why each is rejected.
#include "engine/lesson/problem/rejections.h"

#include <algorithm>
#include <cmath>

#include "engine/lesson/problem/problem.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/planner/reasons/advice/neighbours.h"

namespace parallelarium {

namespace {

// A slower plan is asked about where it is slower by so much: less could be a matter of rates.
constexpr double kLeastSlower = 0.05;

int place_of(std::string_view cause) {
  const auto* found = std::find(std::begin(kRejectionCauses), std::end(kRejectionCauses), cause);
  return static_cast<int>(found - std::begin(kRejectionCauses));
}

// In how many axes two plans differ.
int plan_distance(const Setup& a, const Setup& b) {
  return (a.mesh.tp != b.mesh.tp) + (a.mesh.pp != b.mesh.pp) + (a.zero != b.zero) +
         (a.micro_batch != b.micro_batch) + (a.schedule.name() != b.schedule.name()) +
         (a.recompute != b.recompute) + (a.sequence_parallel != b.sequence_parallel);
}

// Whether layers or heads do not divide; anything else is not asked about.
std::optional<Rejection> refused_rejection(const Setup& setup) {
  const std::vector<Message> wrong = validate(setup);
  if (wrong.empty()) return std::nullopt;
  const Model& model = setup.model;
  const int stages = stages_of(setup);
  if (wrong.front().id == "pp-layers" && model.layers % stages != 0)
    return Rejection{setup, place_of("layers"), double(model.layers % stages)};
  if (wrong.front().id == "tp-heads" && model.heads % setup.mesh.tp != 0)
    return Rejection{setup, place_of("heads"), double(model.heads % setup.mesh.tp)};
  return std::nullopt;
}

// Whether states or activations fill the fullest rank.
std::optional<Rejection> large_rejection(const Setup& setup, const Plan& plan) {
  if (plan.memory.empty()) return std::nullopt;
  const MemoryRow& row = fullest_row(plan);
  const auto of = [&](Category category) { return row.bytes[static_cast<std::size_t>(category)]; };
  const std::int64_t states =
      of(Category::kParameters) + of(Category::kGradients) + of(Category::kOptimizer);
  return Rejection{setup, place_of(states > of(Category::kActivations) ? "states" : "activations"),
                   static_cast<double>(row.peak_bytes)};
}

// What makes most of the difference; none where that is not asked about.
std::optional<Rejection> slow_rejection(const Setup& setup, const Plan& plan, const Plan& best) {
  const double share = plan.step.seconds / best.step.seconds - 1;
  if (share < kLeastSlower) return std::nullopt;
  const StepParts &now = plan.parts, &then = best.parts;
  const auto exposed = [&](Axis axis) {
    const auto at = static_cast<std::size_t>(axis);
    return now.exposed[at] - then.exposed[at];
  };
  const auto waits = [](const StepParts& of) { return of.warm_up + of.wait + of.drain; };
  const std::pair<const char*, double> causes[] = {{"recompute", now.recompute - then.recompute},
                                                   {"waiting", waits(now) - waits(then)},
                                                   {"tp", exposed(Axis::kTp)},
                                                   {"dp", exposed(Axis::kDp)},
                                                   {"", now.compute - then.compute},
                                                   {"", now.optimizer - then.optimizer},
                                                   {"", exposed(Axis::kPp)}};
  const auto* largest =
      std::max_element(std::begin(causes), std::end(causes),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  // Half of it and more, so that nothing else could be meant.
  if (largest->first[0] == '\0' || largest->second < 0.5 * (plan.step.seconds - best.step.seconds))
    return std::nullopt;
  return Rejection{setup, place_of(largest->first), share};
}

// Whether it is too large alone, whatever a framework keeps beside it.
bool is_large(const Tried& tried) { return !tried.fits() && !tried.over.with_framework; }

}  // namespace

Rejections rejections_of(const PlanRequest& request, const Space& space, const Plan& best,
                         const std::optional<LeastPlan>& least) {
  Rejections found;
  int nearest = 0;
  space.for_each([&](Candidate candidate) {
    for (const Sharding& sharding : space.shardings_of(candidate))
      for (std::size_t recompute = 0; recompute < space.recomputes().size(); ++recompute) {
        candidate.zero = sharding.zero;
        candidate.zero_group = sharding.group;
        candidate.recompute = static_cast<std::uint8_t>(recompute);
        const Setup setup = space.setup_of(candidate);
        const int far = plan_distance(setup, best.setup);
        if (found.refused && far >= nearest) continue;
        if (auto rejection = refused_rejection(setup)) {
          found.refused = std::move(rejection);
          nearest = far;
        }
      }
    return true;
  });
  for (const ChangedSetup& changed : neighbours_of(best.setup, request.machine)) {
    const Setup& neighbour = changed.setup;
    if (!space.covers(neighbour) || !validate(neighbour).empty()) continue;
    const Result<Tried> tried = try_setup(neighbour, request.machine, true);
    if (!tried) continue;
    if (is_large(*tried) && !found.large) found.large = large_rejection(neighbour, tried->plan);
    if (!tried->fits()) continue;
    auto rejection = slow_rejection(neighbour, tried->plan, best);
    if (rejection && (!found.slow || rejection->number > found.slow->number))
      found.slow = std::move(rejection);
  }
  if (!found.large && least)
    if (const Result<Tried> tried = try_setup(least->setup, request.machine, true))
      if (is_large(*tried)) found.large = large_rejection(least->setup, tried->plan);
  return found;
}

}  // namespace parallelarium
