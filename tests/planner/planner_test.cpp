// SPDX-License-Identifier: Apache-2.0
// Bounds are lower bounds, and the search finds what trying everything finds.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <set>

#include "engine/plan/setup/schedule_rules.h"
#include "engine/planner/bound.h"
#include "engine/planner/neighbours.h"
#include "engine/planner/search.h"

namespace parallelarium {
namespace {

Machine h100() {
  Result<Machine> machine = find_machine("dgx-h100");
  EXPECT_TRUE(machine.ok());
  return *machine;
}

// A problem that trying everything solves in milliseconds.
PlanRequest small_problem(std::mt19937& random) {
  const auto one_of = [&](std::vector<int> values) { return values[random() % values.size()]; };
  PlanRequest request;
  Setup& setup = request.base;
  setup = default_setup();
  setup.model = *find_model(random() % 3 == 0 ? "moe-tiny" : "gpt-tiny");
  setup.model.name = "custom";
  setup.model.layers = one_of({2, 4, 6});
  setup.model.sequence = one_of({2048, 4096});
  setup.precision = *find_precision("mixed-16");
  setup.attention = random() % 2 == 0 ? Attention::kFused : Attention::kUnfused;
  setup.cp_split = setup.model.sequence == 2048 ? ContextSplit::kZigzag : ContextSplit::kContiguous;
  setup.sequence_regather = setup.model.layers == 4;
  setup.machine = "dgx-h100";
  setup.mesh = Mesh();
  request.machine = h100();
  request.machine.devices_per_node = one_of({8, 2});
  request.least_gpus = request.most_gpus = one_of({1, 2, 2, 4});
  request.global_batch = one_of({2, 4, 6});
  request.allowed["micro-batch"] = {"1", "2"};
  request.allowed["cp"] = {"1", "2", "4"};
  const char* schedules[] = {"interleaved", "zb-h1", "zb-v", "dualpipe", "v-min", "gpipe"};
  request.allowed["schedule"] = {"1f1b", schedules[random() % 6]};
  if (random() % 3 == 0) request.allowed["zero-group"] = {"0", "1", "2"};
  if (random() % 3 == 0) request.allowed["order"] = {"tp-cp-ep-pp-dp", "tp-cp-ep-dp-pp"};
  if (random() % 4 == 0) request.allowed["stage-layers"] = {"balanced", "1,1", "2,0", "0,1,3,0"};
  request.top = 3;
  return request;
}

std::vector<Candidate> all_of(const Space& space) {
  std::vector<Candidate> all;
  space.for_each([&](const Candidate& group) {
    for (const Sharding& sharding : space.shardings_of(group))
      for (std::size_t recompute = 0; recompute < space.recomputes().size(); ++recompute) {
        all.push_back(group);
        all.back().zero = sharding.zero;
        all.back().zero_group = sharding.group;
        all.back().recompute = static_cast<std::uint8_t>(recompute);
      }
    return true;
  });
  return all;
}

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
      request.base.zero_prefetch = static_cast<int>(random() % 3);
      request.base.zero_reshard = random() % 3 != 0;
      request.base.overlap_gradients = random() % 3 != 0;
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

// Where a ring's messages stand behind transfers between stages, a walk without the pipeline lane
// is far too short, and the laned one nearly as long as the step.
TEST(Bounds, KnowThatRingsWaitForTransfers) {
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
  EXPECT_LT(least_walk, 0.8);
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
    if (trial % 10 >= 8) continue;
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

// Everything tried, the best first.
std::vector<Plan> exhaustive(const PlanRequest& request, const Space& space,
                             std::int64_t (&classes)[kPlanClasses]) {
  std::vector<Plan> plans;
  for (const Candidate& candidate : all_of(space)) {
    const Setup setup = space.setup_of(candidate);
    Result<Tried> tried = try_setup(setup, request.machine, false);
    const auto plan_class = !tried        ? PlanClass::kRefused
                            : tried->fits ? PlanClass::kSimulated
                                          : PlanClass::kDoesNotFit;
    ++classes[static_cast<std::size_t>(plan_class)];
    if (plan_class != PlanClass::kSimulated) continue;
    plans.push_back(std::move(tried->plan));
    plans.back().candidate = candidate;
  }
  std::sort(plans.begin(), plans.end(),
            [&](const Plan& a, const Plan& b) { return stands_before(a, b, request.objective); });
  return plans;
}

TEST(Search, FindsWhatTryingEverythingFinds) {
  std::mt19937 random(2027);
  std::int64_t bounded = 0, tight = 0;
  for (int problem = 0; problem < 30; ++problem) {
    PlanRequest request = small_problem(random);
    constexpr Objective kObjectives[] = {Objective::kTime, Objective::kMemory,
                                         Objective::kTokensPerGpu, Objective::kGpus};
    request.objective = kObjectives[problem % 4];
    if (problem % 3 == 0) request.least_gpus = 1;
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
    if (mesh.pp == 1) {
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

TEST(Search, SaysTheCheapestChangeThatWouldFit) {
  auto setup = default_setup();
  setup.model = *find_model("llama3-8b");
  setup.machine = "dgx-h100";
  setup.precision = *find_precision("mixed-16-main-grads");
  setup.attention = Attention::kFused;
  setup.mesh = Mesh();
  setup.mesh.dp = 8;
  setup.microbatches = 4;
  const Machine machine = h100();
  const Result<Tried> tried = try_setup(setup, machine, false);
  ASSERT_TRUE(tried.ok());
  ASSERT_FALSE(tried->fits);
  const std::optional<FittingChange> found = cheapest_change(setup, machine);
  ASSERT_TRUE(found);
  EXPECT_LE(found->plan.needed_bytes, found->plan.capacity_bytes);
  EXPECT_EQ(found->plan.setup.global_batch(), setup.global_batch());
  EXPECT_THAT(found->sentence.text, testing::HasSubstr(found->change));
  // No other value of ZeRO or TP that fits is faster.
  for (const auto& [tp, zero] : {std::pair(2, 0), {4, 0}, {8, 0}, {1, 1}, {1, 2}, {1, 3}}) {
    auto other = setup;
    other.mesh.tp = tp;
    other.mesh.dp = 8 / tp;
    other.microbatches = 4 * tp;
    other.zero = zero;
    const Result<Tried> plan = try_setup(other, machine, false);
    if (plan && plan->fits) {
      EXPECT_GE(plan->plan.time, found->plan.time) << tp << " " << zero;
    }
  }
  setup.mesh.dp = 1;  // one rank has nothing to share
  EXPECT_FALSE(cheapest_change(setup, machine));
}

// A search that is cancelled on its way says how many candidates it left.
TEST(Search, ThatIsCancelledAddsUp) {
  std::mt19937 random(12);
  for (const double at : {0.0, 0.2, 0.3, 0.5}) {
    PlanRequest request = small_problem(random);
    request.least_gpus = request.most_gpus = 8;
    request.global_batch = 8;
    std::atomic<bool> cancel{false};
    PlanWatch watch;
    watch.cancel = &cancel;
    watch.progress = [&](double share, const Message&) { cancel = cancel || share >= at; };
    const Result<PlanResult> found = search(request, watch);
    if (!found) {
      EXPECT_EQ(found.error().id, "cancelled.plan");
      continue;
    }
    const auto& classes = found->classes;
    EXPECT_EQ(classes[0] + classes[1] + classes[2] + classes[3] + found->left, found->candidates);
    EXPECT_EQ(found->cancelled, found->left > 0);
    EXPECT_FALSE(found->best.empty());
  }
}

TEST(Search, SaysWhatCannotBeSearched) {
  std::mt19937 random(1);
  const auto error_of = [&](const std::function<void(PlanRequest&)>& change) {
    PlanRequest request = small_problem(random);
    change(request);
    const Result<PlanResult> found = search(request);
    return found ? std::string() : found.error().id;
  };
  EXPECT_EQ(error_of([](PlanRequest& of) { of.least_gpus = of.most_gpus = 0; }), "plan-gpus");
  EXPECT_EQ(error_of([](PlanRequest& of) { of.most_gpus = 1'000'000; }), "plan-gpus");
  EXPECT_EQ(error_of([](PlanRequest& of) { of.global_batch = 0; }), "plan-batch");
  EXPECT_EQ(error_of([](PlanRequest& of) { of.base.context_parallel = ContextParallel::kLocal; }),
            "plan-local");
  EXPECT_EQ(error_of([](PlanRequest& of) {
              of.global_batch = 7;
              of.allowed["micro-batch"] = {"2"};
            }),
            "plan-empty");
  std::atomic<bool> cancel{true};
  PlanWatch watch;
  watch.cancel = &cancel;
  const Result<PlanResult> cancelled = search(small_problem(random), watch);
  ASSERT_FALSE(cancelled.ok());
  EXPECT_EQ(cancelled.error().id, "cancelled.plan");
}

TEST(Search, TakesDevicesWithoutRoomForAnything) {
  std::mt19937 random(3);
  PlanRequest request = small_problem(random);
  request.machine.memory_bytes.value = 1024;
  const Result<PlanResult> found = search(request);
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->best.empty());
  EXPECT_EQ(found->classes[0] + found->classes[1], found->candidates);
}

TEST(Causes, AddUpToTheDifferenceOfSteps) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 10; ++trial) {
    const PlanRequest request = small_problem(random);
    const Result<Space> space = Space::of(request);
    ASSERT_TRUE(space.ok());
    std::vector<Candidate> all = all_of(*space);
    std::optional<Prediction> two[2];
    for (int tries = 0; tries < 400 && (!two[0] || !two[1]); ++tries) {
      Result<Prediction> made =
          predict(space->setup_of(all[random() % all.size()]), request.machine,
                  BuildOptions{.stage_level = tries % 2 == 0});
      if (made) (two[0] ? two[1] : two[0]) = std::move(*made);
    }
    ASSERT_TRUE(two[0] && two[1]);
    const StepParts a = parts_of(*two[0]), b = parts_of(*two[1]);
    EXPECT_NEAR(a.sum(), two[0]->step.seconds, 1e-9);
    const double difference = two[1]->step.seconds - two[0]->step.seconds;
    double sum = 0;
    for (const Cause& cause : causes_of(a, b, difference)) {
      if (cause.cause == "unexplained") {
        EXPECT_NEAR(cause.seconds, 0, 1e-8);
      }
      sum += cause.seconds;
    }
    EXPECT_NEAR(sum, difference, 1e-9);
  }
}

}  // namespace
}  // namespace parallelarium
