// SPDX-License-Identifier: Apache-2.0
// What a search simulates, and when it stops, where replicas and stages share links.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/planner/entry.h"
#include "engine/planner/reasons/rules.h"
#include "tests/planner/problems.h"

namespace parallelarium {
namespace {

// Gradients and activations leave nodes through the same cards.
PlanRequest problem_with_shared_links(std::mt19937& random) {
  PlanRequest request = small_problem(random);
  request.base.model = *find_model("llama3-8b");
  request.base.model.name = "custom";
  request.base.model.layers = 4;
  request.base.cp_split = ContextSplit::kZigzag;
  request.base.attention = Attention::kFused;
  request.machine = h100();
  request.machine.devices_per_node = 2;
  request.least_gpus = 4;
  request.most_gpus = 8;
  request.global_batch = 16;
  const char* schedules[] = {"interleaved", "zb-h1", "zb-v", "dualpipe"};
  request.allowed = {{"tp", {"1", "2"}},
                     {"pp", {"1", "2", "4"}},
                     {"cp", {"1"}},
                     {"micro-batch", {"1"}},
                     {"schedule", {"1f1b", schedules[random() % 4]}}};
  request.top = 2;
  return request;
}

// A trial is what try_setup() tells, and stops where what is known so far is not wanted.
TEST(Trial, StopsWhereItIsNotWanted) {
  std::mt19937 random(3);
  int stopped_early = 0, stopped_late = 0;
  for (int problem = 0; problem < 4; ++problem) {
    const PlanRequest request = problem_with_shared_links(random);
    const Result<Space> space = Space::of(request);
    ASSERT_TRUE(space.ok());
    for (const Candidate& candidate : all_of(*space)) {
      const auto setup = space->setup_of(candidate);
      if (random() % 4 != 0 || !validate(setup).empty()) continue;
      const Result<Tried> tried = try_setup(setup, request.machine, false);
      const auto always = [](std::int64_t, std::int64_t) { return true; };
      const Result<Trial> whole = try_candidate(setup, request.machine, always);
      ASSERT_EQ(tried.ok(), whole.ok());
      if (!tried) continue;
      const std::int64_t bytes = tried->plan.needed_bytes, time = tried->plan.time.count();
      EXPECT_EQ(whole->tried.plan.needed_bytes, bytes);
      EXPECT_EQ(whole->tried.fits(), tried->fits());
      EXPECT_EQ(whole->stopped, !tried->fits()) << "what does not fit needs no time";
      if (whole->stopped) continue;
      EXPECT_EQ(whole->tried.plan.time.count(), time);
      EXPECT_LE(whole->at_least, time);
      const auto never = [](std::int64_t, std::int64_t) { return false; };
      const auto memory_alone = [](std::int64_t at_least, std::int64_t) { return at_least == 0; };
      const Result<Trial> early = try_candidate(setup, request.machine, never);
      const Result<Trial> late = try_candidate(setup, request.machine, memory_alone);
      ASSERT_TRUE(early.ok() && late.ok());
      EXPECT_EQ(early->tried.plan.needed_bytes, bytes);
      EXPECT_EQ(late->tried.plan.needed_bytes, bytes);
      EXPECT_EQ(late->stopped, whole->at_least > 0);
      EXPECT_EQ(late->at_least, whole->at_least);
      stopped_early += early->stopped ? 1 : 0;
      stopped_late += late->stopped ? 1 : 0;
    }
  }
  EXPECT_GT(stopped_early, 50);
  EXPECT_GT(stopped_late, 20);
}

TEST(Search, FindsTheFrontAndTheRulesWhereLinksAreShared) {
  std::mt19937 random(6);
  std::int64_t simulated = 0, candidates = 0;
  for (int problem = 0; problem < 3; ++problem) {
    const PlanRequest request = problem_with_shared_links(random);
    const Result<Space> space = Space::of(request);
    ASSERT_TRUE(space.ok());
    std::int64_t classes[kPlanClasses] = {};
    const std::vector<Plan> all = exhaustive(request, *space, classes);
    Result<PlanResult> found = search(request);
    ASSERT_TRUE(found.ok()) << found.error().text;
    ASSERT_EQ(found->best.size(), 2U);
    for (std::size_t at = 0; at < found->best.size(); ++at)
      EXPECT_EQ(to_json(found->best[at].setup), to_json(all[at].setup));
    const auto covers = [](const Plan& a, const Plan& b) {
      return a.time <= b.time && a.needed_bytes <= b.needed_bytes &&
             a.candidate.gpus() <= b.candidate.gpus();
    };
    // Every plan is covered by the front, and no plan of the front by another plan that is better.
    for (const Plan& plan : all)
      EXPECT_TRUE(std::any_of(found->pareto.begin(), found->pareto.end(), [&](const Plan& other) {
        return covers(other, plan);
      })) << to_json(plan.setup).dump();
    for (const Plan& plan : found->pareto)
      EXPECT_TRUE(std::none_of(all.begin(), all.end(), [&](const Plan& other) {
        return covers(other, plan) && !covers(plan, other);
      }));
    note_rules(*found, request);
    ASSERT_EQ(found->rules.size(), rule_ids().size() + 2);
    for (std::size_t at = 0; at < rule_ids().size(); ++at) {
      const PlanRule& rule = found->rules[at];
      const auto first = std::find_if(all.begin(), all.end(), [&](const Plan& plan) {
        return keeps_to_rule(rule.id, plan.setup, request.machine);
      });
      ASSERT_EQ(rule.seconds.has_value(), first != all.end()) << rule.sentence.text;
      if (rule.seconds) {
        EXPECT_EQ(*rule.seconds, first->step.seconds - all.front().step.seconds) << rule.id;
      }
    }
    simulated += found->classes[3];
    candidates += found->candidates;
    // Not by the order in which threads end.
    const Result<PlanResult> again = search(request);
    ASSERT_TRUE(again.ok());
    for (int at = 0; at < kPlanClasses; ++at) EXPECT_EQ(found->classes[at], again->classes[at]);
  }
  EXPECT_LT(simulated, candidates / 2);
}

}  // namespace
}  // namespace parallelarium
