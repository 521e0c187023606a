// SPDX-License-Identifier: Apache-2.0
// What the bounds of a search read of a stage alone is what the stage does in a pipeline.
#include "engine/passes/fold/lone_stages.h"

#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "engine/passes/build.h"
#include "engine/plan/program/report.h"
#include "engine/planner/bounds/stage_family.h"
#include "engine/planner/bounds/stage_reader.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {
namespace {

// An op of an action, or a transfer between stages, and what its rank then holds beside its states.
using Deed =
    std::tuple<OpKind, Lane, Piece, Phase, int, Purpose, std::int64_t, double, std::int64_t>;

std::vector<Deed> deeds_of(const Program& program, const RankProgram& rank) {
  std::vector<Deed> deeds;
  for_held_bytes(program, rank, [&](const HeldBytes& held) {
    if (held.op < 0) return;
    const Op& op = rank.ops[static_cast<std::size_t>(held.op)];
    const bool transfer = op.kind == OpKind::kSend || op.kind == OpKind::kRecv;
    if (op.action < 0 && !transfer) return;
    double flops = 0;
    if (op.work >= 0)
      for (const Work& work : program.works[static_cast<std::size_t>(op.work)]) flops += work.flops;
    deeds.emplace_back(op.kind, op.lane, op.piece, op.phase, op.layer, op.purpose, op.bytes, flops,
                       held.at_peak[static_cast<std::size_t>(Category::kActivations)] +
                           held.at_peak[static_cast<std::size_t>(Category::kBuffers)]);
  });
  return deeds;
}

class AnyStages {
 public:
  explicit AnyStages(unsigned seed) : random_(seed) {}

  Setup make() {
    Setup setup = default_setup();
    setup.model = *find_model(one_of({"gpt-tiny", "llama3-8b", "deepseek-v2", "deepseek-v3",
                                      "qwen3-30b-a3b", "gpt-oss-20b", "kimi-k2"}));
    setup.model.name = "custom";
    setup.model.layers = 9;
    setup.model.stage_layers.clear();
    setup.machine = "dgx-h100";
    setup.precision = *find_precision("mixed-16");
    setup.attention = often(3) ? Attention::kUnfused : Attention::kFused;
    setup.mesh = Mesh();
    setup.mesh.pp = 3;
    setup.mesh.tp = one_of({1, 2, 4});
    setup.mesh.cp = one_of({1, 1, 2});
    if (setup.model.experts.count > 0) setup.mesh.dp = setup.mesh.ep = one_of({1, 2, 8});
    setup.sequence_parallel = setup.mesh.tp > 1 && often(2);
    if (setup.model.experts.count > 0 && often(2)) {  // of whole experts an EP group, too
      setup.mesh.expert_tensor = false;
      setup.mesh.dp = setup.mesh.least_replicas();
    }
    setup.stage_layers = often(2) ? std::vector{3, 3, 3} : std::vector{5, 2, 2};
    setup.microbatches = 1;
    setup.micro_batch = one_of({1, 2});
    setup.recompute = one_of({Recompute::kNone, Recompute::kFull, Recompute::kSelective});
    setup.recompute_layers = setup.recompute == Recompute::kFull && often(3) ? 1 : 0;
    setup.overlap_pipeline = !often(4);
    setup.overlap_experts = often(3);
    setup.offload_activations = often(5);
    setup.scatter_gather = often(2);
    return setup;
  }

 private:
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[random_() % values.size()];
  }
  bool often(unsigned one_in) { return random_() % one_in == 0; }

  std::mt19937 random_;
};

std::vector<LoneStage> stages_of_pipeline(const Setup& setup) {
  std::vector<LoneStage> stages;
  int begin = 0;
  for (const int layers : setup.stage_layers) {
    LoneStage& stage = stages.emplace_back();
    stage.place = static_cast<int>(stages.size()) - 1;
    stage.chunk.first = stage.place == 0;
    stage.chunk.last = stages.size() == setup.stage_layers.size();
    stage.chunk.begin = begin;
    for (int layer = 0; layer < layers; ++layer) stage.chunk.layers.push_back(begin + layer);
    begin += layers;
  }
  return stages;
}

TEST(LoneStages, DoWhatTheyDoInAPipeline) {
  AnyStages any(41);
  int compared = 0;
  for (int trial = 0; trial < 60; ++trial) {
    auto setup = any.make();
    if (!validate(setup).empty()) continue;
    const std::vector<LoneStage> stages = stages_of_pipeline(setup);
    for (const bool split : {false, true}) {
      setup.schedule = split ? "zb-h1" : "gpipe";
      const Result<Order> order = make_order(setup);
      ASSERT_TRUE(order.ok());
      const Result<Program> whole =
          build_program(setup, *order, BuildOptions{.representatives = true});
      ASSERT_TRUE(whole.ok()) << whole.error().text;
      const Program lone = lone_stages(setup, local_sizes(setup), stages);
      for (std::size_t stage = 0; stage < stages.size(); ++stage) {
        const std::string what = to_json(setup).dump() + " stage " + std::to_string(stage);
        const auto expected = deeds_of(*whole, whole->ranks[stage]);
        const auto found = deeds_of(lone, lone.ranks[2 * stage + (split ? 1 : 0)]);
        ASSERT_EQ(found.size(), expected.size()) << what;
        for (std::size_t at = 0; at < found.size(); ++at)
          ASSERT_EQ(found[at], expected[at]) << at << " of " << what;
        EXPECT_FALSE(expected.empty());
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 150);
}

// What follows from two and three layers is what seven are read to take.
TEST(StageFamilies, KnowStagesOfMoreLayers) {
  AnyStages any(42);
  const Machine machine = *find_machine("dgx-h100");
  int compared = 0;
  for (int trial = 0; trial < 60; ++trial) {
    auto setup = any.make();
    setup.model.layers = 24;
    setup.stage_layers = {10, 7, 7};
    setup.offload_activations = false;
    setup.recompute_layers = 0;
    setup.mesh.dp = setup.mesh.ep;
    if (!validate(setup).empty()) continue;
    const Result<StageTable> table = stage_table(setup, machine);
    ASSERT_TRUE(table.ok()) << table.error().text;
    const Program program = lone_stages(setup, local_sizes(setup), stages_of_pipeline(setup));
    const CostModel cost(program, machine, setup);
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
      const int stage = static_cast<int>(rank / 2);
      const StageBound& known = table->stage(stage, rank % 2 == 1);
      const StageBound read = read_stage(program, program.ranks[rank], cost, true);
      const std::string what = to_json(setup).dump() + " rank " + std::to_string(rank);
      for (std::size_t kind = 0; kind < 4; ++kind) {
        const ActionBound &a = known.actions[kind], &b = read.actions[kind];
        EXPECT_EQ(a.busy, b.busy) << what;
        EXPECT_LE(a.duration, b.duration) << what;
        EXPECT_LE(a.peak_bytes, b.peak_bytes) << what;
        EXPECT_GE(1.001 * static_cast<double>(a.peak_bytes), static_cast<double>(b.peak_bytes))
            << what;
        EXPECT_EQ(known.stretches[kind].size(), read.stretches[kind].size()) << what;
      }
      EXPECT_EQ(known.kept_bytes, read.kept_bytes) << what;
      EXPECT_EQ(known.experts, read.experts) << what;
      EXPECT_EQ(known.shared, read.shared) << what;
      ++compared;
    }
  }
  EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace parallelarium
