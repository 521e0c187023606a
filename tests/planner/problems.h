// SPDX-License-Identifier: Apache-2.0
// Problems that trying everything solves, and all their candidates.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "engine/planner/bounds/bound.h"
#include "engine/planner/search.h"

namespace parallelarium {

inline Machine h100() {
  Result<Machine> machine = find_machine("dgx-h100");
  EXPECT_TRUE(machine.ok());
  return *machine;
}

// How a preset is best trained on a DGX H100.
inline PlanRequest preset_problem(const char* model, int gpus, int batch) {
  PlanRequest request;
  request.machine = h100();
  request.base = default_setup();
  request.base.machine = "dgx-h100";
  request.base.model = *find_model(model);
  request.base.precision = *find_precision("mixed-16-main-grads");
  request.base.attention = Attention::kFused;
  request.least_gpus = request.most_gpus = gpus;
  request.global_batch = batch;
  request.top = 1;
  return request;
}

// A problem that trying everything solves in milliseconds.
inline PlanRequest small_problem(std::mt19937& random) {
  const auto one_of = [&](std::vector<int> values) { return values[random() % values.size()]; };
  PlanRequest request;
  Setup& setup = request.base;
  setup = default_setup();
  setup.model = *find_model(random() % 3 == 0 ? "moe-tiny" : "gpt-tiny");
  setup.model.name = "custom";
  setup.model.layers = one_of({2, 4, 6});
  setup.model.sequence = one_of({2048, 4096});
  setup.precision = *find_precision("mixed-16");
  setup.attention = random() % 2 == 0 ? Attention::kFused : Attention::kUnfused;
  setup.cp_split = setup.model.sequence == 2048 ? ContextSplit::kZigzag : ContextSplit::kContiguous;
  setup.sequence_regather = setup.model.layers == 4;
  setup.ring_tensor = random() % 2 == 0;  // where a candidate is sequence parallel
  setup.machine = "dgx-h100";
  setup.mesh = Mesh();
  request.machine = h100();
  request.machine.devices_per_node = one_of({8, 2});
  request.least_gpus = request.most_gpus = one_of({1, 2, 2, 4});
  request.global_batch = one_of({2, 4, 6});
  request.allowed["micro-batch"] = {"1", "2"};
  request.allowed["cp"] = {"1", "2", "4"};
  const char* schedules[] = {"interleaved", "zb-h1", "zb-v", "dualpipe", "v-min", "gpipe"};
  request.allowed["schedule"] = {"1f1b", schedules[random() % 6]};
  if (random() % 3 == 0)
    request.allowed["recompute"] = {"none", "norms,activation,second-products"};
  if (random() % 3 == 0) request.allowed["zero-group"] = {"0", "1", "2"};
  if (random() % 3 == 0) request.allowed["order"] = {"tp-cp-ep-pp-dp", "tp-cp-ep-dp-pp"};
  if (random() % 4 == 0) request.allowed["stage-layers"] = {"balanced", "1,1", "2,0", "0,1,3,0"};
  request.top = 3;
  return request;
}

inline Bound quick_bound(const Setup& setup, const StageTable& table, const StepEnd& end) {
  return QuickBound(setup, table).of(setup, end);
}
inline Result<Bound> walked_bound(const Setup& setup, const StageTable& table, const StepEnd& end) {
  const Result<OrderWalk> walk = walk_order(setup, table);
  if (!walk) return walk.error();
  return walked_bound(setup, table, end, *walk);
}

inline std::vector<Candidate> all_of(const Space& space) {
  std::vector<Candidate> all;
  space.for_each([&](const Candidate& group) {
    for (const Sharding& sharding : space.shardings_of(group))
      for (std::size_t recompute = 0; recompute < space.recomputes().size(); ++recompute) {
        all.push_back(group);
        all.back().zero = sharding.zero;
        all.back().zero_group = sharding.group;
        all.back().recompute = static_cast<std::uint8_t>(recompute);
      }
    return true;
  });
  return all;
}

// Everything tried, the best first.
inline std::vector<Plan> everything(const PlanRequest& request, const Space& space,
                                    std::int64_t (&classes)[kPlanClasses]) {
  std::vector<Plan> plans;
  for (const Candidate& candidate : all_of(space)) {
    const Setup setup = space.setup_of(candidate);
    Result<Tried> tried = try_setup(setup, request.machine, false, request.refuses);
    const auto plan_class = !tried          ? PlanClass::kRefused
                            : tried->fits() ? PlanClass::kSimulated
                                            : PlanClass::kDoesNotFit;
    ++classes[static_cast<std::size_t>(plan_class)];
    if (plan_class != PlanClass::kSimulated) continue;
    plans.push_back(std::move(tried->plan));
    plans.back().candidate = candidate;
  }
  std::sort(plans.begin(), plans.end(),
            [&](const Plan& a, const Plan& b) { return stands_before(a, b, request.objective); });
  return plans;
}

// Of those that come to the same the first alone.
inline std::vector<Plan> exhaustive(const PlanRequest& request, const Space& space,
                                    std::int64_t (&classes)[kPlanClasses]) {
  std::vector<Plan> told;
  for (Plan& plan : everything(request, space, classes))
    if (std::none_of(told.begin(), told.end(),
                     [&](const Plan& other) { return comes_to_the_same(plan, other); }))
      told.push_back(std::move(plan));
  return told;
}

}  // namespace parallelarium
