// SPDX-License-Identifier: Apache-2.0
// Bounds stay below the prediction whatever is set beside the axes of a search.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <random>

#include "engine/plan/setup/schedule_rules.h"
#include "engine/planner/bounds/bound.h"
#include "engine/planner/bounds/stage_family.h"
#include "engine/planner/search.h"
#include "tests/planner/problems.h"

namespace parallelarium {
namespace {

class AnySetup {
 public:
  explicit AnySetup(unsigned seed) : random_(seed) {}

  // Of axes at random, too; none: there is no valid one like that.
  std::optional<Setup> make(Machine& machine) {
    PlanRequest request;
    set_model(request.base);
    set_rest(request.base);
    machine.devices_per_node = one_of({8, 8, 4, 2});
    request.machine = machine;
    request.least_gpus = request.most_gpus = one_of({1, 2, 4, 8, 12, 16, 24, 32});
    request.global_batch = one_of({8, 16, 32, 48});
    request.allowed["cp"] = {"1", "2", "4"};
    if (often(3)) request.allowed["recompute"] = {"none", "norms,activation,second-products"};
    if (often(2)) request.allowed["zero"] = {"2", "3"};
    if (often(2)) request.allowed["pp"] = {"2", "4", "8"};
    if (often(3)) request.allowed["zero-group"] = {"0", "1", "2", "4"};
    if (often(4)) request.allowed["stage-layers"] = {"balanced", "1,1", "2,0", "0,1,3,0"};
    request.allowed["schedule"] = {
        std::string(kScheduleRules[random_() % std::size(kScheduleRules)].name)};
    const Result<Space> space = Space::of(request);
    if (!space) return std::nullopt;
    std::vector<Candidate> all;
    space->for_each([&](const Candidate& candidate) {
      all.push_back(candidate);
      return all.size() < 5000;
    });
    if (all.empty()) return std::nullopt;
    Candidate candidate = all[random_() % all.size()];
    const std::vector<Sharding> shardings = space->shardings_of(candidate);
    const Sharding sharding = shardings[random_() % shardings.size()];
    candidate.zero = sharding.zero;
    candidate.zero_group = sharding.group;
    candidate.recompute = static_cast<std::uint8_t>(random_() % space->recomputes().size());
    Setup made = space->setup_of(candidate);
    constexpr int kMostActions = 2000;
    if (made.microbatches * made.mesh.pp > kMostActions || !validate(made).empty())
      return std::nullopt;
    return made;
  }

 private:
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[random_() % values.size()];
  }
  bool often(unsigned one_in) { return random_() % one_in == 0; }

  void set_model(Setup& base) {
    base = default_setup();
    base.model = *find_model(
        one_of({"gpt-tiny", "moe-tiny", "llama-tiny", "gpt2-124m", "llama3-8b", "qwen3-8b",
                "deepseek-v2", "mixtral-8x7b", "gpt-oss-20b", "llama4-scout", "qwen3-30b-a3b"}));
    base.model.name = "custom";
    if (often(2)) {
      base.model.layers = one_of({2, 3, 4, 6, 8, 12, 16, 24});
      base.model.stage_layers.clear();
    }
    int& dense = base.model.experts.first_dense;
    dense = std::min(dense, base.model.layers - 1);
    if (often(2)) base.model.sequence = one_of({128, 1024, 2048, 4096});
  }
  void set_rest(Setup& base) {
    base.machine = "dgx-h100";
    base.mesh = Mesh();
    base.precision = *find_precision(one_of({"mixed-16", "mixed-16-main-grads", "fp32"}));
    base.attention = often(3) ? Attention::kUnfused : Attention::kFused;
    base.cp_split = often(3) ? ContextSplit::kContiguous : ContextSplit::kZigzag;
    base.context_parallel = one_of({ContextParallel::kRing, ContextParallel::kRing,
                                    ContextParallel::kAllGather, ContextParallel::kUlysses});
    base.sequence_regather = often(2);
    base.zero_prefetch = one_of({0, 1, 1, 1, 2, 3});
    base.zero_reshard = !often(4);
    base.zero_accumulate = often(5);
    base.overlap_gradients = !often(4);
    base.overlap_parameters = often(2);
    base.overlap_pipeline = !often(6);
    base.overlap_tensor = often(5);
    base.ring_tensor = often(2);  // where a candidate is sequence parallel
    base.overlap_experts = often(3);
    base.expert_gates = often(3) ? ExpertGates::kActivations : ExpertGates::kResults;
    base.offload_activations = often(8);
    base.offload_optimizer = often(8);
    base.recompute_layers = often(6) ? one_of({1, 2, 3, 4}) : 0;
    base.microbatch_group = often(6) ? 4 : 0;
    base.scatter_gather = often(3);
  }

