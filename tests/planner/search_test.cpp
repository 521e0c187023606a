// SPDX-License-Identifier: Apache-2.0
// What a search says beside its plans: changes that would fit, causes, and why it cannot begin.
#include "engine/planner/search.h"

#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/planner/reasons/advice/neighbours.h"
#include "engine/planner/reasons/standing.h"
#include "tests/planner/problems.h"

namespace parallelarium {
namespace {

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
  ASSERT_FALSE(tried->fits());
  const std::optional<SingleChange> found = cheapest_change(setup, machine);
  ASSERT_TRUE(found);
  EXPECT_LE(found->plan.needed_bytes, found->plan.capacity_bytes);
  EXPECT_EQ(found->plan.setup.global_batch(), setup.global_batch());
  EXPECT_THAT(found->sentence.text, testing::HasSubstr(found->change.said.text));
  // No other value of ZeRO or TP that fits is faster.
  for (const auto& [tp, zero] : {std::pair(2, 0), {4, 0}, {8, 0}, {1, 1}, {1, 2}, {1, 3}}) {
    auto other = setup;
    other.mesh.tp = tp;
    other.mesh.dp = 8 / tp;
    other.microbatches = 4 * tp;
    other.zero = zero;
    const Result<Tried> plan = try_setup(other, machine, false);
    if (plan && plan->fits()) {
      EXPECT_GE(plan->plan.time, found->plan.time) << tp << " " << zero;
    }
  }
  setup.mesh.dp = 1;  // one rank has nothing to share
  EXPECT_FALSE(cheapest_change(setup, machine));
}

// A space covers its candidates, and of Setups that differ in an axis those that it has.
TEST(Space, CoversItsCandidatesAndNothingElse) {
  std::mt19937 random(31);
  int covered = 0, others = 0;
  for (int problem = 0; problem < 12; ++problem) {
    const PlanRequest request = small_problem(random);
    const Result<Space> space = Space::of(request);
    ASSERT_TRUE(space.ok());
    std::set<std::string> all;
    for (const Candidate& candidate : all_of(*space))
      all.insert(to_json(space->setup_of(candidate)).dump());
    const auto expect_as_listed = [&](const auto& setup) {
      const bool listed = all.count(to_json(setup).dump()) > 0;
      EXPECT_EQ(space->covers(setup), listed) << to_json(setup).dump();
      ++(listed ? covered : others);
    };
    int at = 0;
    for (const Candidate& candidate : all_of(*space)) {
      if (at++ % 7 != 0) continue;
      const auto setup = space->setup_of(candidate);
      expect_as_listed(setup);
      auto other = setup;
      other.chunks = setup.chunks + 1;
      expect_as_listed(other);
      other = setup;
      other.micro_batch = 3;
      expect_as_listed(other);
      other = setup;
      other.recompute = Recompute::kSelective;
      expect_as_listed(other);
      other = setup;
      std::swap(other.mesh.tp, other.mesh.pp);
      if (other.mesh.pp > 1 && other.mesh.tp > 1) expect_as_listed(other);
    }
  }
  EXPECT_GT(covered, 100);
  EXPECT_GT(others, 100);
}

// An interleaved schedule with stages that its chunks do not divide was once no candidate, and the
// best plan's own change to it was faster than the best.
TEST(Standing, OfTheBestPlanHasNoFasterChange) {
  PlanRequest request;
  request.base = without_axes(default_setup());
  request.base.model = *find_model("llama3-8b");
  request.base.machine = "dgx-h100";
  request.base.precision = *find_precision("mixed-16-main-grads");
  request.base.attention = Attention::kFused;
  request.machine = h100();
  request.least_gpus = request.most_gpus = 8;
  request.global_batch = 64;
  request.allowed = {{"schedule", {"interleaved"}}, {"tp", {"2", "4"}}, {"zero", {"0", "1"}}};
  const Result<PlanResult> found = search(request);
  ASSERT_TRUE(found.ok()) << found.error().text;
  ASSERT_FALSE(found->best.empty());
  const Standing best = standing_of(found->best.front().setup, request, *found);
  EXPECT_TRUE(best.candidate) << best.sentence.text;
  EXPECT_EQ(best.plan_class, PlanClass::kSimulated);
  EXPECT_FALSE(best.change) << best.change->sentence.text;
  // Of another one the figures are told, and that it is no candidate.
  auto other = found->best.front().setup;
  other.mesh.dp *= 2;
  Standing outside = standing_of(other, request, *found);
  EXPECT_FALSE(outside.candidate);
  EXPECT_TRUE(outside.tried);
  EXPECT_THAT(outside.sentence.text, testing::HasSubstr("it has 16 GPUs, and the search 8"));
  other = found->best.front().setup;
  other.microbatches *= 2;
  outside = standing_of(other, request, *found);
  EXPECT_THAT(outside.sentence.text, testing::HasSubstr("it makes a global batch of 128, not 64"));
  EXPECT_THAT(outside.sentence.text, testing::Not(testing::HasSubstr("than the best")));
  // All that differs is said, also of what cannot be at all.
  other.mesh.dp *= 3;
  other.mesh.tp = 7;
  outside = standing_of(other, request, *found);
  EXPECT_EQ(outside.plan_class, PlanClass::kRefused);
  EXPECT_FALSE(outside.candidate);
  EXPECT_THAT(outside.sentence.text, testing::HasSubstr("not 64; it has "));
  other = found->best.front().setup;
  other.model.layers = 16;
  EXPECT_FALSE(standing_of(other, request, *found).candidate);
  other = found->best.front().setup;
  other.mesh.dp *= other.mesh.tp;
  other.microbatches /= other.mesh.tp;
  other.mesh.tp = 1;
  outside = standing_of(other, request, *found);
  EXPECT_THAT(outside.sentence.text, testing::HasSubstr("the search does not try"));
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

// Progress never goes back, and tells of all that is left to do.
TEST(Search, TellsHowFarItIsInOneDirection) {
  std::mt19937 random(12);
  PlanRequest request = small_problem(random);
  request.least_gpus = request.most_gpus = 8;
  request.global_batch = 8;
  std::vector<double> shares;
  std::vector<std::string> told;
  std::map<std::string, std::int64_t> counted;  // of what: kinds of stages, then candidates
  PlanWatch watch;
  watch.progress = [&](double share, const Message& what) {
    shares.push_back(share);
    if (told.empty() || told.back() != what.id) told.push_back(what.id);
    if (what.arguments.size() < 2) return;
    const std::int64_t now = std::stoll(what.arguments[0].text);
    std::int64_t& before = counted[what.id == "plan-tables" ? "stages" : "candidates"];
    EXPECT_GE(now, before);
    EXPECT_LE(now, std::stoll(what.arguments[1].text));
    before = now;
  };
  Result<PlanResult> found = search(request, watch);
  ASSERT_TRUE(found.ok());
  note_ties(*found, request, watch);
  for (const PlanReason& reason : found->why.front()) {
    const bool close = reason.seconds && found->ties.share &&
                       *reason.seconds <= *found->ties.share * found->best.front().step.seconds;
    if (reason.seconds && *reason.seconds >= 0) {
      EXPECT_EQ(reason.tied, close) << reason.sentence.text;
    }
  }
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_LT(shares.back(), 1) << "a Setup may be asked about behind it";
  EXPECT_THAT(told, testing::ElementsAre("plan-listing", "plan-tables", "plan-best", "plan-smaller",
                                         "plan-rules", "plan-neighbours", "plan-published"));
}

// On one number of GPUs all plans need as many, and the fastest of them are the best: no more are
// simulated than for time.
TEST(Search, ForGpusTakesTheFasterOfEquals) {
  std::mt19937 random(21);
  for (int trial = 0; trial < 6; ++trial) {
    PlanRequest request = small_problem(random);
    request.least_gpus = request.most_gpus = 8;
    request.global_batch = 8;
    const Result<PlanResult> by_time = search(request);
    request.objective = Objective::kGpus;
    const Result<PlanResult> by_gpus = search(request);
    ASSERT_TRUE(by_time.ok() && by_gpus.ok());
    ASSERT_EQ(by_time->best.size(), by_gpus->best.size());
    for (std::size_t at = 0; at < by_time->best.size(); ++at)
      EXPECT_EQ(to_json(by_time->best[at].setup), to_json(by_gpus->best[at].setup));
    for (int at = 0; at < kPlanClasses; ++at) EXPECT_EQ(by_time->classes[at], by_gpus->classes[at]);
    EXPECT_LT(by_time->classes[3], by_time->candidates);
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
  EXPECT_EQ(error_of([](PlanRequest& of) { of.base.collectives = "all_reduce=ring"; }),
            "plan-collectives");
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
      if (cause.kind == CauseKind::kRest) {
        EXPECT_NEAR(cause.seconds, 0, 1e-8);
      }
      sum += cause.seconds;
    }
    EXPECT_NEAR(sum, difference, 1e-9);
  }
}

}  // namespace
}  // namespace parallelarium
