// SPDX-License-Identifier: Apache-2.0
// What a search promises: the best of all schedules on one stage, too, no valid plan refused for
// its size, and a change for what does not fit.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/plan/placement/parallel.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/planner/front.h"
#include "engine/planner/reasons/advice/neighbours.h"
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
        if (rule.in_search != InSearch::kAlways || best.setup.model.layers % chunks != 0) continue;
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

// Of a space of thousands, all axes free, experts included: the best plans and the front are those
// of trying everything, each once.
TEST(Search, FindsTheBestOfThousands) {
  PlanRequest request;
  request.base = without_axes(default_setup());
  request.base.model = *find_model("moe-tiny");
  request.base.model.name = "custom";
  request.base.model.layers = 2;
  request.base.model.sequence = 8192;
  request.base.precision = *find_precision("mixed-16");
  request.base.attention = Attention::kFused;
  request.base.machine = "dgx-h100";
  request.machine = h100();
  request.machine.devices_per_node = 4;
  request.least_gpus = request.most_gpus = 8;
  request.global_batch = 16;
  const Result<Space> space = Space::of(request);
  ASSERT_TRUE(space.ok());
  const std::vector<Candidate> all = all_of(*space);
  ASSERT_GT(all.size(), 14'000U);
  std::vector<std::optional<Plan>> tried(all.size());
  in_parallel(all.size(), [&](std::size_t at) {
    Result<Tried> plan = try_setup(space->setup_of(all[at]), request.machine, false);
    if (!plan || !plan->fits()) return;
    tried[at] = std::move(plan->plan);
    tried[at]->candidate = all[at];
  });
  std::vector<Plan> plans;
  for (std::optional<Plan>& plan : tried)
    if (plan) plans.push_back(std::move(*plan));
  const auto first_of = [&] {
    return std::min_element(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) {
      return stands_before(a, b, Objective::kTime);
    });
  };
  const Result<PlanResult> found = search(request);
  ASSERT_TRUE(found.ok()) << found.error().text;
  EXPECT_EQ(found->candidates, static_cast<std::int64_t>(all.size()));
  ASSERT_EQ(found->best.size(), static_cast<std::size_t>(request.top));
  EXPECT_LT(found->classes[static_cast<int>(PlanClass::kSimulated)], found->candidates / 4);
  EXPECT_EQ(found->front_too_long, 0);
  for (const Plan& plan : plans)
    EXPECT_TRUE(dominates(found->pareto, plan.time.count(), plan.needed_bytes, 8))
        << to_json(plan.setup).dump();
  for (const Plan& best : found->best) {
    ASSERT_FALSE(plans.empty());
    const Plan first = *first_of();
    EXPECT_EQ(to_json(best.setup), to_json(first.setup));
    EXPECT_EQ(best.time, first.time);
    std::erase_if(plans, [&](const Plan& plan) {
      return plan.candidate == first.candidate || comes_to_the_same(plan, first);
    });
  }
}

// Where a batch leaves few tokens for each GPU, CP may cut sequences into shorter parts.
TEST(Search, CutsSequencesShorterWhereTokensAreScarce) {
  PlanRequest request;
  request.base = without_axes(default_setup());
  request.base.model = *find_model("llama3-8b");  // sequences of 8192 tokens
  request.base.attention = Attention::kFused;
  request.machine = h100();
  request.least_gpus = request.most_gpus = 64;
  for (const auto& [batch, most] : {std::pair{64, 2}, std::pair{32, 2}, std::pair{16, 4}}) {
    request.global_batch = batch;
    const Result<Space> space = Space::of(request);
    ASSERT_TRUE(space.ok());
    int largest = 0;
    for (const Candidate& of : all_of(*space)) largest = std::max(largest, int(of.cp));
    EXPECT_EQ(largest, most) << batch;
  }
}

