// SPDX-License-Identifier: Apache-2.0
// A Program that is folded takes the time, holds the bytes and moves the messages of the same
// Program piece by piece: there is no jump where a Setup becomes too large to be built of pieces.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/plan/machine/presets.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/predict/memory.h"
#include "engine/predict/predict.h"
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
    if (setup.model.experts.count > 0) setup.mesh.ep = pick({1, 2});
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

class Folded : public testing::TestWithParam<int> {};

TEST_P(Folded, EqualsItsPieces) {
  const parallelarium::Setup setup = Drawer(static_cast<unsigned>(GetParam())).draw();
  SCOPED_TRACE(text_of(setup));
  const Order order = *make_order(setup);
  const Program pieces = *build_program(setup, order);
  const Program folded = *build_program(setup, order, {.stage_level = true});
  ASSERT_EQ(pieces.ranks.size(), folded.ranks.size());
  for (const Message& fault : check(folded)) ADD_FAILURE() << fault.text;
  const ExpertRows rows = *ExpertRows::make(setup, nullptr);
  Machine contended = machine();
  contended.overlap_slowdown.value = 1.2;
  for (const Machine& on : {machine(), *find_machine("dgx-h100"), contended}) {
    const Timeline one = simulate(pieces, CostModel(pieces, on, setup, &rows));
    // Where computing slows beside communication, it matters that a fold's collectives stand behind
    // its products.
    const double apart =
        on.overlap_slowdown.value > 1 ? 0.02 * static_cast<double>(one.duration.count()) : 0;
    const Timeline other = simulate(folded, CostModel(folded, on, setup, &rows));
    EXPECT_NEAR(one.duration.count(), other.duration.count(), apart);
    for (std::size_t rank = 0; rank < pieces.ranks.size(); ++rank) {
      const auto a = actions_of(pieces, one, rank), b = actions_of(folded, other, rank);
      ASSERT_EQ(a.size(), b.size());
      for (const auto& [action, span] : a) {
        EXPECT_NEAR(span.begin.count(), b.at(action).begin.count(), apart) << rank << action;
        EXPECT_NEAR(span.end.count(), b.at(action).end.count(), apart) << rank << action;
      }
    }
    const StepFigures pieces_step = step_figures(pieces, one, setup, on);
    const StepFigures folded_step = step_figures(folded, other, setup, on);
    EXPECT_NEAR(folded_step.hfu / pieces_step.hfu, 1, apart > 0 ? 0.02 : 1e-9);
    EXPECT_NEAR(folded_step.compute_seconds, pieces_step.compute_seconds, apart * 1e-9);
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

TEST(Folded, HasFewerOps) {
  parallelarium::Setup setup = small_setup("1f1b", 4, 1, 8, 32);
  EXPECT_LT(built(setup, {.stage_level = true}).op_count() * 15, built(setup, {}).op_count());
  setup.zero = 3;
  setup.mesh.dp = 2;
  EXPECT_LT(built(setup, {.stage_level = true}).op_count() * 2, built(setup, {}).op_count());
}

}  // namespace
}  // namespace parallelarium
