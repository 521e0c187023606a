// SPDX-License-Identifier: Apache-2.0
// Why the best plan has not a value of an axis.
#include "engine/planner/reasons/why_not.h"

#include <gmock/gmock.h>

#include <random>

#include "engine/planner/search.h"
#include "tests/planner/problems.h"

namespace parallelarium {
namespace {

// The best with a value is the best of all candidates that have it, and what it takes longer is
// told; where each is refused or too large, the commonest reason.
TEST(WhyNot, NamesTheBestOfAllCandidatesWithAValue) {
  std::mt19937 random(2028);
  int found = 0, none = 0, too_large = 0, kept = 0;
  for (int problem = 0; problem < 8; ++problem) {
    PlanRequest request = small_problem(random);
    request.least_gpus = request.most_gpus = 4;
    request.global_batch = 4;
    const Result<Space> space = Space::of(request);
    ASSERT_TRUE(space.ok());
    std::int64_t classes[kPlanClasses] = {};
    std::vector<Plan> all = exhaustive(request, *space, classes);
    ASSERT_FALSE(all.empty());
    if (problem % 2 == 0) {
      // Only the smallest plans fit.
      const auto smallest = std::min_element(
          all.begin(), all.end(),
          [](const Plan& a, const Plan& b) { return a.needed_bytes < b.needed_bytes; });
      request.machine.memory_bytes.value = static_cast<double>(smallest->needed_bytes);
      request.machine.usable_memory_share = 1;
      all = exhaustive(request, *space, classes);
    }
    const Result<PlanResult> best = search(request);
    ASSERT_TRUE(best.ok());
    const Plan* fastest = best->best.empty() ? nullptr : &best->best.front();
    for (const std::string value : {"1", "2", "3", "4"}) {
      const auto has = [&](const auto& of) { return std::to_string(of.setup.mesh.tp) == value; };
      const auto expected = std::find_if(all.begin(), all.end(), has);
      const Result<WhyNot> told = why_not("tp", value, request, {fastest, {}, {}}, {});
      ASSERT_TRUE(told.ok()) << told.error().text;
      std::int64_t sum = 0;
      for (const std::int64_t count : told->classes) sum += count;
      EXPECT_EQ(sum, told->candidates);
      if (expected == all.end()) {
        EXPECT_FALSE(told->plan);
        EXPECT_EQ(told->candidates == 0, value == "3") << told->sentence.text;
        ++(told->candidates == 0 ? none : too_large);
        continue;
      }
      ++found;
      ASSERT_TRUE(told->plan) << told->sentence.text;
      EXPECT_EQ(to_json(told->plan->setup), to_json(expected->setup));
      EXPECT_NEAR(*told->seconds, expected->step.seconds - all.front().step.seconds, 1e-12);
      EXPECT_EQ(told->change.empty(), expected == all.begin());
      // What the search found already is told without another search, and a tie is called one.
      KnownPlans known{fastest, {}, {}};
      for (const Plan& plan : best->best) known.fastest.push_back(plan.setup);
      known.ties.share = 10;
      const Result<WhyNot> again = why_not("tp", value, request, known, {});
      ASSERT_TRUE(again.ok() && again->plan) << value;
      EXPECT_EQ(to_json(again->plan->setup), to_json(expected->setup));
      EXPECT_NEAR(*again->seconds, *told->seconds, 1e-12);
      const bool is_known = std::any_of(best->best.begin(), best->best.end(), has);
      EXPECT_EQ(again->candidates == 0, is_known);
      EXPECT_EQ(again->sentence.id == "plan-value-tied", *told->seconds > 0)
          << again->sentence.text;
      EXPECT_NE(told->sentence.id, "plan-value-tied");
      kept += is_known;
    }
  }
  EXPECT_GT(found, 8);
  EXPECT_GT(kept, 2);
  EXPECT_LT(kept, found);
  EXPECT_EQ(none, 8);
  EXPECT_GT(too_large, 0);
}

// A value that counts beside one value of another axis alone.
TEST(WhyNot, TakesChunksOfInterleavedPlansAndGroupsOfZero) {
  std::mt19937 random(5);
  PlanRequest request = small_problem(random);
  request.allowed.clear();
  request.base.model = *find_model("gpt-tiny");
  request.machine.devices_per_node = 2;
  request.least_gpus = request.most_gpus = 4;
  request.global_batch = 8;
  const Result<PlanResult> best = search(request);
  ASSERT_TRUE(best.ok());
  const Result<WhyNot> chunks = why_not("chunks", "2", request, {&best->best.front(), {}, {}}, {});
  ASSERT_TRUE(chunks.ok() && chunks->plan);
  EXPECT_EQ(chunks->plan->setup.schedule, Schedule("interleaved"));
  EXPECT_EQ(chunks->plan->setup.chunks, 2);
  const Result<WhyNot> group =
      why_not("zero-group", "2", request, {&best->best.front(), {}, {}}, {});
  ASSERT_TRUE(group.ok() && group->plan);
  EXPECT_EQ(group->plan->setup.zero_group, 2);
  EXPECT_GT(group->plan->setup.zero, 0);
  // The known plans of a search with one ZeRO are not all that a group can have.
  request.allowed["zero"] = {"1"};
  const Result<PlanResult> fixed = search(request);
  ASSERT_TRUE(fixed.ok());
  KnownPlans known{&fixed->best.front(), {}, {}};
  for (const Plan& plan : fixed->best) known.fastest.push_back(plan.setup);
  const Result<WhyNot> wide = why_not("zero-group", "2", request, known, {});
  ASSERT_TRUE(wide.ok() && wide->plan);
  EXPECT_GT(wide->candidates, 0) << "it was searched for";
  EXPECT_EQ(to_json(wide->plan->setup), to_json(group->plan->setup));
  request.allowed.clear();
  // A model without experts has no EP.
  const Result<WhyNot> ep = why_not("ep", "2", request, {&best->best.front(), {}, {}}, {});
  ASSERT_FALSE(ep.ok());
  EXPECT_THAT(ep.error().text, testing::HasSubstr("has no experts"));
  EXPECT_TRUE(why_not("ep", "1", request, {&best->best.front(), {}, {}}, {}).ok());
}

// A better plan with the value was passed over: the request left the value out, or a search tries
// others.
TEST(WhyNot, SaysWhyABetterValueWasPassedOver) {
  PlanRequest request = preset_problem("gpt2-124m", 8, 1024);
  request.allowed = {{"tp", {"1"}}, {"pp", {"1"}}, {"cp", {"1"}}, {"schedule", {"1f1b"}}};
  const auto said = [&](const char* axis, const char* value) {
    const Result<PlanResult> found = search(request);
    EXPECT_TRUE(found.ok());
    const Result<WhyNot> told = why_not(axis, value, request, {&found->best.front(), {}, {}}, {});
    EXPECT_TRUE(told.ok());
    return told->sentence.text;
  };
  EXPECT_THAT(said("micro-batch", "128"),
              testing::AllOf(testing::HasSubstr("less than the best plan"),
                             testing::HasSubstr("is not among the values that a search tries")));
  request.allowed["micro-batch"] = {"1"};
  EXPECT_THAT(said("micro-batch", "4"), testing::HasSubstr("the search was told other values"));

  request = preset_problem("gpt2-124m", 4, 32);
  request.objective = Objective::kMemory;
  request.allowed = {{"tp", {"1"}},         {"pp", {"4"}},           {"cp", {"1"}},
                     {"zero", {"0"}},       {"recompute", {"none"}}, {"micro-batch", {"4"}},
                     {"schedule", {"1f1b"}}};
  EXPECT_THAT(said("schedule", "naive"), testing::HasSubstr(" ahead of the best plan"));
  request.allowed["schedule"] = {"naive"};
  EXPECT_THAT(said("schedule", "1f1b"), testing::HasSubstr(" behind the best plan"));
}

}  // namespace
}  // namespace parallelarium