  std::mt19937 random_;
};

// Gathering parameters beside the next forward costs no time and no memory, but where blocks of
// keys and values have the same lane and wait behind them.
TEST(OverlapOfParameters, LengthensNoStepButWhereBlocksShareItsLane) {
  AnySetup any(43);
  Machine machine = *find_machine("dgx-h100");
  int compared = 0, shorter = 0;
  for (int trial = 0; trial < 1200; ++trial) {
    auto made = any.make(machine);
    const bool gathers = made && held_zero(*made) >= 1 && held_zero(*made) <= 2;
    if (!gathers || made->mesh.dp * made->mesh.cp == 1 || made->zero_group == 1) continue;
    made->overlap_parameters = false;
    const Result<Prediction> behind = predict(*made, machine, BuildOptions{.stage_level = true});
    made->overlap_parameters = true;
    const Result<Prediction> ahead = predict(*made, machine, BuildOptions{.stage_level = true});
    ASSERT_EQ(behind.ok(), ahead.ok());
    if (!behind) continue;
    const double shared = made->mesh.pp > 1 && meets_blocks(*made) ? 1.02 : 1;
    EXPECT_LE(static_cast<double>(ahead->timeline.duration.count()),
              shared * static_cast<double>(behind->timeline.duration.count()))
        << to_json(*made).dump();
    EXPECT_EQ(ahead->needed_bytes, behind->needed_bytes);
    shorter += ahead->timeline.duration < behind->timeline.duration ? 1 : 0;
    ++compared;
  }
  EXPECT_GT(compared, 100);
  EXPECT_GT(shorter, compared * 9 / 10);
}

TEST(Bounds, AreNoHigherWhateverIsSet) {
  AnySetup any(31);
  Machine machine = *find_machine("dgx-h100");
  int compared = 0, raised_alone = 0;
  double laned_shares = 0, byte_shares = 0;
  for (int trial = 0; trial < 900; ++trial) {
    const auto made = any.make(machine);
    if (!made) continue;
    const Result<StageTable> table = stage_table(*made, machine);
    const Result<Prediction> prediction =
        predict(*made, machine, BuildOptions{.stage_level = true});
    if (!table || !prediction) continue;
    const StepEnd end = step_end(*made, machine);
    const Bound quick = quick_bound(*made, *table, end);
    const Result<Bound> walked = walked_bound(*made, *table, end);
    const Result<std::int64_t> alone = alone_bound(*made, machine, *table, end);
    const Result<std::int64_t> laned = laned_bound(*made, machine, *table, end);
    ASSERT_TRUE(walked.ok() && alone.ok() && laned.ok());
    const std::int64_t step = prediction->timeline.duration.count();
    const std::string what =
        to_json(*made).dump() + " node of " + std::to_string(machine.devices_per_node);
    EXPECT_LE(quick.nanoseconds, step) << what;
    EXPECT_LE(walked->nanoseconds, step) << what;
    EXPECT_LE(*alone, *laned) << what;
    EXPECT_LE(*laned, step) << what;
    raised_alone += *alone > walked->nanoseconds ? 1 : 0;
    EXPECT_LE(quick.bytes, prediction->needed_bytes) << what;
    EXPECT_LE(walked->bytes, prediction->needed_bytes) << what;
    laned_shares +=
        static_cast<double>(std::max(*laned, walked->nanoseconds)) / static_cast<double>(step);
    byte_shares +=
        static_cast<double>(walked->bytes) / static_cast<double>(prediction->needed_bytes);
    ++compared;
  }
  ASSERT_GT(compared, 300);
  EXPECT_GT(raised_alone, 10);
  EXPECT_GT(laned_shares / compared, 0.75);  // small models wait for messages that bounds leave out
  EXPECT_GT(byte_shares / compared, 0.95);
}

// Nodes that share cards, leaf groups that let out a part of them, switches that add up.
TEST(Bounds, AreNoHigherOnAnyNetwork) {
  AnySetup any(77);
  std::mt19937 random(5);
  const auto one_of = [&](std::initializer_list<double> values) {
    return values.begin()[random() % values.size()];
  };
  Machine machine = *find_machine("dgx-h100");
  int compared = 0;
  for (int trial = 0; trial < 400; ++trial) {
    machine.nics_per_node.value = one_of({0, 1, 2, 4, 16});
    machine.nodes_per_leaf.value = one_of({1, 2, 3});
    machine.oversubscription.value = one_of({1, 2, 7, 50});
    machine.in_network_reduction = one_of({0, 1}) > 0;
    machine.inter_node.bytes_per_second.value = one_of({1e9, 5e9, 50e9});
    const auto made = any.make(machine);
    if (!made) continue;
    const Result<StageTable> table = stage_table(*made, machine);
    const Result<Prediction> prediction =
        predict(*made, machine, BuildOptions{.stage_level = true});
    if (!table || !prediction) continue;
    const StepEnd end = step_end(*made, machine);
    const Result<Bound> walked = walked_bound(*made, *table, end);
    const Result<std::int64_t> laned = laned_bound(*made, machine, *table, end);
    ASSERT_TRUE(walked.ok() && laned.ok());
    const std::int64_t step = prediction->timeline.duration.count();
    const std::string what = to_json(*made).dump() + to_json(machine).dump().substr(0, 200);
    EXPECT_LE(quick_bound(*made, *table, end).nanoseconds, step) << what;
    EXPECT_LE(walked->nanoseconds, step) << what;
    EXPECT_LE(*laned, step) << what;
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

// Why a space leaves such plans out: without data that moves in every action, an interleaved plan
// on one stage takes as long as 1F1B, to the nanosecond, and needs as much memory or more.
TEST(Space, LeavesOutInterleavedPlansThatComeTo1F1B) {
  AnySetup any(77);
  std::mt19937 random(3);
  Machine machine = *find_machine("dgx-h100");
  int compared = 0, larger = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const auto made = any.make(machine);
    if (!made) continue;
    auto plain = *made;
    plain.mesh.pp = plain.chunks = 1;
    plain.schedule = "1f1b";
    plain.stage_layers.clear();
    plain.microbatches = 1 + static_cast<int>(random() % 5);
    if (plain.mesh.dp * plain.mesh.cp > 1) plain.zero = static_cast<int>(random() % 2);
    plain.offload_activations = false;
    plain.recompute_layers = plain.microbatch_group = 0;
    auto interleaved = plain;
    interleaved.schedule = "interleaved";
    interleaved.chunks = 2 + static_cast<int>(random() % 3);
    if (random() % 3 == 0 && plain.model.layers > 2) {
      interleaved.chunks = 2;
      interleaved.stage_layers = {1, plain.model.layers - 1};
    }
    if (!validate(plain).empty() || !validate(interleaved).empty()) continue;
    const Result<Tried> one = try_setup(plain, machine, false);
    const Result<Tried> other = try_setup(interleaved, machine, false);
    if (!one || !other) continue;
    const std::string what = to_json(interleaved).dump();
    EXPECT_EQ(other->plan.time, one->plan.time) << what;
    EXPECT_GE(other->plan.needed_bytes, one->plan.needed_bytes) << what;
    larger += other->plan.needed_bytes > one->plan.needed_bytes ? 1 : 0;
    ++compared;
  }
  EXPECT_GT(compared, 100);
  EXPECT_GT(larger, 10);
}

// Of experts: groups lie on as few nodes as the order of ranks lets them, and ZeRO gathers a bucket
// of a layer's experts and one of its other parameters.
TEST(Bounds, AreCloseForExperts) {
  const Machine machine = *find_machine("dgx-h100");
  auto setup = default_setup();
  setup.model = *find_model("qwen3-30b-a3b");
  setup.machine = "dgx-h100";
  setup.precision = *find_precision("mixed-16-main-grads");
  setup.attention = Attention::kFused;
  setup.mesh = Mesh();
  setup.mesh.tp = setup.mesh.pp = 4;
  setup.mesh.dp = 4;
  setup.microbatches = 16;
  setup.recompute = Recompute::kFull;
  std::int64_t steps[2] = {};  // by order of ranks, without ZeRO
  for (const int ep : {2, 4})
    for (const RankOrder order : {RankOrder::kTpCpEpDpPp, RankOrder::kTpCpEpPpDp})
      for (const int zero : {0, 1, 2, 3}) {
        setup.mesh.ep = ep;
        setup.mesh.order = order;
        setup.zero = zero;
        ASSERT_TRUE(validate(setup).empty()) << validate(setup).front().text;
        const Result<StageTable> table = stage_table(setup, machine);
        const Result<Prediction> prediction =
            predict(setup, machine, BuildOptions{.stage_level = true});
        ASSERT_TRUE(table.ok() && prediction.ok());
        const StepEnd end = step_end(setup, machine);
        const Result<Bound> walked = walked_bound(setup, *table, end);
        const Result<std::int64_t> laned = laned_bound(setup, machine, *table, end);
        ASSERT_TRUE(walked.ok() && laned.ok());
        const std::int64_t step = prediction->timeline.duration.count();
        const std::int64_t bound = std::max(*laned, walked->nanoseconds);
        const std::string what = to_json(setup).dump();
        EXPECT_LE(bound, step) << what;
        EXPECT_LE(walked->bytes, prediction->needed_bytes) << what;
        EXPECT_GT(static_cast<double>(bound), 0.95 * static_cast<double>(step)) << what;
        EXPECT_GT(static_cast<double>(walked->bytes),
                  0.98 * static_cast<double>(prediction->needed_bytes))
            << what;
        if (zero == 0) steps[static_cast<std::size_t>(order)] = step;
      }
  EXPECT_GT(steps[1], steps[0]);  // tokens leave their node
}

// What is added up over replicas once a step is not hidden behind the last backward.
TEST(Bounds, KnowTheLastReductions) {
  const Machine machine = *find_machine("dgx-h100");
  auto setup = default_setup();
  setup.model = *find_model("llama3-8b");
  setup.machine = "dgx-h100";
  setup.precision = *find_precision("mixed-16-main-grads");
  setup.attention = Attention::kFused;
  setup.mesh = Mesh();
  setup.mesh.tp = 4;
  setup.mesh.dp = 16;
  setup.microbatches = 4;
  for (const int pp : {1, 2, 4})
    for (const char* schedule : {"1f1b", "interleaved", "zb-h1", "zb-v"})
      for (const int zero : {0, 1})
        for (const int group : {0, 8}) {
          setup.mesh.pp = pp;
          setup.schedule = Schedule(schedule);
          setup.chunks = schedule == std::string("interleaved") ? 2 : 1;
          setup.zero = zero;
          setup.zero_group = zero > 0 ? group : 0;
          if (!validate(setup).empty()) continue;
          const Result<StageTable> table = stage_table(setup, machine);
          const Result<Prediction> prediction =
              predict(setup, machine, BuildOptions{.stage_level = true});
          ASSERT_TRUE(table.ok() && prediction.ok());
          const Result<std::int64_t> laned =
              laned_bound(setup, machine, *table, step_end(setup, machine));
          ASSERT_TRUE(laned.ok());
          const auto step = static_cast<double>(prediction->timeline.duration.count());
          const std::string what = to_json(setup).dump();
          EXPECT_LE(static_cast<double>(*laned), step) << what;
          EXPECT_GT(static_cast<double>(*laned), 0.965 * step) << what;
        }
}

// The input part of a first stage without layers has no op, so that nothing waits for its gradient.
TEST(Bounds, DoNotWaitWhereAStageHasNoLayers) {
  const Machine machine = *find_machine("dgx-h100");
  auto setup = default_setup();
  setup.machine = "dgx-h100";
  setup.precision = *find_precision("fp32");
  setup.attention = Attention::kFused;
  setup.mesh = Mesh();
  setup.mesh.tp = 8;
  setup.mesh.pp = 2;
  setup.micro_batch = 4;
  setup.sequence_parallel = true;
  int compared = 0;
  for (const char* model : {"qwen3-30b-a3b", "llama3-8b"})
    for (const char* schedule : {"v-half", "v-min", "zb-v"})
      for (const auto& layers : {std::vector{0, 1, 1, 0}, {0, 2, 0, 0}, {1, 0, 1, 0}})
        for (const int microbatches : {2, 3, 8}) {
          setup.model = *find_model(model);
          setup.model.name = "custom";
          setup.model.layers = 2;
          setup.schedule = Schedule(schedule);
          setup.stage_layers = layers;
          setup.microbatches = microbatches;
          if (!validate(setup).empty()) continue;
          const Result<StageTable> table = stage_table(setup, machine);
          const Result<Prediction> prediction =
              predict(setup, machine, BuildOptions{.stage_level = true});
          ASSERT_TRUE(table.ok() && prediction.ok());
          const StepEnd end = step_end(setup, machine);
          const Result<Bound> walked = walked_bound(setup, *table, end);
          const Result<std::int64_t> laned = laned_bound(setup, machine, *table, end);
          ASSERT_TRUE(walked.ok() && laned.ok());
          const std::int64_t step = prediction->timeline.duration.count();
          const std::string what = to_json(setup).dump();
          EXPECT_LE(quick_bound(setup, *table, end).nanoseconds, step) << what;
          EXPECT_LE(walked->nanoseconds, step) << what;
          EXPECT_LE(*laned, step) << what;
          EXPECT_GT(static_cast<double>(walked->nanoseconds), 0.8 * static_cast<double>(step))
              << what;
          ++compared;
        }
  EXPECT_GT(compared, 15);
}

}  // namespace
}  // namespace parallelarium
