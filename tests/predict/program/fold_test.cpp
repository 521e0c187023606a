// SPDX-License-Identifier: Apache-2.0
// A Program that is folded takes the time, holds the bytes and moves the messages of the same
// Program piece by piece: there is no jump where a Setup becomes too large to be built of pieces.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/plan/machine/presets.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/predict/cost/ring_folds.h"
#include "engine/predict/memory.h"
#include "engine/predict/predict.h"
#include "engine/predict/predict_steps.h"
#include "tests/predict/built.h"
#include "tests/predict/cost/plain_machine.h"

namespace parallelarium {
namespace {

// Draws a Setup over all axes, and draws again until it is valid.
class Drawer {
 public:
  explicit Drawer(unsigned seed) : random_(seed) {}

  Setup draw() {
    for (;;) {
      const Setup setup = any();
      if (validate(setup).empty() && make_order(setup).ok()) return setup;
    }
  }
  // With a ring of TP on the machine, which may be folded where all ranks are alike.
  Setup draw_ring(const Machine& machine) {
    for (;;) {
      Setup setup = any();
      setup.mesh.tp = pick({2, 4});
      setup.sequence_parallel = setup.ring_tensor = true;
      setup.skew = 0;
      if (validate(setup).empty() && make_order(setup).ok() &&
          prediction_options(setup, machine, {.stage_level = true}).representatives)
        return setup;
    }
  }

 private:
  template <class T>
  T pick(std::initializer_list<T> values) {
    return values
        .begin()[std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random_)];
  }

  Setup any() {
    Setup setup = default_setup();
    setup.model = *find_model(pick<const char*>({"gpt-tiny", "llama-tiny", "moe-tiny"}));
    if (pick({0, 0, 0, 1}) == 1) setup.model.latent = {24, 16, 16, 8, 16};
    setup.model.stage_layers.clear();
    setup.model.layers = pick({4, 6, 8});
    setup.mesh.pp = pick({1, 2, 4});
    setup.mesh.tp = pick({1, 1, 2});
    setup.mesh.cp = pick({1, 1, 2, 4});
    setup.mesh.dp = pick({1, 2, 4});
    if (setup.model.experts.count > 0) {
      setup.mesh.ep = pick({1, 2, 4});
      setup.mesh.expert_tensor = pick({true, false});
    }
    setup.mesh.order = pick({RankOrder::kTpCpEpDpPp, RankOrder::kTpCpEpPpDp});
    setup.schedule = std::string(kScheduleRules[std::uniform_int_distribution<std::size_t>(
                                                    0, kScheduleRules.size() - 1)(random_)]
                                     .name);
    if (setup.schedule == "interleaved") setup.chunks = pick({2, 3});
    setup.microbatches = pick({1, 2, 3, 4, 8});
    setup.micro_batch = pick({1, 2});
    setup.sequence_parallel = setup.mesh.tp > 1 && pick({0, 1}) == 1;
    setup.zero = pick({0, 0, 1, 2, 3});
    setup.zero_group = pick({0, 0, 2});
    setup.zero_prefetch = pick({0, 1, 3});
    setup.zero_accumulate = pick({false, true});
    setup.overlap_gradients = pick({true, false});
    setup.overlap_parameters = pick({false, true});
    setup.context_parallel =
        pick({ContextParallel::kRing, ContextParallel::kAllGather, ContextParallel::kUlysses});
    setup.attention = pick({Attention::kFused, Attention::kUnfused});
    setup.cp_split = pick({ContextSplit::kZigzag, ContextSplit::kContiguous});
    setup.sequence_regather = pick({true, true, false});
    setup.zero_reshard = pick({true, true, false});
    setup.gradient_reduction = pick({GradientReduction::kSame, GradientReduction::kFp32});
    setup.overlap_tensor = pick({false, true});
    setup.ring_tensor = setup.sequence_parallel && pick({false, true});
    setup.overlap_pipeline = pick({true, true, false});
    setup.offload_activations = pick({0, 0, 0, 1}) == 1;
    setup.offload_optimizer = pick({0, 0, 1}) == 1;
    setup.recompute =
        pick({Recompute::kNone, Recompute::kSelective, Recompute::kFull, Recompute::kNorms,
              Recompute::kActivation, Recompute::kUpProjection, Recompute::kExperts,
              Recompute::kSelective | Recompute::kNorms | Recompute::kActivation,
              Recompute::kNorms | Recompute::kActivation | Recompute::kSecondProducts});
    setup.recompute_layers = pick({0, 0, 1});
    setup.dropout = pick({0.0, 0.1});
    setup.precision = *find_precision(pick<const char*>({"fp32", "mixed-16"}));
    if (setup.model.experts.count > 0) {
      setup.skew = pick({0.0, 0.3});
      setup.expert_gates = pick({ExpertGates::kResults, ExpertGates::kActivations});
    }
    if (pick({0, 0, 0, 1}) == 1) {
      setup.machine = "hgx-h800";
      setup.products = ProductType::kFp8;
      setup.kept = pick({KeptType::kSame, KeptType::kFp8});
    }
    setup.loss_copies = pick({LossCopies::kNone, LossCopies::kGradient, LossCopies::kFp32});
    setup.scatter_gather = pick({false, true}) && !hands_over_in_a_rank(setup);
    return setup;
  }

