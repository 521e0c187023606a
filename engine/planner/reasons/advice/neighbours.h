// SPDX-License-Identifier: Apache-2.0
// The Setups that differ from one in a single axis, with as many ranks and the same global batch.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/planner/search.h"

namespace parallelarium {

struct ChangedSetup {
  Setup setup;
  Change change;  // with what follows from the axis
};
// Those next to it: degrees doubled or halved. DP, EP and the micro-batches follow, and so do the
// layers of stages and the group of ZeRO where they were balanced and of one node. Some may be
// invalid.
std::vector<ChangedSetup> neighbours_of(const Setup& setup, const Machine& machine);

// Which Setups are wanted; null: all.
using SetupFilter = std::function<bool(const Setup&)>;

// Every Setup that differs from it in one axis, whatever its value there. Some may be invalid.
std::vector<ChangedSetup> single_changes(const Setup& setup, const Machine& machine);
// What each of the single changes of a plan that are wanted does to it, the best by the objective
// first, so that improving_change() is the first where that is better. Changes that cannot be come
// last, and only those to a neighbouring value. Cost: some dozens of predictions. Error:
// predict()'s.
Result<std::vector<PlanReason>> neighbours_of_plan(const Setup& setup, const Machine& machine,
                                                   const PlanRefusal& refuses,
                                                   const SetupFilter& wanted = {},
                                                   Objective objective = Objective::kTime);

// Which changes are tried.
struct ChangeRules {
  PlanRefusal refuses;                         // null: nothing that is valid
  SetupFilter wanted;                          // null: all
  std::vector<ChangedSetup> others;            // of settings that are no axis
  std::function<void(double share)> progress;  // of what was tried, on the calling thread; null
  const std::atomic<bool>* cancel = nullptr;   // then there is no change; may be null
  Objective objective = Objective::kTime;      // by which improving_change() is the best
};
// The one with which a Setup that is too large would fit and whose step is the shortest. None: no
// such change would do. Cost: some dozens of predictions.
std::optional<SingleChange> cheapest_change(const Setup& setup, const Machine& machine,
                                            const ChangeRules& rules = {});
// The one that makes a plan that fits the best by the objective. As the GPUs stay, that is the one
// with the least memory or, for every other objective, with the shortest step. None: none makes it
// better.
std::optional<SingleChange> improving_change(const Plan& plan, const Machine& machine,
                                             const ChangeRules& rules = {});

// Notes with each reason for which candidates do not fit the cheapest change of its example: of
// those that the search allows, or of all where it found no plan. Cost: some dozens of predictions
// for each of the few such reasons, most of which end as soon as their memory is known.
void note_fitting_changes(PlanResult& result, const PlanRequest& request,
                          const PlanWatch& watch = {});

}  // namespace parallelarium
