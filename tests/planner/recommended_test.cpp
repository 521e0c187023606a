// SPDX-License-Identifier: Apache-2.0
// The plans to look at first are those that trying everything finds, and what one change would do
// is said alike wherever it is said.
#include "engine/planner/reasons/advice/recommended.h"

#include "engine/planner/entry.h"
#include "engine/planner/reasons/advice/nearest.h"
#include "engine/planner/reasons/advice/neighbours.h"
#include "engine/planner/reasons/standing.h"
#include "tests/planner/problems.h"

namespace parallelarium {
namespace {

constexpr double kTieShare = 0.15;

int mesh_axes(const Mesh& mesh) {
  return (mesh.tp > 1) + (mesh.pp > 1) + (mesh.cp > 1) + (mesh.ep > 1);
}

bool allows(const PlanRequest& request, const char* axis, const char* value) {
  const auto found = request.allowed.find(axis);
  return found == request.allowed.end() ||
         std::find(found->second.begin(), found->second.end(), value) != found->second.end();
}

bool is_plain(const Plan& plan, const PlanRequest& request) {
  const Setup& setup = plan.setup;
  const bool pipeline = setup.mesh.pp > 1;
  return (!pipeline || setup.schedule == Schedule("1f1b")) &&
         (!pipeline || setup.mesh.dp == 1 || setup.mesh.order == Mesh().order ||
          !allows(request, "order", "tp-cp-ep-dp-pp")) &&
         (setup.stage_layers.empty() || !allows(request, "stage-layers", "even")) &&
         (setup.zero_group == 0 || setup.zero == 0 || !allows(request, "zero-group", "0"));
}

const Plan* recommended_for(const PlanResult& result, PlanMerit merit) {
  for (const Recommended& each : result.recommended)
    if (std::count(each.merits.begin(), each.merits.end(), merit) > 0) return &each.plan;
  return nullptr;
}

TEST(Recommended, AreWhatTryingEverythingFinds) {
  std::mt19937 random(27);
  int smaller = 0, three = 0, fewer = 0;
  for (int problem = 0; problem < 12; ++problem) {
    const PlanRequest request = small_problem(random);
    const Result<Space> space = Space::of(request);
    ASSERT_TRUE(space.ok());
    std::int64_t classes[kPlanClasses] = {};
    const std::vector<Plan> all = exhaustive(request, *space, classes);
    Result<PlanResult> result = search(request);
    if (!result || result->best.empty()) continue;
    result->ties.share = kTieShare;
    note_recommended(*result, request);
    const Plan& fastest = all.front();
    const Plan *least = &fastest, *simple = &fastest, *simpler = nullptr;
    for (const Plan& plan : all) {
      const int axes = mesh_axes(plan.setup.mesh), before = mesh_axes(simple->setup.mesh);
      if (simpler == nullptr && is_plain(plan, request) && axes < mesh_axes(fastest.setup.mesh))
        simpler = &plan;
      if (plan.step.seconds > fastest.step.seconds * (1 + kTieShare)) continue;
      if (plan.needed_bytes < least->needed_bytes) least = &plan;
      if (is_plain(plan, request) &&
          (axes < before || (axes == before && !is_plain(*simple, request))))
        simple = &plan;
    }
    PlanMerit merit = PlanMerit::kSimplest;
    if (simple == &fastest && simpler != nullptr) {
      simple = simpler;
      merit = PlanMerit::kSimpler;
    }
    PlanMerit small = PlanMerit::kLeastMemory;
    if (least == &fastest || least == simple) {
      const Plan* smaller_one = nullptr;
      std::int64_t before = fastest.needed_bytes;  // the least of those that are faster
      for (const Plan& plan : all) {
        const bool on_front = plan.needed_bytes < before;
        before = std::min(before, plan.needed_bytes);
        if (smaller_one == nullptr && on_front && plan.setup != simple->setup &&
            static_cast<double>(plan.needed_bytes) <=
                0.9 * static_cast<double>(least->needed_bytes))
          smaller_one = &plan;
      }
      if (smaller_one != nullptr) {
        least = smaller_one;
        small = PlanMerit::kLessMemory;
      }
    }
    const Plan* told = recommended_for(*result, PlanMerit::kFastest);
    ASSERT_NE(told, nullptr);
    EXPECT_EQ(told->time, fastest.time) << problem;
    told = recommended_for(*result, small);
    ASSERT_NE(told, nullptr) << problem;
    EXPECT_EQ(told->needed_bytes, least->needed_bytes) << problem;
    smaller += told->needed_bytes < fastest.needed_bytes;
    told = recommended_for(*result, merit);
    ASSERT_NE(told, nullptr) << problem;
    EXPECT_EQ(mesh_axes(told->setup.mesh), mesh_axes(simple->setup.mesh)) << problem;
    EXPECT_EQ(told->time, simple->time) << problem;
    EXPECT_EQ(result->recommended.size() == 3, result->recommended_why.empty()) << problem;
    for (const Message& why : result->recommended_why) {
      if (why.id != "plan-none-smaller") continue;
      for (const Plan& plan : all)
        EXPECT_TRUE(plan.setup.mesh.ranks() > fastest.setup.mesh.ranks() ||
                    static_cast<double>(plan.needed_bytes) >
                        0.9 * static_cast<double>(fastest.needed_bytes))
            << problem;
    }
    three += result->recommended.size() == 3;
    fewer += result->recommended.size() < 3;
  }
  EXPECT_GT(smaller, 0);
  EXPECT_GT(three, 0);
  EXPECT_GT(fewer, 0);
}

// Without a threshold no two plans are ties: what stands beside the fastest is slower.
TEST(Recommended, AreSlowerWhereNoTieIsKnown) {
  std::mt19937 random(5);
  PlanRequest request = small_problem(random);
  request.least_gpus = request.most_gpus = 4;
  Result<PlanResult> result = search(request);
  ASSERT_TRUE(result.ok());
  note_recommended(*result, request);
  ASSERT_GT(result->recommended.size(), 1u);
  EXPECT_EQ(result->recommended[0].plan.setup, result->best.front().setup);
  for (std::size_t at = 1; at < result->recommended.size(); ++at) {
    EXPECT_GT(result->recommended[at].plan.time, result->best.front().time);
    EXPECT_FALSE(result->recommended[at].plan.tied);
  }
}

// Where the search for a simpler plan is cancelled, nothing is said of what it would have found.
TEST(Recommended, SayThatTheyWereCancelled) {
  std::mt19937 random(5);
  PlanRequest request = small_problem(random);
  request.least_gpus = request.most_gpus = 4;
  Result<PlanResult> result = search(request);
  ASSERT_TRUE(result.ok());
  const std::atomic<bool> cancel = true;
  PlanWatch watch;
  watch.cancel = &cancel;
  note_recommended(*result, request, watch);
  EXPECT_EQ(recommended_for(*result, PlanMerit::kSimplest), nullptr);
  EXPECT_EQ(recommended_for(*result, PlanMerit::kSimpler), nullptr);
  ASSERT_FALSE(result->recommended_why.empty());
  EXPECT_EQ(result->recommended_why.back().id, "plan-simple-cancelled");
}

// A plan that fits only beside a framework that keeps nothing does not fit.
TEST(Plans, LeaveRoomForTheFramework) {
  PlanRequest request;
  request.base = default_setup();
  request.base.model = *find_model("llama3-8b");
  request.base.machine = "dgx-h100";
  request.base.attention = Attention::kFused;
  request.base.precision = *find_precision("mixed-16-main-grads");
  request.base.mesh = Mesh();
  request.machine = h100();
  request.least_gpus = request.most_gpus = 8;
  request.global_batch = 16;
  request.allowed["schedule"] = {"1f1b"};
  Result<PlanResult> result = search(request);
  ASSERT_TRUE(result.ok());
  ASSERT_FALSE(result->best.empty());
  // A device that the fastest plan just fits into.
  const Plan fastest = result->best.front();
  request.machine.memory_bytes.value = static_cast<double>(fastest.needed_bytes);
  ASSERT_GT(fastest.held_bytes, fastest.needed_bytes);
  const Result<Tried> tried = try_setup(fastest.setup, request.machine, false);
  ASSERT_TRUE(tried.ok());
  EXPECT_FALSE(tried->fits());
  EXPECT_EQ(tried->over.bytes, fastest.held_bytes - fastest.needed_bytes);
  EXPECT_EQ(too_large(*tried, request.machine).id, "plan-framework-large");
  // Sentence and bytes are of one limit, and what breaks either is not timed.
  Machine limited = request.machine;
  limited.usable_memory_share = 0.5;
  const Result<Tried> half = try_setup(fastest.setup, limited, false);
  ASSERT_TRUE(half.ok());
  EXPECT_EQ(half->over.bytes, half->plan.needed_bytes - half->plan.capacity_bytes);
  EXPECT_EQ(too_large(*half, limited).id, "plan-memory-limit");
  const Result<Trial> trial =
      try_candidate(fastest.setup, request.machine, [](auto, auto) { return true; });
  ASSERT_TRUE(trial.ok());
  EXPECT_TRUE(trial->stopped);
  result = search(request);
  ASSERT_TRUE(result.ok());
  ASSERT_FALSE(result->best.empty());
  for (const std::vector<Plan>* plans : {&result->best, &result->pareto})
    for (const Plan& plan : *plans) {
      EXPECT_NE(plan.setup, fastest.setup);
      EXPECT_LE(plan.held_bytes, fastest.needed_bytes);
    }
}

TEST(Limits, NameTheTwoLargestParts) {
  StepParts parts;
  parts.compute = 6;
  parts.wait = parts.drain = 1;
  parts.exposed[static_cast<std::size_t>(Axis::kTp)] = 1.5;
  parts.optimizer = 0.5;
  EXPECT_EQ(limits_of(parts, true, {10, 40, 0}).text,
            "60.0 % compute, then 20.0 % bubble; 75.0 % of the memory, 10 B free");
  EXPECT_EQ(limits_of(parts, false, {10, 40, 0}).text,
            "60.0 % compute, then 20.0 % waiting for other ranks; 75.0 % of the memory, 10 B free");
  parts.exposed[static_cast<std::size_t>(Axis::kTp)] = 11.5;
  EXPECT_EQ(limits_of(parts, true, {30, 40, 0}).text,
            "57.5 % exposed communication of TP, then 30.0 % compute; 25.0 % of the memory, "
            "30 B free");
  EXPECT_EQ(limits_of(parts, true, {1, 40, 5}).text,
            "57.5 % exposed communication of TP, then 30.0 % compute; 97.5 % of the memory "
            "with the 5 B that a framework keeps, only 1 B free: tight");
}

// What a Setup is told to change first is the first of the changes that are listed for it.
TEST(SingleChanges, HaveOneOrder) {
  std::mt19937 random(22);
  int changed = 0;
  for (int problem = 0; problem < 8; ++problem) {
    PlanRequest request = small_problem(random);
    if (problem % 2 == 0) request.allowed["tp"] = {"1", "2"};
    const Result<Space> space = Space::of(request);
    ASSERT_TRUE(space.ok());
    Result<PlanResult> result = search(request);
    if (!result || result->best.empty()) continue;
    const auto asked = result->pareto.back().setup;
    const Standing standing = standing_of(asked, request, *result);
    const Result<std::vector<PlanReason>> listed =
        neighbours_of_plan(asked, request.machine, request.refuses,
                           [&](const auto& other) { return space->covers(other); });
    ASSERT_TRUE(listed.ok());
    const bool faster = !listed->empty() && listed->front().seconds && *listed->front().seconds < 0;
    EXPECT_EQ(standing.change.has_value(), faster) << problem;
    if (!standing.change || !faster) continue;
    ++changed;
    EXPECT_EQ(standing.change->change.said, listed->front().change.said);
    EXPECT_NEAR(standing.change->plan.step.seconds,
                standing.tried->plan.step.seconds + *listed->front().seconds, 1e-12);
  }
  EXPECT_GT(changed, 0);
}

// A Setup keeps what is no axis in every change, and that is said where it is not the search's.
TEST(Standings, NameSettingsThatTheSearchDoesNotVary) {
  std::mt19937 random(3);
  PlanRequest request = small_problem(random);
  request.least_gpus = request.most_gpus = 2;
  request.global_batch = 4;
  const Result<PlanResult> result = search(request);
  ASSERT_TRUE(result.ok());
  ASSERT_FALSE(result->best.empty());
  auto asked = result->best.front().setup;
  EXPECT_FALSE(standing_of(asked, request, *result).own);
  asked.overlap_gradients = !asked.overlap_gradients;
  asked.learning_rate = 0.5;  // changes no step
  asked.run.steps = 7;
  const Standing told = standing_of(asked, request, *result);
  ASSERT_EQ(told.own.has_value(), asked.mesh.dp * asked.mesh.cp > 1);
  asked.dropout = 0.25;
  const Standing other = standing_of(asked, request, *result);
  ASSERT_TRUE(other.own);
  EXPECT_NE(other.own->text.find("Dropout 0.25 (0)"), std::string::npos) << other.own->text;
  EXPECT_EQ(other.own->text.find("learning"), std::string::npos) << other.own->text;
  EXPECT_EQ(other.own->text.find("steps"), std::string::npos) << other.own->text;
}

// The best of another objective is seldom the fastest: a faster step than its own is no lie.
TEST(Standings, SpeakOfAnotherObjectiveThanTime) {
  std::mt19937 random(3);
  int faster = 0;
  for (int problem = 0; problem < 12; ++problem) {
    PlanRequest request = small_problem(random);
    request.objective = Objective::kMemory;
    const Result<PlanResult> result = search(request);
    if (!result || result->best.empty()) continue;
    for (const Plan& plan : result->pareto) {
      const Standing told = standing_of(plan.setup, request, *result);
      EXPECT_EQ(told.sentence.id, "plan-explain-objective") << told.sentence.text;
      faster += plan.time < result->best.front().time;
    }
  }
  EXPECT_GT(faster, 0);
}

// What overlaps otherwise than in the search is a change like any other: it has its price.
TEST(Standings, PriceOverlaps) {
  std::mt19937 random(3);
  int priced = 0;
  for (int problem = 0; problem < 12; ++problem) {
    const PlanRequest request = small_problem(random);
    const Result<PlanResult> result = search(request);
    if (!result || result->best.empty()) continue;
    const Plan& best = result->best.front();
    auto asked = best.setup;
    asked.overlap_gradients = !asked.overlap_gradients;
    const Standing told = standing_of(asked, request, *result);
    if (!told.tried || !told.tried->fits() || told.tried->plan.time <= best.time) continue;
    ASSERT_TRUE(told.change) << problem;
    EXPECT_LE(told.change->plan.time, best.time) << "the search's own value is tried";
    if (told.change->plan.setup != best.setup) continue;
    ++priced;
    EXPECT_NE(told.change->sentence.text.find("verlap"), std::string::npos)
        << told.change->sentence.text;
  }
  EXPECT_GT(priced, 0);
}

// The second best change is named where it serves as well.
TEST(Standings, SayThatAnotherChangeServesAsWell) {
  std::mt19937 random(22);
  int tied = 0, alone = 0;
  for (int problem = 0; problem < 12; ++problem) {
    const PlanRequest request = small_problem(random);
    Result<PlanResult> result = search(request);
    if (!result || result->best.empty()) continue;
    result->ties.share = 0.05;
    const Standing told = standing_of(result->pareto.back().setup, request, *result);
    if (!told.change || told.change->tied || !told.change->next) continue;
    const double first = told.change->plan.step.seconds, next = told.change->next->seconds;
    EXPECT_LE(first, next);
    const bool says = told.change->sentence.id == "plan-faster-changes";
    EXPECT_EQ(says, next <= first * 1.05) << told.change->sentence.text;
    ++(says ? tied : alone);
  }
  EXPECT_GT(tied, 0);
  EXPECT_GT(alone, 0);
}

// Of all plans that are as good as the fastest and keep what note_nearest() keeps, the nearest
// changes the fewest axes, and is the fastest of these.
TEST(Recommended, NearestIsWhatTryingEverythingFinds) {
  std::mt19937 random(11);
  int found = 0, none = 0;
  for (int problem = 0; problem < 16; ++problem) {
    PlanRequest request = small_problem(random);
    request.least_gpus = request.most_gpus = 4;
    request.allowed.erase("stage-layers");
    const Result<Space> space = Space::of(request);
    ASSERT_TRUE(space.ok());
    std::int64_t classes[kPlanClasses] = {};
    const std::vector<Plan> all = everything(request, *space, classes);
    Result<PlanResult> result = search(request);
    if (!result || result->best.empty()) continue;
    result->ties.share = kTieShare;
    note_recommended(*result, request);
    const auto is_tied = [&](const Plan& plan) {
      return plan.step.seconds <= all.front().step.seconds * (1 + kTieShare);
    };
    const auto today = all[all.size() / 2].setup;
    const auto changes = [&](const parallelarium::Setup& to) {
      const Mesh &a = today.mesh, &b = to.mesh;
      const bool experts = a.expert_tensor == b.expert_tensor || b.tp * b.cp == 1;
      const bool keeps = a.pp == b.pp && a.ep == b.ep && experts && a.order == b.order &&
                         today.schedule == to.schedule && today.chunks == to.chunks &&
                         today.stage_layers == to.stage_layers && today.zero == to.zero &&
                         today.zero_group == to.zero_group;
      const bool tensor = a.tp != b.tp || today.sequence_parallel != to.sequence_parallel;
      return keeps ? tensor + (a.cp != b.cp) + (today.micro_batch != to.micro_batch) +
                         (today.recompute != to.recompute)
                   : 99;
    };
    const Plan* expected = nullptr;
    for (const Plan& plan : all) {
      const int count = changes(plan.setup);
      if (!is_tied(plan) || count == 99) continue;
      if (expected == nullptr || count < changes(expected->setup)) expected = &plan;
    }
    if (expected != nullptr && changes(expected->setup) == 0) expected = nullptr;
    note_nearest(*result, request, today);
    const Plan* told = recommended_for(*result, PlanMerit::kNearest);
    ASSERT_EQ(told != nullptr, expected != nullptr) << problem;
    ++(told != nullptr ? found : none);
    if (told == nullptr) continue;
    EXPECT_EQ(changes(told->setup), changes(expected->setup))
        << problem << ": " << short_axes(today) << " -> " << short_axes(told->setup) << " or "
        << short_axes(expected->setup);
    EXPECT_EQ(told->time, expected->time) << problem;
    EXPECT_TRUE(told->tied || told->setup == result->recommended.front().plan.setup);
  }
  EXPECT_GT(found, 0);
  EXPECT_GT(none, 0);
}

}  // namespace
}  // namespace parallelarium
