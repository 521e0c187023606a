// SPDX-License-Identifier: Apache-2.0
// What a search tries where nobody says, and that it says so.
#include <gmock/gmock.h>

#include "engine/plan/setup/schedule_rules.h"
#include "engine/planner/search.h"
#include "tests/planner/problems.h"

namespace parallelarium {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// A small model with short sequences wins by micro-batches above 16.
TEST(Tried, MicroBatchesOfShortSequencesMissNoFasterOne) {
  PlanRequest request = preset_problem("gpt2-124m", 8, 512);
  request.allowed = {{"tp", {"1"}}, {"pp", {"1"}}, {"cp", {"1"}}, {"schedule", {"1f1b"}}};
  const Result<PlanResult> found = search(request);
  request.allowed["micro-batch"] = {"1", "2", "4", "8", "16", "32", "64"};
  const Result<PlanResult> all = search(request);
  ASSERT_TRUE(found.ok() && all.ok());
  EXPECT_EQ(found->best.at(0).setup, all->best.at(0).setup);
  EXPECT_THAT(found->tried.at(0).text, HasSubstr("micro-batches 1 to 64"));
  EXPECT_TRUE(all->tried.empty()) << "all that is left open was said";
  const Result<Space> longer = Space::of(preset_problem("llama3-8b", 8, 512));
  ASSERT_TRUE(longer.ok());
  EXPECT_THAT(longer->tried_said().at(0).text, HasSubstr("micro-batches 1 to 16, 7 of 13 sched"));
}

// A range takes whole nodes and equal parts of one. It says so, also where none is left.
TEST(Tried, NumbersOfGpusOfARangeAreSaid) {
  PlanRequest request = preset_problem("gpt2-124m", 3, 60);
  request.allowed = {{"tp", {"1"}}, {"pp", {"1"}}, {"cp", {"1"}}, {"schedule", {"1f1b"}}};
  request.most_gpus = 6;
  const Result<PlanResult> found = search(request);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->best.at(0).setup.mesh.ranks(), 4);
  EXPECT_THAT(found->tried.back().text,
              HasSubstr("Of 3 to 6 GPUs the search tried whole nodes of 8"));
  request.least_gpus = 9;
  request.most_gpus = 15;
  const Result<PlanResult> none = search(request);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().text, HasSubstr("Of 9 to 15 GPUs a search tries whole nodes of 8"));
  request.least_gpus = request.most_gpus = 12;
  const Result<PlanResult> alone = search(request);
  ASSERT_TRUE(alone.ok());
  EXPECT_THAT(alone->tried, SizeIs(1));
}

// Of all schedules none needs less memory than the best for it.
TEST(Tried, SchedulesForMemoryMissNoSmallerOne) {
  PlanRequest request = preset_problem("gpt2-124m", 4, 32);
  request.objective = Objective::kMemory;
  request.allowed = {{"tp", {"1"}},   {"pp", {"4"}},           {"cp", {"1"}},
                     {"zero", {"0"}}, {"recompute", {"none"}}, {"micro-batch", {"4"}}};
  const Result<PlanResult> found = search(request);
  ASSERT_TRUE(found.ok()) << found.error().text;
  for (const ScheduleRule& rule : kScheduleRules)
    request.allowed["schedule"].emplace_back(rule.name);
  const Result<PlanResult> all = search(request);
  ASSERT_TRUE(all.ok()) << all.error().text;
  EXPECT_EQ(found->best.at(0).needed_bytes, all->best.at(0).needed_bytes);
  const Result<Space> space = Space::of(preset_problem("gpt2-124m", 4, 32));
  ASSERT_TRUE(space.ok());
  EXPECT_THAT(space->schedules(), Not(Contains("v-min"))) << "it is slow, and time is what counts";
}

}  // namespace
}  // namespace parallelarium
