// SPDX-License-Identifier: Apache-2.0
// What a change of one axis entails: the planner tells all of it, as data and in words.
#include "engine/planner/reasons/advice/change.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "engine/plan/setup/setup_settings.h"
#include "engine/planner/reasons/advice/neighbours.h"
#include "engine/planner/reasons/standing.h"
#include "engine/planner/space/space.h"
#include "tests/planner/problems.h"

namespace parallelarium {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// With TP in a node, several stages and replicas.
Setup whole_setup() {
  Setup setup;
  setup.model = *find_model("llama3-8b");
  setup.machine = "dgx-h100";
  setup.mesh.tp = 4;
  setup.mesh.pp = 2;
  setup.mesh.dp = 8;
  setup.microbatches = 8;
  setup.sequence_parallel = setup.ring_tensor = true;
  setup.zero = 1;
  return setup;
}

Setup applied(Setup setup, const Change& change, bool with_followers) {
  for (const ChangedSetting& each : change.settings) {
    if (each.follows && !with_followers) continue;
    const SetupSetting& row = *find_setting(setup_settings(), each.option);
    EXPECT_EQ(row.value.get(setup), each.from) << each.option;
    EXPECT_TRUE(row.value.set(setup, each.to, row.key).ok()) << each.option;
  }
  return setup;
}

// What a person gets who types the chosen settings and keeps GPUs and batch.
Setup typed(const Setup& from, const Change& change) {
  Setup setup = from;
  for (const ChangedSetting& each : change.settings)
    if (!each.follows) {
      EXPECT_TRUE(set_typed(setup, each.option, text_of_value(each.to)).ok()) << each.option;
    }
  EXPECT_TRUE(set_typed(setup, "gpus", std::to_string(from.mesh.ranks())).ok());
  EXPECT_TRUE(set_typed(setup, "global-batch", std::to_string(from.global_batch())).ok());
  return setup;
}

TEST(Changes, TellAllThatDiffersAndWhatOfItFollows) {
  const Machine machine = *find_machine("dgx-h100");
  const auto setup = whole_setup();
  int following = 0;
  for (const auto& changes : {single_changes(setup, machine), neighbours_of(setup, machine)}) {
    ASSERT_FALSE(changes.empty());
    for (const ChangedSetup& changed : changes) {
      const std::string& said = changed.change.said.text;
      EXPECT_EQ(applied(setup, changed.change, true), changed.setup) << said;
      EXPECT_EQ(typed(setup, changed.change), changed.setup) << said;
      for (const ChangedSetting& each : changed.change.settings) following += each.follows ? 1 : 0;
      EXPECT_NE(applied(setup, changed.change, false), setup) << said << ": something is chosen";
    }
  }
  EXPECT_GT(following, 20);
}

TEST(Changes, OfTensorParallelismBringItsReplicasAndTakeSequenceParallelism) {
  const Machine machine = *find_machine("dgx-h100");
  const auto changes = single_changes(whole_setup(), machine);
  const auto found = std::find_if(changes.begin(), changes.end(),
                                  [](const ChangedSetup& each) { return each.setup.mesh.tp == 1; });
  ASSERT_NE(found, changes.end());
  EXPECT_EQ(found->change.said.text, "TP 4 → 1 (follows: DP 32, SP off, Ring of TP products off)");
  const nlohmann::json changed = to_json(found->change.settings);
  EXPECT_EQ(changed[0],
            nlohmann::json::parse(R"({"setting": "tp", "from": 4, "to": 1, "follows": false})"));
  EXPECT_EQ(changed[1],
            nlohmann::json::parse(R"({"setting": "dp", "from": 8, "to": 32, "follows": true})"));
}

// The micro-batches that a replica's sequences divide into do not depend on the number of GPUs.
TEST(Changes, OfTheMicroBatchReachEverySize) {
  const Machine machine = *find_machine("dgx-h100");
  auto setup = whole_setup();
  setup.micro_batch = 3;
  setup.microbatches = 20;
  std::set<int> sizes;
  for (const ChangedSetup& changed : single_changes(setup, machine))
    if (changed.setup.mesh == setup.mesh) sizes.insert(changed.setup.micro_batch);
  EXPECT_EQ(sizes, (std::set<int>{1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60}));
}

TEST(Changes, OfTheMicroBatchLeadBackToTheBestPlan) {
  PlanRequest request = preset_problem("gpt2-124m", 8, 512);
  request.allowed = {{"tp", {"1"}}, {"pp", {"1"}}, {"cp", {"1"}}, {"schedule", {"1f1b"}}};
  const Result<PlanResult> found = search(request);
  ASSERT_TRUE(found.ok());
  const Plan& best = found->best.at(0);
  int led = 0;
  for (const int size : {1, 2, 4, 8, 16, 32}) {
    auto other = best.setup;
    other.micro_batch = size;
    other.microbatches = 64 / size;
    const Result<Tried> tried = try_setup(other, request.machine, true);
    if (!tried || !tried->fits() || tried->plan.time <= best.time) continue;
    const std::optional<SingleChange> change = improving_change(tried->plan, request.machine, {});
    ASSERT_TRUE(change) << size;
    EXPECT_LE(change->plan.time, best.time) << size << ": " << change->change.said.text;
    ++led;
  }
  EXPECT_GT(led, 2);
}

// A Setup with another TP than the search may have is advised within what the search may have.
TEST(Changes, OfASetupOutsideKeepToTheAxesThatAreFixed) {
  PlanRequest request = preset_problem("gpt2-124m", 8, 512);
  request.allowed = {{"tp", {"2"}}, {"pp", {"1"}}, {"cp", {"1"}}, {"schedule", {"1f1b"}}};
  const Result<PlanResult> found = search(request);
  ASSERT_TRUE(found.ok());
  auto today = found->best.at(0).setup;
  today.mesh.tp = 4;
  today.mesh.dp = 2;
  today.microbatches = static_cast<int>(512 / (2 * today.micro_batch));
  today.overlap_gradients = false;
  const Result<Tried> tried = try_setup(today, request.machine, true);
  ASSERT_TRUE(tried.ok());
  const std::optional<SingleChange> free = improving_change(tried->plan, request.machine, {});
  ASSERT_TRUE(free);
  ASSERT_EQ(free->plan.setup.mesh.tp, 1) << "which would be the best, were it allowed";
  const Standing told = standing_of(today, request, *found);
  EXPECT_FALSE(told.candidate);
  ASSERT_TRUE(told.change);
  EXPECT_EQ(told.change->plan.setup.mesh.tp, 2) << told.change->change.said.text;
  ASSERT_TRUE(told.own);
  EXPECT_EQ(told.own->id, "plan-own");
}

// Layers that were balanced over stages stay so, and ZeRO within a node.
TEST(Changes, OfStagesBringTheirLayersAndTheGroupOfANode) {
  const Machine machine = *find_machine("dgx-h100");
  auto setup = whole_setup();
  setup.mesh.tp = 1;
  setup.sequence_parallel = setup.ring_tensor = false;
  setup.mesh.pp = 4;
  setup.mesh.dp = 16;
  setup.microbatches = 4;
  setup.stage_layers = balanced_cut(setup.model, 4, head_layers(setup.model));
  setup.zero_group = node_group(setup.mesh, machine);
  ASSERT_FALSE(setup.stage_layers.empty());
  ASSERT_GT(setup.zero_group, 0);
  int cut = 0, grouped = 0;
  for (const ChangedSetup& changed : single_changes(setup, machine)) {
    const std::string& said = changed.change.said.text;
    EXPECT_EQ(applied(setup, changed.change, true), changed.setup) << said;
    for (const ChangedSetting& each : changed.change.settings) {
      cut += each.option == "stage-layers" && each.follows ? 1 : 0;
      grouped += each.option == "zero-group" && each.follows ? 1 : 0;
    }
  }
  EXPECT_GT(cut, 0);
  EXPECT_GT(grouped, 0);
}

// Each of the best plans has its neighbours with what a search makes of them: where one is known
// exactly that is what predict() says, and where bounds tell its class predict() does not say
// otherwise.
TEST(Changes, OfEveryBestPlanHaveTheirClass) {
  std::mt19937 random(19);
  int counts[kPlanClasses] = {};
  for (int problem = 0; problem < 6; ++problem) {
    PlanRequest request = small_problem(random);
    request.least_gpus = request.most_gpus = 4;
    request.global_batch = 8;
    Result<PlanResult> found = search(request);
    ASSERT_TRUE(found.ok()) << found.error().text;
    if (problem % 2 == 0) {  // devices in which the best plan just has room
      request.machine.memory_bytes.value =
          static_cast<double>(found->best.front().needed_bytes) * 1.01;
      request.machine.usable_memory_share = 1;
      found = search(request);
      ASSERT_TRUE(found.ok()) << found.error().text;
    }
    ASSERT_EQ(found->neighbours.size(), found->best.size());
    for (std::size_t at = 0; at < found->best.size(); ++at) {
      const auto changes = neighbours_of(found->best[at].setup, request.machine);
      ASSERT_EQ(found->neighbours[at].size(), changes.size());
      for (std::size_t next = 0; next < changes.size(); ++next) {
        const PlanNeighbour& told = found->neighbours[at][next];
        EXPECT_EQ(told.change.said.text, changes[next].change.said.text);
        EXPECT_FALSE(told.sentence.text.empty());
        ++counts[static_cast<std::size_t>(told.plan_class)];
        const Result<Tried> tried = try_setup(changes[next].setup, request.machine, false);
        const std::string what = to_json(changes[next].setup).dump() + told.sentence.text;
        ASSERT_EQ(told.plan_class == PlanClass::kRefused, !tried.ok()) << what;
        if (!tried) continue;
        EXPECT_LE(told.needed_bytes, tried->plan.needed_bytes) << what;
        EXPECT_FALSE(told.plan_class == PlanClass::kDoesNotFit && tried->fits()) << what;
        if (told.plan_class == PlanClass::kSimulated) {
          EXPECT_EQ(*told.seconds, tried->plan.step.seconds) << what;
          EXPECT_EQ(told.needed_bytes, tried->plan.needed_bytes) << what;
          EXPECT_TRUE(tried->fits()) << what;
        }
        if (told.plan_class == PlanClass::kBounded) {
          EXPECT_LE(*told.seconds, tried->plan.step.seconds) << what;
          EXPECT_GT(*told.seconds, found->best.front().step.seconds) << what;
        }
      }
    }
    EXPECT_EQ(to_json(*found).at("best").at(0).at("neighbours").size(),
              found->neighbours[0].size());
  }
  for (const int count : counts) EXPECT_GT(count, 0);
}

TEST(Changes, BetweenTwoPlansEntailNothing) {
  auto from = whole_setup(), to = from;
  EXPECT_TRUE(change_of(from, to).empty());
  to.mesh.tp = 8;
  to.mesh.dp = 4;
  to.schedule = "zb-h1";
  const Change change = change_of(from, to);
  EXPECT_EQ(change.said.text, "TP 4 → 8, DP 8 → 4, schedule 1F1B → ZB-H1");
  EXPECT_EQ(value_of_axis("recompute", "none").text, "recompute none");
  EXPECT_EQ(value_of_axis("schedule", "zb-h1").text, "schedule ZB-H1");
  EXPECT_EQ(value_of_axis("zero", "3").text, "ZeRO 3");
  EXPECT_EQ(value_of_axis("stage-layers", "17,15").text, "layers 17,15");
}

}  // namespace
}  // namespace parallelarium
