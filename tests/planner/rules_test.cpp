// SPDX-License-Identifier: Apache-2.0
// What rules of thumb cost, held to trying every candidate; and what a search says of classes.
#include "engine/planner/reasons/rules.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "engine/plan/text/units.h"
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
    if (!tried || !tried->fits()) continue;
    shortest = std::min(shortest.value_or(1e300), tried->plan.step.seconds);
  }
  return shortest;
}

// The shortest step of the first degrees that any plan fits with: TP up to a node, then PP.
std::optional<double> ordered_by_trying(const PlanRequest& request) {
  const Result<Space> space = Space::of(request);
  std::vector<Setup> all;
  int widest = 1;
  for (const Candidate& candidate : all_of(*space)) {
    Setup setup = space->setup_of(candidate);
    if (setup.mesh.cp > 1 || setup.zero > 1 || setup.mesh.tp > request.machine.devices_per_node ||
        !validate(setup).empty())
      continue;
    widest = std::max(widest, setup.mesh.tp);
    all.push_back(std::move(setup));
  }
  for (int parts = 1; parts <= request.most_gpus; ++parts) {
    const int tp = std::min(parts, widest), pp = parts - tp + 1;  // 1 1, 2 1, 2 2, 2 3 ...
    std::optional<double> shortest;
    for (const Setup& setup : all) {
      if (setup.mesh.tp != tp || setup.mesh.pp != pp) continue;
      const Result<Tried> tried = try_setup(setup, request.machine, false);
      if (tried && tried->fits())
        shortest = std::min(shortest.value_or(1e300), tried->plan.step.seconds);
    }
    if (shortest) return shortest;
  }
  return std::nullopt;
}

// The order stands after the rules that a Setup alone keeps to, and before the batch.
const PlanRule& order_of(const PlanResult& found) { return found.rules[rule_ids().size()]; }

TEST(Rules, TakeAxesInTheirOrderUntilAPlanFits) {
  std::mt19937 random(5);
  int made = 0, best = 0, widened = 0;
  for (int problem = 0; problem < 10; ++problem) {
    PlanRequest request = small_problem(random);
    request.least_gpus = request.most_gpus = 4;
    request.top = problem % 2 == 0 ? 1 : 3;
    const double memory[] = {8e10, 3e8, 1.5e8, 8e7, 4e7};
    request.machine.memory_bytes.value = memory[problem % 5];
    Result<PlanResult> found = search(request);
    ASSERT_TRUE(found.ok()) << found.error().text;
    if (found->best.empty()) continue;
    note_rules(*found, request);
    const PlanRule& order = order_of(*found);
    ASSERT_EQ(order.id, "axis-order");
    const std::optional<double> shortest = ordered_by_trying(request);
    ASSERT_EQ(order.seconds.has_value(), shortest.has_value()) << order.sentence.text;
    EXPECT_EQ(order.holds, order.setup && *order.setup == found->best.front().setup);
    if (!shortest) continue;
    EXPECT_NEAR(*order.seconds, *shortest - found->best.front().step.seconds, 1e-12);
    ++made;
    best += order.holds ? 1 : 0;
    widened += order.setup->mesh.tp > 1 ? 1 : 0;
  }
  EXPECT_GT(made, 4);
  EXPECT_GT(best, 0);
  EXPECT_LT(best, made);
  EXPECT_GT(widened, 0);
}

// Where the plans that keep to a rule have too many actions, nobody knows that none of them fits.
TEST(Rules, SayThatPlansWereTooLongToBeTried) {
  std::mt19937 random(5);
  PlanRequest request = small_problem(random);
  request.machine.memory_bytes.value = 8e10;
  Result<PlanResult> found = search(request);
  ASSERT_TRUE(found.ok()) << found.error().text;
  ASSERT_FALSE(found->best.empty());
  ASSERT_EQ(found->keeping_too_long.size(), found->keeping.size());
  found->keeping.back().reset();
  PlanResult with_long = *found;
  with_long.keeping_too_long.back() = 3;
  note_rules(*found, request);
  EXPECT_EQ(order_of(*found).sentence.id, "plan-rule-none");
  note_rules(with_long, request);
  EXPECT_EQ(order_of(with_long).sentence.id, "plan-rule-long");
  EXPECT_EQ(order_of(with_long).too_long, 3);
  // A plan is known, but others that would come before it were not tried.
  with_long.rules.clear();
  with_long.keeping.back() = with_long.best.front();
  note_rules(with_long, request);
  EXPECT_EQ(order_of(with_long).sentence.id, "plan-rule-untried");
  EXPECT_NE(order_of(with_long).sentence.text.find(", 3 in all,"), std::string::npos);
  EXPECT_TRUE(order_of(with_long).holds);
  with_long.rules.clear();
  with_long.keeping_too_long.back() = 0;
  note_rules(with_long, request);
  EXPECT_EQ(order_of(with_long).sentence.id, "plan-rule-best");
}