// Without TP every rank has tokens of its own, so that experts may be whole over CP.
TEST(Search, TakesWholeExpertsOverContextParallelism) {
  PlanRequest request;
  request.base = without_axes(default_setup());
  request.base.model = *find_model("moe-tiny");
  request.base.model.sequence = 16384;
  request.base.attention = Attention::kFused;
  request.machine = h100();
  request.least_gpus = request.most_gpus = 4;
  request.global_batch = 4;
  request.allowed = {{"tp", {"1"}}, {"pp", {"1"}}, {"cp", {"2"}}};
  const Result<Space> space = Space::of(request);
  ASSERT_TRUE(space.ok());
  bool cut = false, whole = false;
  for (const Candidate& of : all_of(*space))
    if (of.ep > 1) (of.expert_tensor ? cut : whole) = true;
  EXPECT_TRUE(cut && whole);
}

// On one stage an interleaved plan is listed where it is no other name for 1F1B: where ZeRO 2 or 3
// moves data in every action, or nobody lists 1F1B.
TEST(Search, ListsInterleavedPlansOnOneStageWhereTheyDiffer) {
  std::mt19937 random(5);
  PlanRequest request = small_problem(random);
  request.least_gpus = request.most_gpus = 4;
  request.global_batch = 4;
  request.base.microbatch_group = 0;
  for (const char* axis : {"zero-group", "stage-layers", "recompute", "order"})
    request.allowed.erase(axis);
  for (const bool beside : {false, true}) {
    request.allowed["schedule"] = {"interleaved"};
    if (beside) request.allowed["schedule"].push_back("1f1b");
    const Result<Space> space = Space::of(request);
    ASSERT_TRUE(space.ok());
    int of_zero[4] = {}, alone = 0, deep = 0;
    for (const Candidate& of : all_of(*space)) {
      if (space->schedules()[of.schedule] != "interleaved") continue;
      if (of.pp > 1)
        ++deep;
      else if (of.dp * of.cp == 1)
        ++alone;
      else
        ++of_zero[of.zero];
    }
    EXPECT_EQ(of_zero[0] == 0, beside);
    EXPECT_EQ(of_zero[1] == 0, beside);
    EXPECT_EQ(alone == 0, beside);
    EXPECT_GT(of_zero[2], 0);
    EXPECT_EQ(of_zero[2], of_zero[3]);
    EXPECT_GT(deep, 0);
    auto setup = request.base;
    setup.mesh.dp = 4;
    setup.microbatches = 1;
    setup.schedule = "interleaved";
    setup.chunks = 2;
    EXPECT_TRUE(space->covers(setup));  // by itself, or by 1F1B
  }
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
    EXPECT_FALSE(reason.fitting || reason.fitting_said);
  for (const nlohmann::json& reason : to_json(found->reasons))
    EXPECT_FALSE(reason.contains("change")) << reason;
  note_fitting_changes(*found, request);
  int noted = 0;
  for (const ReasonCount& reason : found->reasons) {
    if (reason.plan_class != PlanClass::kDoesNotFit) {
      EXPECT_FALSE(reason.fitting || reason.fitting_said) << reason.sentence.text;
      continue;
    }
    ASSERT_TRUE(reason.fitting_said);
    std::optional<Nanoseconds> least;
    for (const ChangedSetup& change : single_changes(reason.example, request.machine)) {
      if (!space->covers(change.setup)) continue;
      const Result<Tried> tried = try_setup(change.setup, request.machine, false);
      if (tried && tried->fits())
        least = std::min(least.value_or(tried->plan.time), tried->plan.time);
    }
    ASSERT_EQ(reason.fitting.has_value(), least.has_value()) << reason.sentence.text;
    EXPECT_EQ(reason.fitting_said->id,
              least ? "plan-fitting-change" : "plan-fitting-none-searched");
    if (!least) continue;
    EXPECT_EQ(reason.fitting->plan.time, *least) << reason.sentence.text;
    ++noted;
  }
  EXPECT_GT(noted, 0);
}

}  // namespace
}  // namespace parallelarium
