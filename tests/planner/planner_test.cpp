// SPDX-License-Identifier: Apache-2.0
// Bounds are lower bounds, and the search finds what trying everything finds.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <set>

#include "engine/plan/setup/schedule_rules.h"
#include "engine/planner/bounds/bound.h"
#include "engine/planner/bounds/stage_family.h"
#include "engine/planner/reasons/advice/neighbours.h"
#include "engine/planner/search.h"
#include "tests/planner/problems.h"

namespace parallelarium {
namespace {

TEST(Bounds, AreNoHigherThanThePredictionForEverySchedule) {
  std::mt19937 random(27);
  int compared = 0;
  double tightest = 0;
  for (const ScheduleRule& rule : kScheduleRules) {
    for (int trial = 0; trial < 40; ++trial) {
      PlanRequest request = small_problem(random);
      request.base.model.layers = trial % 3 == 0 ? 24 : 8;
      request.least_gpus = request.most_gpus = 8;
      request.global_batch = 16;
      request.allowed["schedule"] = {std::string(rule.name)};
      if (trial % 2 == 1) {  // parameters weigh more than activations
        request.base.model.hidden = 512;
        request.base.model.sequence = 128;
      }
      request.base.overlap_pipeline = trial % 4 != 0;
      request.base.scatter_gather = trial % 3 == 0;
      request.base.zero_prefetch = static_cast<int>(random() % 3);
      request.base.zero_reshard = random() % 3 != 0;
      request.base.overlap_gradients = random() % 3 != 0;
      request.base.overlap_parameters = random() % 2 != 0;
      const Result<Space> space = Space::of(request);
      ASSERT_TRUE(space.ok()) << space.error().text;
      const std::vector<Candidate> all = all_of(*space);
      const Candidate candidate = all[random() % all.size()];
      const auto setup = space->setup_of(candidate);
      if (!validate(setup).empty()) continue;
      const Result<StageTable> table = stage_table(setup, request.machine);
      ASSERT_TRUE(table.ok()) << table.error().text;
      const Result<Prediction> prediction =
          predict(setup, request.machine, BuildOptions{.stage_level = true});
      ASSERT_TRUE(prediction.ok()) << prediction.error().text;
      const StepEnd end = step_end(setup, request.machine);
      const Bound quick = quick_bound(setup, *table, end);
      const Result<Bound> walked = walked_bound(setup, *table, end);
      ASSERT_TRUE(walked.ok()) << walked.error().text;
      const Result<std::int64_t> laned = laned_bound(setup, request.machine, *table, end);
      ASSERT_TRUE(laned.ok()) << laned.error().text;
      const std::string what = to_json(setup).dump();
      EXPECT_LE(*laned, prediction->timeline.duration.count()) << what;
      EXPECT_LE(quick.nanoseconds, prediction->timeline.duration.count()) << what;
      EXPECT_LE(walked->nanoseconds, prediction->timeline.duration.count()) << what;
      EXPECT_LE(quick.bytes, prediction->needed_bytes) << what;
      EXPECT_LE(walked->bytes, prediction->needed_bytes) << what;
      tightest = std::max(tightest, static_cast<double>(walked->nanoseconds) /
                                        static_cast<double>(prediction->timeline.duration.count()));
      ++compared;
    }
  }
  EXPECT_GT(compared, 200);
  EXPECT_GT(tightest, 0.9);
}

// A Setup of a large model at random, and how long it takes by each walk and as predicted.
struct Walks {
  Setup setup;
  double walked = 0, laned = 0, bytes = 0;  // shares of what is predicted
};
std::optional<Walks> walks_of(const PlanRequest& request, std::mt19937& random) {
  const Result<Space> space = Space::of(request);
  EXPECT_TRUE(space.ok()) << space.error().text;
  const std::vector<Candidate> all = all_of(*space);
  EXPECT_FALSE(all.empty());
  Walks walks;
  walks.setup = space->setup_of(all[random() % all.size()]);
  const auto& setup = walks.setup;
  if (!validate(setup).empty()) return std::nullopt;
  const Result<StageTable> table = stage_table(setup, request.machine);
  const Result<Prediction> prediction =
      predict(setup, request.machine, BuildOptions{.stage_level = true});
  EXPECT_TRUE(table.ok() && prediction.ok());
  const StepEnd end = step_end(setup, request.machine);
  const Result<std::int64_t> laned = laned_bound(setup, request.machine, *table, end);
  const Result<Bound> walked = walked_bound(setup, *table, end);
  EXPECT_TRUE(laned.ok() && walked.ok());
  const std::string what = to_json(setup).dump();
  const auto step = prediction->timeline.duration.count();
  EXPECT_LE(*laned, step) << what;
  EXPECT_LE(walked->nanoseconds, step) << what;
  EXPECT_LE(walked->bytes, prediction->needed_bytes) << what;
  walks.walked = static_cast<double>(walked->nanoseconds) / static_cast<double>(step);
  walks.laned = static_cast<double>(*laned) / static_cast<double>(step);
  walks.bytes = static_cast<double>(walked->bytes) / static_cast<double>(prediction->needed_bytes);
  return walks;
}
PlanRequest large_problem(std::mt19937& random, int gpus) {
  PlanRequest request = small_problem(random);
  request.base.model = *find_model("llama3-8b");
  request.base.cp_split = ContextSplit::kZigzag;
  request.base.attention = Attention::kFused;
  request.machine = h100();
  request.least_gpus = request.most_gpus = gpus;
  request.global_batch = 32;
  return request;
}

// A ring of CP has a lane of its own until gradients are reduced, so that both walks are close.
TEST(Bounds, AreCloseWhereRingsGoRound) {
  std::mt19937 random(28);
  int compared = 0;
  double least_walk = 1;
  for (const char* schedule : {"interleaved", "1f1b", "zb-h1", "zb-v", "dualpipe", "gpipe"}) {
    for (int trial = 0; trial < 12; ++trial) {
      PlanRequest request = large_problem(random, trial % 2 == 0 ? 8 : 16);
      request.base.cp_split = trial % 3 == 0 ? ContextSplit::kContiguous : ContextSplit::kZigzag;
      request.allowed = {{"schedule", {schedule}}, {"cp", {"2"}},          {"pp", {"2", "4"}},
                         {"zero", {"0"}},          {"micro-batch", {"1"}}, {"tp", {"1", "2"}}};
      const std::optional<Walks> walks = walks_of(request, random);
      if (!walks) continue;
      ++compared;
      if (std::string(schedule) != "interleaved" || trial % 3 == 0) continue;
      EXPECT_GT(walks->laned, 0.98) << to_json(walks->setup).dump();
      least_walk = std::min(least_walk, walks->walked);
    }
  }
  EXPECT_GT(compared, 40);
  EXPECT_GT(least_walk, 0.9);
}

// ZeRO 2 and 3 clear, gather and reduce in every micro-batch, in an order that makes others wait,
// and hold whole buckets, of which those of tables are the largest.
TEST(Bounds, KnowWhatWaitsForBuckets) {
  std::mt19937 random(29);
  int compared = 0, tight = 0;
  double least_walk = 1;
  for (int trial = 0; trial < 60; ++trial) {
    PlanRequest request = large_problem(random, trial % 2 == 0 ? 16 : 32);
    request.base.zero_prefetch = trial % 10 == 9 ? 2 : 1;
    request.base.zero_reshard = trial % 10 != 8;
    // Bounds leave out how rings of TP are folded beside buckets, and are less close there.
    request.base.ring_tensor = trial % 10 >= 8;
    const char* schedules[] = {"interleaved", "1f1b", "zb-h1", "1f1b", "zb-v", "dualpipe-v"};
    request.allowed = {{"schedule", {schedules[trial % 6]}},
                       {"cp", {trial % 4 == 0 ? "2" : "1"}},
                       {"zero", {trial % 5 == 0 ? "2" : "3"}},
                       {"pp", {"1", "2", "4"}},
                       {"tp", {"1", "2", "4"}},
                       {"micro-batch", {"1"}}};
    const std::optional<Walks> walks = walks_of(request, random);
    if (!walks) continue;
    ++compared;
    if (request.base.ring_tensor) continue;
    EXPECT_GT(walks->laned, 0.94) << to_json(walks->setup).dump();
    EXPECT_GT(walks->bytes, 0.95) << to_json(walks->setup).dump();
    least_walk = std::min(least_walk, walks->walked);
    tight += walks->laned > 0.99;
  }
  EXPECT_GT(compared, 40);
  EXPECT_GT(tight, 20);
  EXPECT_LT(least_walk, 0.8);
}

// One rank of every stage stands for all where the search says so.
TEST(Tried, IsWhatAllRanksTogetherTake) {
  std::mt19937 random(64);
  for (int trial = 0; trial < 60; ++trial) {
    PlanRequest request = small_problem(random);
    request.base.model.heads = request.base.model.kv_heads = 12;
    request.base.model.hidden = 96;
    request.least_gpus = request.most_gpus = 24;
    request.global_batch = 24;
    const Result<Space> space = Space::of(request);
    ASSERT_TRUE(space.ok()) << space.error().text;
    const std::vector<Candidate> all = all_of(*space);
    const auto setup = space->setup_of(all[random() % all.size()]);
    if (!validate(setup).empty()) continue;
    const Result<Tried> tried = try_setup(setup, request.machine, false);
    const Result<Prediction> whole = predict(setup, request.machine, true);
    ASSERT_TRUE(tried.ok() && whole.ok());
    EXPECT_EQ(tried->plan.time, whole->timeline.duration) << to_json(setup).dump();
    EXPECT_EQ(tried->plan.needed_bytes, whole->needed_bytes) << to_json(setup).dump();
  }
}

// What a framework may be unable to say, of one axis or of two together.
std::optional<Message> cannot_be_said(const Setup& setup) {
  Message why =
      message("plan-gpus", "A plan needs 1 to {} GPUs, as a number or a range such as 8..64.", 1);
  why.field = setup.schedule != Schedule("1f1b")                       ? "schedule"
              : setup.zero == 2                                        ? "zero"
              : setup.zero == 1 && setup.recompute == Recompute::kFull ? "recompute"
              : setup.micro_batch == 2 && setup.mesh.tp > 1            ? "micro_batch"
                                                                       : "";
  return why.field.empty() ? std::nullopt : std::optional(why);
}

TEST(Search, FindsWhatTryingEverythingFinds) {
  std::mt19937 random(2027);
  std::int64_t bounded = 0, tight = 0, unsaid = 0;
  for (int problem = 0; problem < 30; ++problem) {
    PlanRequest request = small_problem(random);
    constexpr Objective kObjectives[] = {Objective::kTime, Objective::kMemory,
                                         Objective::kTokensPerGpu, Objective::kGpus};
    request.objective = kObjectives[problem % 4];
    if (problem % 3 == 0) request.least_gpus = 1;
    if (problem % 5 == 0) request.refuses = cannot_be_said;
    const Result<Space> space = Space::of(request);
    ASSERT_TRUE(space.ok());
    std::int64_t classes[kPlanClasses] = {};
    std::vector<Plan> all = exhaustive(request, *space, classes);
    ASSERT_FALSE(all.empty());
    if (problem % 2 == 0) {  // devices so small that about half of the plans are too large
      std::vector<std::int64_t> sizes;
      for (const Plan& plan : all) sizes.push_back(plan.needed_bytes);
      std::sort(sizes.begin(), sizes.end());
      request.machine.memory_bytes.value = static_cast<double>(sizes[sizes.size() / 2]);
      request.machine.usable_memory_share = 1;
      std::fill(std::begin(classes), std::end(classes), 0);
      all = exhaustive(request, *space, classes);
      ++tight;
    }
    const Result<PlanResult> found = search(request);
    ASSERT_TRUE(found.ok()) << found.error().text;
    EXPECT_EQ(found->candidates, classes[0] + classes[1] + classes[2] + classes[3]);
    EXPECT_EQ(found->classes[0] + found->classes[1] + found->classes[2] + found->classes[3],
              found->candidates);
    EXPECT_EQ(found->classes[0], classes[0]);
    for (const std::vector<PlanReason>& reasons : found->why)
      for (const PlanReason& reason : reasons)
        if (request.refuses && reason.sentence.id == "plan-gpus") {
          EXPECT_FALSE(reason.seconds);
          ++unsaid;
        }
    EXPECT_LE(found->classes[1], classes[1]);
    bounded += found->classes[2];
    ASSERT_EQ(found->best.size(), std::min<std::size_t>(all.size(), 3));
    for (std::size_t at = 0; at < found->best.size(); ++at) {
      EXPECT_EQ(found->best[at].time, all[at].time) << problem << " " << at;
      EXPECT_EQ(to_json(found->best[at].setup), to_json(all[at].setup)) << problem << " " << at;
    }
    // The front is that of all plans.
    for (const Plan& plan : all) {
      const bool covered =
          std::any_of(found->pareto.begin(), found->pareto.end(), [&](const Plan& other) {
            return other.time <= plan.time && other.needed_bytes <= plan.needed_bytes &&
                   other.candidate.gpus() <= plan.candidate.gpus();
          });
      EXPECT_TRUE(covered) << problem << " " << to_json(plan.setup).dump();
    }
  }
  EXPECT_GT(bounded, 0);
  EXPECT_GT(tight, 10);
  EXPECT_GT(unsaid, 0) << "neighbours are refused as candidates are";
}

// What is looked at where nobody says: 8 ranks on nodes of 4.
TEST(Space, HasTheGroupsCutsAndOrdersThatMakeADifference) {
  std::mt19937 random(4);
  PlanRequest request = small_problem(random);
  request.allowed.clear();
  request.base.model = *find_model("gpt-tiny");
  request.base.model.layers = 6;
  request.machine.devices_per_node = 4;
  request.least_gpus = request.most_gpus = 8;
  request.global_batch = 8;
  const Result<Space> space = Space::of(request);
  ASSERT_TRUE(space.ok());
  std::set<std::pair<int, int>> groups;  // with the TP of those without a pipeline
  std::set<std::vector<int>> cuts;       // of four stages
  std::set<std::pair<int, RankOrder>> orders;
  for (const Candidate& candidate : all_of(*space)) {
    const auto setup = space->setup_of(candidate);
    const Mesh& mesh = setup.mesh;
    if (setup.zero == 0) {
      EXPECT_EQ(setup.zero_group, 0);
    }
    if (mesh.pp == 1) groups.insert({mesh.tp, setup.zero_group});
    if (stages_of(setup) == 1) {
      EXPECT_TRUE(setup.stage_layers.empty());
    }
    if (mesh.pp == 4 && stages_of(setup) == 4) cuts.insert(setup.stage_layers);
    if (mesh.pp == 2) orders.insert({mesh.tp * mesh.cp, mesh.order});
  }
  EXPECT_THAT(groups, testing::IsSupersetOf({std::pair(1, 0), {1, 4}, {2, 2}, {8, 0}}));
  EXPECT_FALSE(groups.contains({4, 1}));
  EXPECT_THAT(cuts, testing::SizeIs(2));
  const auto first = RankOrder::kTpCpEpDpPp, other = RankOrder::kTpCpEpPpDp;
  EXPECT_TRUE(orders.contains({2, first}) && orders.contains({2, other}));
  EXPECT_FALSE(orders.contains({4, other}));  // no place on a node for more
}

// Pipelines of more than 16 stages were once cut evenly alone, which 126 layers refuse.
TEST(Space, CutsDeepPipelinesByTheirHeadToo) {
  std::mt19937 random(4);
  PlanRequest request = small_problem(random);
  request.allowed = {{"pp", {"32"}}, {"schedule", {"1f1b"}}};
  request.base.model = *find_model("gpt-tiny");
  request.base.model.layers = 126;
  request.least_gpus = request.most_gpus = 32;
  request.global_batch = 32;
  const Result<Space> space = Space::of(request);
  ASSERT_TRUE(space.ok());
  std::set<std::vector<int>> cuts;
  for (const Candidate& candidate : all_of(*space)) {
    const auto setup = space->setup_of(candidate);
    if (validate(setup).empty()) cuts.insert(setup.stage_layers);
  }
  ASSERT_EQ(cuts.size(), 1U);
  EXPECT_EQ(std::accumulate(cuts.begin()->begin(), cuts.begin()->end(), 0), 126);
}

TEST(Balanced, GivesTheLargestStageTheLeastWork) {
  EXPECT_THAT(balanced_layers(126, 16, 0.6),
              testing::ElementsAre(7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7));
  EXPECT_THAT(balanced_layers(12, 4, 5), testing::ElementsAre(4, 4, 4, 0));
  EXPECT_THAT(balanced_layers(8, 4, 0.5), testing::ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(balanced_layers(2, 4, 0.5), testing::ElementsAre(0, 1, 1, 0));
  for (int layers = 1; layers < 20; ++layers)
    for (int stages = 2; stages <= layers + 2; ++stages)
      for (const double head : {0.0, 0.7, 1.0, 2.5, 9.0}) {
        const std::vector<int> cut = balanced_layers(layers, stages, head);
        EXPECT_EQ(std::accumulate(cut.begin(), cut.end(), 0), layers);
        const auto work = [&](int last) {
          return std::max<double>((layers - last + stages - 2) / (stages - 1), last + head);
        };
        const double most =
            std::max<double>(*std::max_element(cut.begin(), cut.end() - 1), cut.back() + head);
        for (int last = 0; last <= layers; ++last) EXPECT_LE(most, work(last)) << layers;
      }
}

}  // namespace
}  // namespace parallelarium