// A batch that fewer degrees of DP divide than one nearby is told beside the rules.
TEST(Rules, TellABatchNearbyThatMoreDegreesOfDpDivide) {
  std::mt19937 random(3);
  PlanRequest request = small_problem(random);
  request.least_gpus = request.most_gpus = 8;
  Result<PlanResult> found = search(request);
  ASSERT_TRUE(found.ok()) << found.error().text;
  ASSERT_FALSE(found->best.empty());
  const auto told = [&](std::int64_t batch) {
    request.global_batch = batch;
    found->rules.clear();
    note_rules(*found, request);
    const auto rule = std::find_if(found->rules.begin(), found->rules.end(),
                                   [](const PlanRule& of) { return of.id == "batch-divides"; });
    return rule == found->rules.end() ? std::string() : rule->sentence.text;
  };
  EXPECT_EQ(told(100),
            "DP divides the batch: with 100 sequences 8 GPUs can have DP 1, 2, 4, and not 8. With "
            "104 (+4.00 %) they could have DP 1, 2, 4, 8.");
  EXPECT_THAT(told(97), testing::HasSubstr("With 96 (-1.03 %) they could have DP 1, 2, 4, 8."));
  for (const std::int64_t fine : {8, 96, 1024, 7}) EXPECT_EQ(told(fine), "") << fine;
}

// A batch is under the critical one of its model, or over it, and no plan changes that.
TEST(Rules, SayUpToWhichBatchMoreReplicasHelp) {
  std::mt19937 random(3);
  PlanRequest request = small_problem(random);
  request.least_gpus = request.most_gpus = 2;
  const double critical = critical_batch(request.base.model).tokens;
  for (const double share : {0.5, 2.0}) {
    request.global_batch =
        2 * std::int64_t(share * critical / double(request.base.model.sequence) / 2);
    request.allowed["pp"] = {"1"};
    Result<PlanResult> found = search(request);
    ASSERT_TRUE(found.ok()) << found.error().text;
    note_rules(*found, request);
    const PlanRule& rule = found->rules.back();
    ASSERT_EQ(rule.id, "critical-batch");
    EXPECT_EQ(rule.holds, share < 1);
    EXPECT_FALSE(rule.seconds);
    EXPECT_THAT(rule.sentence.text,
                testing::HasSubstr(share < 1 ? "fewer than that" : "more than that"));
    // Steps are S (1 + critical / batch).
    const double over =
        critical / (double(request.global_batch) * double(request.base.model.sequence));
    EXPECT_THAT(
        rule.sentence.text,
        testing::HasSubstr(percent_text(1 - (1 + over / 2) / (1 + over)) + " of the steps"));
  }
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
    ASSERT_EQ(found->rules.size(), rule_ids().size() + 2);
    const double best = found->best.front().step.seconds;
    for (std::size_t at = 0; at < rule_ids().size(); ++at) {
      const PlanRule& rule = found->rules[at];
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

// What no prediction takes no search does.
TEST(Search, RefusesStepsThatAreTooLongToPredict) {
  std::mt19937 random(2);
  PlanRequest request = small_problem(random);
  request.least_gpus = request.most_gpus = 2;
  request.global_batch = 300'000;
  request.allowed = {{"pp", {"2"}}, {"micro-batch", {"1"}}, {"schedule", {"1f1b"}}};
  const Result<PlanResult> found = search(request);
  ASSERT_TRUE(found.ok()) << found.error().text;
  EXPECT_TRUE(found->best.empty());
  EXPECT_EQ(found->classes[0], found->candidates);
  for (const ReasonCount& reason : found->reasons)
    EXPECT_EQ(reason.sentence.text, validate(reason.example).front().text);
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
        // What is bounded cannot be among the best, whether it fits or not.
        EXPECT_TRUE(reason.plan_class != PlanClass::kDoesNotFit || !tried->fits());
        too_large += tried->fits() ? 0 : 1;
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
