// SPDX-License-Identifier: Apache-2.0
// Advice speaks of what the objective asks for, what is free is free beside the framework, and the
// parts of a step make the whole.
#include <cmath>

#include "engine/plan/placement/resolve.h"
#include "engine/planner/entry.h"
#include "engine/planner/reasons/advice/neighbours.h"
#include "engine/planner/reasons/advice/recommended.h"
#include "engine/planner/reasons/standing.h"
#include "tests/planner/problems.h"

namespace parallelarium {
namespace {

const Plan* least_by(const std::vector<Plan>& all, const auto& value) {
  const auto found = std::min_element(
      all.begin(), all.end(), [&](const Plan& a, const Plan& b) { return value(a) < value(b); });
  return found == all.end() ? nullptr : &*found;
}
std::int64_t bytes_of(const Plan& plan) { return plan.needed_bytes; }
std::int64_t time_of_plan(const Plan& plan) { return plan.time.count(); }

// Trying everything finds the same.
TEST(Objectives, OfMemoryRecommendAndImproveMemory) {
  std::mt19937 random(7);
  int improved = 0;
  for (int problem = 0; problem < 8; ++problem) {
    PlanRequest request = small_problem(random);
    request.objective = Objective::kMemory;
    const Result<Space> space = Space::of(request);
    ASSERT_TRUE(space.ok());
    std::int64_t classes[kPlanClasses] = {};
    const std::vector<Plan> all = exhaustive(request, *space, classes);
    Result<PlanResult> result = search(request);
    if (!result || result->best.empty()) continue;
    note_recommended(*result, request);
    const Recommended& first = result->recommended.front();
    EXPECT_EQ(first.merits.front(), PlanMerit::kObjective);
    EXPECT_EQ(first.plan.needed_bytes, least_by(all, bytes_of)->needed_bytes) << problem;
    EXPECT_EQ(fastest_of(result->recommended).time, least_by(all, time_of_plan)->time) << problem;
    // Of the plan that needs most: its best change, and the order of its neighbours.
    const Plan& large = *least_by(all, [](const Plan& plan) { return -plan.needed_bytes; });
    const Result<Tried> tried = try_setup(large.setup, request.machine, true);
    ASSERT_TRUE(tried.ok());
    ChangeRules rules;
    rules.objective = Objective::kMemory;
    const std::optional<SingleChange> change =
        improving_change(tried->plan, request.machine, rules);
    std::int64_t least = large.needed_bytes;
    for (const ChangedSetup& other : single_changes(large.setup, request.machine)) {
      const Result<Tried> made = try_setup(other.setup, request.machine, false);
      if (validate(other.setup).empty() && made && made->fits())
        least = std::min(least, made->plan.needed_bytes);
    }
    EXPECT_EQ(change.has_value(), least < large.needed_bytes) << problem;
    if (change) {
      ++improved;
      EXPECT_EQ(change->plan.needed_bytes, least) << problem;
      EXPECT_EQ(change->sentence.id, "plan-smaller-change");
    }
    const auto reasons =
        neighbours_of_plan(large.setup, request.machine, {}, {}, Objective::kMemory);
    ASSERT_TRUE(reasons.ok());
    std::int64_t before = INT64_MIN;
    for (const PlanReason& reason : *reasons) {
      if (!reason.seconds) continue;
      EXPECT_EQ(reason.sentence.id, "plan-why-needs");
      EXPECT_GE(reason.more_bytes, before) << problem;
      before = reason.more_bytes;
    }
  }
  EXPECT_GT(improved, 0);
}

// A framework that trains some plans in no usual way: the fastest of the others is told where all
// that are recommended are such plans, and nowhere else.
TEST(Objectives, TellTheFastestUsualPlan) {
  std::mt19937 random(27);
  int told_one = 0, not_needed = 0;
  for (int problem = 0; problem < 12; ++problem) {
    PlanRequest request = small_problem(random);
    const Result<Space> space = Space::of(request);
    ASSERT_TRUE(space.ok());
    std::int64_t classes[kPlanClasses] = {};
    std::vector<Plan> usual = exhaustive(request, *space, classes);
    Result<PlanResult> result = search(request);
    if (!result || result->best.empty()) continue;
    result->ties.share = 0.15;
    request.unusual = [zero = result->best.front().setup.zero](const auto& setup) {
      return setup.zero == zero ? std::optional(message("odd", "It is odd.")) : std::nullopt;
    };
    note_recommended(*result, request);
    const int most = fastest_of(result->recommended).setup.mesh.ranks();
    std::erase_if(usual, [&](const Plan& plan) {
      return request.unusual(plan.setup) || plan.setup.mesh.ranks() > most;
    });
    const Recommended& last = result->recommended.back();
    if (last.merits == std::vector{PlanMerit::kUsual}) {
      ++told_one;
      ASSERT_FALSE(usual.empty());
      EXPECT_EQ(last.plan.time, least_by(usual, time_of_plan)->time) << problem;
      for (std::size_t at = 0; at + 1 < result->recommended.size(); ++at)
        EXPECT_TRUE(request.unusual(result->recommended[at].plan.setup));
      continue;
    }
    const bool has_usual =
        std::any_of(result->recommended.begin(), result->recommended.end(),
                    [&](const Recommended& each) { return !request.unusual(each.plan.setup); });
    EXPECT_TRUE(has_usual || usual.empty()) << problem;
    EXPECT_EQ(!has_usual,
              std::any_of(result->recommended_why.begin(), result->recommended_why.end(),
                          [](const Message& why) { return why.id == "plan-none-usual"; }));
    not_needed += has_usual;
  }
  EXPECT_GT(told_one, 0);
  EXPECT_GT(not_needed, 0);
}

// Any more than the free bytes would break a limit, and the free bytes break none.
TEST(MemoryRoom, IsWhatEachRankMayStillTake) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<MemoryRow> rows(1 + random() % 4);
    for (MemoryRow& row : rows) {
      row.peak_bytes = random() % 100;
      row.framework_bytes = random() % 30;
    }
    const std::int64_t device = 60 + random() % 100, capacity = 1 + random() % device;
    const MemoryRoom room = room_of(rows, capacity, device);
    std::int64_t left = std::min(capacity, device);
    for (const MemoryRow& row : rows)
      left = std::min(
          {left, capacity - row.peak_bytes, device - row.peak_bytes - row.framework_bytes});
    EXPECT_EQ(room.free_bytes, std::max<std::int64_t>(0, left));
    EXPECT_TRUE(room.framework_bytes == 0 || room.limit_bytes == device);
    EXPECT_EQ(room_of(rows, capacity, 0).limit_bytes, capacity);
  }
}

// Of ZeRO 3 beside a pipeline, whose idle ranks gather: nothing counts twice.
TEST(Parts, MakeTheWholeStep) {
  auto setup = new_setup();
  for (const auto& [field, value] : {std::pair("machine", "dgx-h100"),
                                     {"model", "llama3-8b"},
                                     {"pp", "2"},
                                     {"dp", "4"},
                                     {"zero", "3"},
                                     {"microbatches", "4"}})
    ASSERT_TRUE(set_field(setup, field, value).ok()) << field;
  const Machine machine = *find_machine("dgx-h100");
  const Result<Tried> tried = try_setup(resolve(setup, machine), machine, true);
  ASSERT_TRUE(tried.ok()) << tried.error().text;
  const StepParts& parts = tried->plan.parts;
  double exposed = 0;
  for (const double seconds : parts.exposed) exposed += seconds;
  const double step = tried->plan.step.seconds;
  EXPECT_NEAR(parts.compute + parts.recompute + parts.optimizer + parts.idle() + exposed, step,
              1e-6 * step);
  EXPECT_LT(parts.idle() / step, tried->plan.bubble.of_total)
      << "which counts the time in which idle ranks gather, too";
}

}  // namespace
}  // namespace parallelarium
