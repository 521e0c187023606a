// SPDX-License-Identifier: Apache-2.0
// What rules of thumb cost, held to trying every candidate; and what a search says of classes.
#include "engine/planner/reasons/rules.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/planner/problems.h"

namespace parallelarium {
namespace {

// The shortest step of all candidates that fit and keep to the rule.
std::optional<double> shortest_by_trying(const PlanRequest& request, const std::string& rule) {
  const Result<Space> space = Space::of(request);
  std::optional<double> shortest;
  for (const Candidate& candidate : all_of(*space)) {
    const auto setup = space->setup_of(candidate);
    if (!keeps_to_rule(rule, setup, request.machine)) continue;
    const Result<Tried> tried = try_setup(setup, request.machine, false);
    if (!tried || !tried->fits) continue;
    shortest = std::min(shortest.value_or(1e300), tried->plan.step.seconds);
  }
  return shortest;
}

TEST(Rules, CostWhatTryingEverythingSays) {
  std::mt19937 random(7);
  int kept = 0, costs = 0;
  for (int problem = 0; problem < 8; ++problem) {
    PlanRequest request = small_problem(random);
    request.top = problem % 2 == 0 ? 1 : 3;
    Result<PlanResult> found = search(request);
    ASSERT_TRUE(found.ok()) << found.error().text;
    ASSERT_FALSE(found->best.empty());
    note_rules(*found, request);
    ASSERT_EQ(found->rules.size(), 5U);
    const double best = found->best.front().step.seconds;
    for (const PlanRule& rule : found->rules) {
      const std::optional<double> shortest = shortest_by_trying(request, rule.id);
      ASSERT_EQ(rule.seconds.has_value(), shortest.has_value()) << rule.sentence.text;
      if (shortest) {
        EXPECT_NEAR(*rule.seconds, *shortest - best, 1e-12) << rule.sentence.text;
      }
      EXPECT_EQ(rule.holds, keeps_to_rule(rule.id, found->best.front().setup, request.machine));
      EXPECT_FALSE(rule.source.empty());
      ++(rule.holds ? kept : costs);
    }
  }
  EXPECT_GT(kept, 5);
  EXPECT_GT(costs, 2);
}

// Tried, such a step would take minutes and gigabytes.
TEST(Search, RefusesStepsThatAreTooLongToSimulate) {
  std::mt19937 random(2);
  PlanRequest request = small_problem(random);
  request.least_gpus = request.most_gpus = 2;
  request.global_batch = 100'000;
  request.allowed = {{"pp", {"2"}}, {"micro-batch", {"1"}}, {"schedule", {"1f1b"}}};
  const Result<PlanResult> found = search(request);
  ASSERT_TRUE(found.ok()) << found.error().text;
  EXPECT_TRUE(found->best.empty());
  EXPECT_EQ(found->classes[0], found->candidates);
  EXPECT_TRUE(std::any_of(
      found->reasons.begin(), found->reasons.end(),
      [](const ReasonCount& reason) { return reason.sentence.id == "plan-actions-many"; }));
}

// The example of a reason is of its class, for that reason.
TEST(Search, NamesACandidateForEachReason) {
  std::mt19937 random(11);
  int refused = 0, too_large = 0;
  for (int problem = 0; problem < 6; ++problem) {
    PlanRequest request = small_problem(random);
    request.least_gpus = request.most_gpus = 4;
    request.machine.memory_bytes.value = problem % 2 == 0 ? 5e7 : 1e9;
    const Result<PlanResult> found = search(request);
    ASSERT_TRUE(found.ok()) << found.error().text;
    for (const ReasonCount& reason : found->reasons) {
      EXPECT_EQ(reason.example.global_batch(), request.global_batch);
      EXPECT_EQ(reason.example.mesh.ranks(), 4);
      const Result<Tried> tried = try_setup(reason.example, request.machine, false);
      if (reason.plan_class == PlanClass::kRefused) {
        ASSERT_FALSE(tried.ok()) << reason.sentence.text;
        EXPECT_EQ(tried.error().text, reason.sentence.text);
        ++refused;
      } else {
        ASSERT_TRUE(tried.ok()) << tried.error().text;
        EXPECT_EQ(tried->fits, reason.plan_class != PlanClass::kDoesNotFit);
        too_large += tried->fits ? 0 : 1;
      }
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(too_large, 0);
}

TEST(Ties, AreWithinTheThreshold) {
  TieThreshold ties;
  EXPECT_FALSE(ties.within(1, 1)) << "nothing is known";
  ties.share = 0.1;
  EXPECT_TRUE(ties.within(1, 1.09));
  EXPECT_TRUE(ties.within(1.09, 1));
  EXPECT_FALSE(ties.within(1, 1.11));
  EXPECT_FALSE(ties.within(1.11, 1));
}

}  // namespace
}  // namespace parallelarium
