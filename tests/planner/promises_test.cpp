// SPDX-License-Identifier: Apache-2.0
// What a search promises: the best of all schedules on one stage, too, no valid plan refused for
// its size, and a change for what does not fit.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/plan/setup/schedule_rules.h"
#include "engine/planner/reasons/neighbours.h"
#include "engine/planner/search.h"
#include "tests/planner/problems.h"

namespace parallelarium {
namespace {

// ZeRO 2 and 3 move data in every micro-batch, which orders of one stage hide differently. The
// search once tried one of them, which is not the best of the last problem.
TEST(Search, FindsTheBestScheduleOnOneStage) {
  std::mt19937 random(33);
  int others = 0, compared = 0;
  for (int problem = 0; problem < 4; ++problem) {
    PlanRequest request = small_problem(random);
    request.least_gpus = request.most_gpus = 4;
    request.global_batch = 4;
    request.allowed.erase("schedule");
    request.allowed.erase("stage-layers");
    request.allowed["pp"] = {"1"};
    request.allowed["zero"] = {"0", "2", "3"};
    if (problem == 3) {
      request.base.model = *find_model("llama3-8b");
      request.base.attention = Attention::kFused;
      request.machine = h100();
      request.least_gpus = request.most_gpus = 8;
      request.global_batch = 64;
      request.allowed = {{"pp", {"1"}},          {"tp", {"1"}},         {"cp", {"1"}},
                         {"zero", {"3"}},        {"zero-group", {"0"}}, {"micro-batch", {"1"}},
                         {"recompute", {"none"}}};
    }
    const Result<Space> space = Space::of(request);
    ASSERT_TRUE(space.ok());
    std::int64_t classes[kPlanClasses] = {};
    const std::vector<Plan> all = exhaustive(request, *space, classes);
    const Result<PlanResult> found = search(request);
    ASSERT_TRUE(found.ok()) << found.error().text;
    EXPECT_EQ(found->classes[0], classes[0]);
    ASSERT_EQ(found->best.size(), std::min<std::size_t>(all.size(), 3));
    for (std::size_t at = 0; at < found->best.size(); ++at)
      EXPECT_EQ(to_json(found->best[at].setup), to_json(all[at].setup)) << problem << " " << at;
    // No schedule that the space leaves out is faster.
    const Plan& best = found->best.front();
    others += best.setup.schedule != Schedule("1f1b");
    for (const ScheduleRule& rule : kScheduleRules) {
      const int most = rule.chunks == 0 ? kMostPlanChunks : 1;
      for (int chunks = rule.chunks == 0 ? 2 : 1; chunks <= most; ++chunks) {
        if (!rule.searched || best.setup.model.layers % chunks != 0) continue;
        auto other = best.setup;
        other.schedule = std::string(rule.name);
        other.chunks = chunks;
        other.stage_layers.clear();
        const Result<Tried> tried = try_setup(other, request.machine, false);
        if (!tried || !tried->fits()) continue;
        EXPECT_GE(tried->plan.time, best.time) << to_json(other).dump();
        EXPECT_TRUE(space->covers(other)) << to_json(other).dump();
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 20);
  EXPECT_GT(others, 0);
}

// More actions than most plans have are no reason to refuse one that is valid. Where it cannot be
// the best, it is not simulated to tell whether it belongs to the front.
TEST(Search, SimulatesPlansOfManyActions) {
  std::mt19937 random(34);
  PlanRequest request = small_problem(random);
  request.base.model = *find_model("gpt-tiny");
  request.base.model.layers = 2;
  request.least_gpus = request.most_gpus = 2;
  request.global_batch = 60'000;
  request.allowed = {{"pp", {"2"}},
                     {"schedule", {"1f1b"}},
                     {"micro-batch", {"1"}},
                     {"stage-layers", {"even"}},
                     {"recompute", {"none", "full"}}};
  request.top = 1;
  const Result<PlanResult> found = search(request);
  ASSERT_TRUE(found.ok()) << found.error().text;
  EXPECT_EQ(found->candidates, 2);
  EXPECT_EQ(found->classes[static_cast<std::size_t>(PlanClass::kRefused)], 0);
  ASSERT_EQ(found->best.size(), 1U);
  EXPECT_EQ(found->best.front().setup.recompute, Recompute::kNone);
  EXPECT_EQ(found->best.front().setup.microbatches, 60'000);
  ASSERT_EQ(found->reasons.size(), 1U);
  EXPECT_EQ(found->reasons.front().plan_class, PlanClass::kBounded);
  EXPECT_EQ(found->reasons.front().sentence.id, "plan-front-long");
  EXPECT_EQ(found->front_too_long, 1);
  EXPECT_FALSE(to_json(*found).at("front_complete").get<bool>());
}

// Each reason for which candidates do not fit has a change that does, where there is one.
TEST(Search, NotesWhatWouldMakeCandidatesFit) {
  PlanRequest request;
  request.base = without_axes(default_setup());
  request.base.model = *find_model("llama3-8b");
  request.base.machine = "dgx-h100";
  request.base.precision = *find_precision("mixed-16-main-grads");
  request.base.attention = Attention::kFused;
  request.machine = h100();
  request.least_gpus = request.most_gpus = 8;
  request.global_batch = 16;
  request.allowed = {{"schedule", {"1f1b"}}, {"micro-batch", {"1", "2"}}, {"zero", {"0", "1"}}};
  Result<PlanResult> found = search(request);
  ASSERT_TRUE(found.ok()) << found.error().text;
  const Result<Space> space = Space::of(request);
  ASSERT_TRUE(space.ok());
  const std::atomic<bool> cancel{true};
  PlanWatch watch;
  watch.cancel = &cancel;
  note_fitting_changes(*found, request, watch);
  for (const ReasonCount& reason : found->reasons)
    EXPECT_FALSE(reason.fitting || reason.changes_tried);
  for (const nlohmann::json& reason : to_json(found->reasons))
    EXPECT_FALSE(reason.contains("change")) << reason;
  note_fitting_changes(*found, request);
  int noted = 0;
  for (const ReasonCount& reason : found->reasons) {
    if (reason.plan_class != PlanClass::kDoesNotFit) {
      EXPECT_FALSE(reason.fitting || reason.changes_tried) << reason.sentence.text;
      continue;
    }
    EXPECT_TRUE(reason.changes_tried);
    std::optional<Nanoseconds> least;
    for (const ChangedSetup& change : single_changes(reason.example, request.machine)) {
      if (!space->covers(change.setup)) continue;
      const Result<Tried> tried = try_setup(change.setup, request.machine, false);
      if (tried && tried->fits())
        least = std::min(least.value_or(tried->plan.time), tried->plan.time);
    }
    ASSERT_EQ(reason.fitting.has_value(), least.has_value()) << reason.sentence.text;
    if (!least) continue;
    EXPECT_EQ(reason.fitting->plan.time, *least) << reason.sentence.text;
    EXPECT_EQ(reason.fitting->sentence.id, "plan-fitting-change");
    ++noted;
  }
  EXPECT_GT(noted, 0);
}

}  // namespace
}  // namespace parallelarium