  std::mt19937 random_;
};

std::string text_of(const Setup& setup) { return to_json(setup).dump(); }

// When each action of a rank begins and ends, by what its compute lane does.
std::map<std::int32_t, Span> actions_of(const Program& program, const Timeline& timeline,
                                        std::size_t rank) {
  std::map<std::int32_t, Span> actions;
  const auto& ops = program.ranks[rank].ops;
  for (std::size_t at = 0; at < ops.size(); ++at) {
    if (ops[at].lane != Lane::kCompute || ops[at].action < 0) continue;
    const Span span = timeline.ranks[rank].spans[at];
    const auto [found, fresh] = actions.try_emplace(ops[at].action, span);
    if (fresh) continue;
    found->second.begin = std::min(found->second.begin, span.begin);
    found->second.end = std::max(found->second.end, span.end);
  }
  return actions;
}

void expect_same(const StepFigures& folded, const StepFigures& pieces) {
  const nlohmann::json a = to_json(folded, true), b = to_json(pieces, true);
  for (const auto& [key, value] : b.items()) {
    if (value.is_null())
      EXPECT_TRUE(a.at(key).is_null()) << key;
    else
      EXPECT_NEAR(a.at(key).get<double>(), value, 1e-9 * std::abs(value.get<double>())) << key;
  }
}
void expect_same(const Bubble& folded, const Bubble& pieces) {
  EXPECT_NEAR(folded.over_ideal, pieces.over_ideal, 1e-9);
  EXPECT_NEAR(folded.of_total, pieces.of_total, 1e-9);
  EXPECT_NEAR(folded.of_longest_rank, pieces.of_longest_rank, 1e-9);
  ASSERT_EQ(folded.ranks.size(), pieces.ranks.size());
  for (std::size_t rank = 0; rank < pieces.ranks.size(); ++rank)
    EXPECT_NEAR(folded.ranks[rank], pieces.ranks[rank], 1e-9) << rank;
}

// Collectives by steps are ops of their own, which no fold holds: however a step is asked for, it
// takes the same time. A ring's steps take what the transport's ring takes.
TEST(Folds, HoldNoCollectivesBySteps) {
  parallelarium::Setup setup = default_setup();
  setup.model = *find_model("llama-7b");
  setup.machine = "dgx-a100-80g";
  setup.model.layers = 4;
  setup.mesh = Mesh();
  setup.mesh.tp = 4;
  setup.mesh.pp = 2;
  setup.microbatches = 4;
  const Machine on = *find_machine("dgx-a100-80g");
  setup.collectives = "direct";
  const double direct = predict(setup, on)->step.seconds;
  for (const char* collectives : {"ring", "all_reduce=tree", "all_reduce=halving-doubling"}) {
    setup.collectives = collectives;
    const double pieces = predict(setup, on)->step.seconds;
    EXPECT_NEAR(predict(setup, on, {.stage_level = true})->step.seconds, pieces, 1e-9)
        << collectives;
    if (setup.collectives == "ring") {
      EXPECT_NEAR(pieces, direct, 0.02 * direct);
    }
  }
}

class Folded : public testing::TestWithParam<int> {};

// What a rank computes in each action, in issue order: layer, piece, phase and block.
using Computed = std::map<std::int32_t, std::vector<std::tuple<int, Piece, Phase, int>>>;
Computed computed_by(const Program& program, const RankProgram& rank) {
  Computed computed;
  for (const Op& op : rank.ops) {
    if (op.kind != OpKind::kCompute || op.action < 0) continue;
    auto& of = computed[op.action];
    if (op.fold < 0) of.emplace_back(op.layer, op.piece, op.phase, op.block);
    if (op.fold < 0) continue;
    for (const Fold::Part& part : program.folds[static_cast<std::size_t>(op.fold)].parts)
      of.emplace_back(part.layer, part.piece, part.phase, part.block);
  }
  return computed;
}

TEST_P(Folded, EqualsItsPieces) {
  const parallelarium::Setup setup = Drawer(static_cast<unsigned>(GetParam())).draw();
  SCOPED_TRACE(text_of(setup));
  const Order order = *make_order(setup);
  const Program pieces = *build_program(setup, order);
  const Program folded = *build_program(setup, order, {.stage_level = true});
  ASSERT_EQ(pieces.ranks.size(), folded.ranks.size());
  for (const Message& fault : check(folded)) ADD_FAILURE() << fault.text;
  for (std::size_t rank = 0; rank < pieces.ranks.size(); ++rank)
    EXPECT_EQ(computed_by(folded, folded.ranks[rank]), computed_by(pieces, pieces.ranks[rank]));
  const ExpertRows rows = *ExpertRows::make(setup, nullptr);
  Machine contended = machine();
  contended.overlap_slowdown.value = 1.2;
  for (const Machine& on : {machine(), *find_machine("dgx-h100"), contended}) {
    const Timeline one = simulate(pieces, CostModel(pieces, on, setup, &rows));
    const Timeline other = simulate(folded, CostModel(folded, on, setup, &rows));
    EXPECT_EQ(one.duration, other.duration);
    for (std::size_t rank = 0; rank < pieces.ranks.size(); ++rank) {
      const auto a = actions_of(pieces, one, rank), b = actions_of(folded, other, rank);
      ASSERT_EQ(a.size(), b.size());
      for (const auto& [action, span] : a) {
        EXPECT_EQ(span.begin, b.at(action).begin) << rank << ' ' << action;
        EXPECT_EQ(span.end, b.at(action).end) << rank << ' ' << action;
      }
    }
    expect_same(step_figures(folded, other, setup, on), step_figures(pieces, one, setup, on));
    expect_same(bubble_of(folded, other), bubble_of(pieces, one));
  }
  const std::vector<MemoryRow> held = memory_of(pieces), held_folded = memory_of(folded);
  for (std::size_t rank = 0; rank < held.size(); ++rank) {
    EXPECT_EQ(held_folded[rank].peak_bytes, held[rank].peak_bytes) << rank;
    for (int category = 0; category < kCategories; ++category)
      EXPECT_EQ(held_folded[rank].bytes[category], held[rank].bytes[category])
          << rank << ": " << category;
    EXPECT_EQ(traffic_of(folded, static_cast<int>(rank)),
              traffic_of(pieces, static_cast<int>(rank)));
  }
}

INSTANTIATE_TEST_SUITE_P(Drawn, Folded, testing::Range(0, 200));

// Whichever ranks are built for it.
TEST_P(Folded, IsToldAsItsPiecesAre) {
  const parallelarium::Setup setup = Drawer(2000 + static_cast<unsigned>(GetParam())).draw();
  SCOPED_TRACE(text_of(setup));
  for (const char* name : {"dgx-h100", "dgx-a100-80g"}) {
    const Machine on = *find_machine(name);
    const Result<Prediction> pieces = predict(setup, on);
    const Result<Prediction> folded = predict(setup, on, {.stage_level = true});
    ASSERT_TRUE(pieces.ok() && folded.ok());
    expect_same(folded->step, pieces->step);
    expect_same(folded->bubble, pieces->bubble);
  }
}

// Rings of TP go round inside folds, where all ranks are alike and lanes share nothing.
class FoldedRings : public testing::TestWithParam<int> {};

TEST_P(FoldedRings, EqualTheirPieces) {
  const Machine h100 = *find_machine("dgx-h100");
  const parallelarium::Setup setup =
      Drawer(1000 + static_cast<unsigned>(GetParam())).draw_ring(h100);
  SCOPED_TRACE(text_of(setup));
  const Order order = *make_order(setup);
  const Program pieces = *build_program(setup, order, {.representatives = true});
  const BuildOptions options = prediction_options(setup, h100, {.stage_level = true});
  const Program folded = *build_program(setup, order, options);
  ASSERT_EQ(pieces.ranks.size(), folded.ranks.size());
  for (const Message& fault : check(folded)) ADD_FAILURE() << fault.text;
  for (std::size_t rank = 0; rank < pieces.ranks.size(); ++rank)
    EXPECT_EQ(computed_by(folded, folded.ranks[rank]), computed_by(pieces, pieces.ranks[rank]));
  // As a table of transfers has it, hosts take their part of each.
  Machine sends = h100;
  sends.collective_times.push_back({"send", 2, {1024, 1048576}, {8e-6, 14e-6}, 300e9, {}});
  const Machine plain = machine(), launching = sends;
  for (const Machine* each : {&plain, &h100, &launching}) {
    const Machine& on = *each;
    const CostModel cost(folded, on, setup);
    const Timeline one = simulate(pieces, CostModel(pieces, on, setup));
    const Timeline other = simulate(folded, cost);
    EXPECT_EQ(one.duration, other.duration);
    for (std::size_t rank = 0; rank < pieces.ranks.size(); ++rank) {
      const auto a = actions_of(pieces, one, rank), b = actions_of(folded, other, rank);
      ASSERT_EQ(a.size(), b.size());
      for (const auto& [action, span] : a) {
        EXPECT_EQ(span.begin, b.at(action).begin) << rank << ' ' << action;
        EXPECT_EQ(span.end, b.at(action).end) << rank << ' ' << action;
      }
    }
    expect_same(step_figures(folded, other, Repeats(), setup, on, ring_times(folded, cost)),
                step_figures(pieces, one, setup, on));
    expect_same(bubble_of(folded, other), bubble_of(pieces, one));
  }
  const std::vector<MemoryRow> held = memory_of(pieces), held_folded = memory_of(folded);
  for (std::size_t rank = 0; rank < held.size(); ++rank) {
    EXPECT_EQ(held_folded[rank].peak_bytes, held[rank].peak_bytes) << rank;
    for (int category = 0; category < kCategories; ++category)
      EXPECT_EQ(held_folded[rank].bytes[category], held[rank].bytes[category])
          << rank << ": " << category;
    EXPECT_EQ(traffic_of(folded, static_cast<int>(rank)),
              traffic_of(pieces, static_cast<int>(rank)));
  }
}

constexpr int kRingDraws = 150;
INSTANTIATE_TEST_SUITE_P(Drawn, FoldedRings, testing::Range(0, kRingDraws));

// With them in folds, buffers keep their places only on one or two ranks of CP and where gradients
// are summed as they are.
TEST(Folded, TakesRingsInOnlyWhereBuffersKeepTheirPlaces) {
  const Machine h100 = *find_machine("dgx-h100");
  int taken = 0, left = 0;
  for (int draw = 0; draw < kRingDraws; ++draw) {
    const parallelarium::Setup setup = Drawer(1000 + static_cast<unsigned>(draw)).draw_ring(h100);
    SCOPED_TRACE(text_of(setup));
    const BuildOptions options = prediction_options(setup, h100, {.stage_level = true});
    const bool sums_apart =
        setup.gradient_reduction == GradientReduction::kFp32 && setup.precision.gradient_bytes < 4;
    EXPECT_EQ(options.fold_rings, setup.mesh.cp <= 2 && !sums_apart);
    const Program folded = *build_program(setup, *make_order(setup), options);
    const bool takes = std::any_of(folded.folds.begin(), folded.folds.end(),
                                   [](const Fold& fold) { return !fold.moved.empty(); });
    if (!options.fold_rings) {
      EXPECT_FALSE(takes);
    }
    taken += takes;
    left += !options.fold_rings;
  }
  EXPECT_GT(taken, 0);
  EXPECT_GT(left, 0);
}

TEST(Folded, HasNoBlocksOfRingsWhereNothingSharesTheirLane) {
  for (const int pp : {1, 4})
    for (const bool overlaps : {false, true}) {
      parallelarium::Setup setup = small_setup("1f1b", pp, 1, 8, 32);
      setup.mesh.tp = 4;
      setup.model.heads = setup.model.kv_heads = 4;
      setup.sequence_parallel = setup.ring_tensor = true;
      setup.overlap_tensor = overlaps;
      ASSERT_TRUE(validate(setup).empty());
      const BuildOptions options{.representatives = true, .stage_level = true, .fold_rings = true};
      const Program program = built(setup, options);
      for (const RankProgram& rank : program.ranks)
        for (const Op& op : rank.ops) {
          const bool ends = op.microbatch == setup.microbatches - 1;  // norms are added up there
          const bool moves = op.kind == OpKind::kSend || op.kind == OpKind::kRecv;
          const bool tensor = op.group >= 0 && program.groups[op.group].axis == Axis::kTp;
          EXPECT_TRUE(ends || !moves || !tensor || op.lane == Lane::kCompute);
        }
    }
}

TEST(Folded, HasFewerOps) {
  parallelarium::Setup setup = small_setup("1f1b", 4, 1, 8, 32);
  EXPECT_LT(built(setup, {.stage_level = true}).op_count() * 15, built(setup, {}).op_count());
  setup.zero = 3;
  setup.mesh.dp = 2;
  EXPECT_LT(built(setup, {.stage_level = true}).op_count() * 2, built(setup, {}).op_count());
}

}  // namespace
}  // namespace parallelarium
