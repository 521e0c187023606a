// SPDX-License-Identifier: Apache-2.0
// A layer's description says what the Program, its tensors and the papers say; its sums are in
// layer_sums_test.cpp.
#include "engine/plan/layer/layer_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "engine/passes/build.h"
#include "engine/plan/layer/layer_tensor.h"
#include "engine/plan/order/order_graph.h"
#include "engine/predict/memory.h"
#include "engine/predict/predict.h"
#include "engine/schedules/schedule.h"
#include "tests/plan/layer/layer_setups.h"
#include "tests/predict/built.h"

namespace parallelarium {
namespace {

// Sequence parallelism that keeps gathered inputs holds s b h of QKV and of the MLP, where it else
// holds the norms' s b h / t; nothing else of a layer changes.
TEST(LayerSteps, KeepGatheredInputsWholeWhereTheyAreNotGatheredAgain) {
  for (const char* model : {"gpt-tiny", "llama-tiny"})
    for (const int t : {2, 4})
      for (const int pp : {1, 2}) {
        auto setup = default_setup();
        setup.model = *find_model(model);
        setup.mesh.tp = t;
        setup.mesh.pp = pp;
        setup.micro_batch = 2;
        setup.sequence_parallel = true;
        const auto kept = [&](bool again) {
          setup.sequence_regather = again;
          return layer_total(layer_steps(setup, built(setup), {1, 0, false}), 0).kept_bytes;
        };
        const std::int64_t bsh = setup.micro_batch * setup.model.sequence * setup.model.hidden;
        EXPECT_EQ(kept(false) - kept(true), 2 * 4 * (bsh - bsh / t)) << model << t << pp;
      }
}

double factor_of(const LayerKept& kept, double KeptTerm::*factor, bool split, bool held_alone) {
  double sum = 0;
  for (const KeptTerm& term : kept.terms)
    if (term.split == split && (!held_alone || term.because == KeptBecause::kHeld))
      sum += term.*factor;
  return sum;
}

// s b h (10 + 24/t + 5 a s/(h t)) and s b h/t (34 + 5 a s/h), of 16-bit activations and with
// dropout. Source: Korthikanti et al. 2022, table 2.
TEST(LayerKept, TermsAreThoseOfThePaperAndTheirBytesTheProgramsOwn) {
  for (const int tp : {1, 2, 4})
    for (const bool sequence_parallel : {false, true})
      for (const double dropout : {0.0, 0.1})
        for (const Attention attention : {Attention::kUnfused, Attention::kFused}) {
          if (tp == 1 && sequence_parallel) continue;
          auto setup = setup_of(tp, 1, sequence_parallel);
          setup.dropout = dropout;
          setup.attention = attention;
          setup.precision = *find_precision("mixed-16");
          const Program program = built(setup);
          const LayerSteps layer = layer_steps(setup, program, {1, 0, false});
          const LayerKept& kept = layer.kept;
          EXPECT_EQ(factor_of(kept, &KeptTerm::sbh, false, false), 10);
          EXPECT_EQ(factor_of(kept, &KeptTerm::sbh, true, false), 24);
          EXPECT_EQ(factor_of(kept, &KeptTerm::scores, true, false), 5);
          const LayerKept::Bytes& bytes = kept.bytes[std::size_t(kept.cut)];
          EXPECT_EQ(kept.whole_sbh, factor_of(kept, &KeptTerm::sbh, false, true));
          EXPECT_EQ(kept.split_sbh, factor_of(kept, &KeptTerm::sbh, true, true));
          EXPECT_EQ(kept.scores, factor_of(kept, &KeptTerm::scores, true, true));
          std::int64_t held = 0;
          for (const KeptTerm& term : kept.terms) held += term.held_bytes;
          EXPECT_EQ(bytes.all(), held) << tp << sequence_parallel << dropout;
          EXPECT_EQ(held + kept.other_bytes, layer_total(layer, 0).kept_bytes);
          const bool fused = attention == Attention::kFused;
          const double s = double(setup.model.sequence), a = double(setup.model.heads),
                       h = double(setup.model.hidden), sbh = s * double(program.shape.B) * h;
          const double whole = dropout > 0 ? 10 : 8,
                       scores = fused ? 0 : (dropout > 0 ? 5 : 2) * a * s / h;
          const auto of = [&](KeptCut cut) { return double(kept.bytes[std::size_t(cut)].all()); };
          EXPECT_DOUBLE_EQ(of(KeptCut::kWhole), sbh * (whole + 24 + scores));
          EXPECT_DOUBLE_EQ(of(KeptCut::kTensor), sbh * (whole + 24.0 / tp + scores / tp));
          EXPECT_DOUBLE_EQ(of(KeptCut::kSequence), sbh / tp * (whole + 24 + scores));
        }
}

// The table beside what the Program keeps, and beside the formula of memory.
TEST(LayerKept, TermsAddUpToTheProgramsOwnWhateverIsComputedAgain) {
  for (const Recompute recompute : {Recompute::kNone, Recompute::kSecondProducts})
    for (const int tp : {1, 2})
      for (const bool sequence_parallel : {false, true})
        for (const double dropout : {0.0, 0.1}) {
          if (tp == 1 && sequence_parallel) continue;
          auto setup = setup_of(tp, 1, sequence_parallel);
          setup.dropout = dropout;
          setup.recompute = recompute | Recompute::kNorms | Recompute::kActivation;
          setup.attention = Attention::kFused;
          setup.precision = *find_precision("mixed-16");
          const LayerKept kept = layer_steps(setup, built(setup), {1, 0, false}).kept;
          std::int64_t held = 0;
          for (const KeptTerm& term : kept.terms) held += term.held_bytes;
          EXPECT_EQ(kept.bytes[std::size_t(kept.cut)].all(), held)
              << int(recompute) << tp << sequence_parallel << dropout;
          if (dropout == 0) continue;  // the formula counts masks
          EXPECT_DOUBLE_EQ(static_cast<double>(held), layer_activations(setup).bytes)
              << int(recompute) << tp << sequence_parallel;
        }
}

TEST(LayerKept, SaysWhyATermVanishes) {
  const auto reason_of = [](const auto& setup, Tensor tensor) {
    for (const KeptTerm& term : layer_steps(setup, built(setup), {1, 0, false}).kept.terms)
      if (term.tensor == tensor) return term.because;
    return KeptBecause::kHeld;
  };
  auto setup = setup_of(2, 1, false);
  EXPECT_EQ(reason_of(setup, Tensor::kDropoutMasks), KeptBecause::kNoDropout);
  EXPECT_EQ(reason_of(setup, Tensor::kProbabilities), KeptBecause::kFused);
  setup.recompute = Recompute::kFull;
  EXPECT_EQ(reason_of(setup, Tensor::kMlpInOut), KeptBecause::kRecomputed);
  EXPECT_EQ(reason_of(setup, Tensor::kInput), KeptBecause::kHeld);
}

TEST(LayerKept, SaysWhatMakesALayerAnotherThanThePapers) {
  const auto differs = [](const char* model) {
    auto setup = setup_of(1, 1, false);
    setup.model = *find_model(model);
    const LayerKept kept = layer_steps(setup, built(setup), {1, 0, false}).kept;
    EXPECT_EQ(kept.terms.empty(), !kept.differs.empty());
    EXPECT_EQ(kept.number_bytes, 4);
    return kept.differs;
  };
  using enum KeptDiffers;
  EXPECT_EQ(differs("gpt-tiny"), std::vector<KeptDiffers>{});
  EXPECT_EQ(differs("llama-tiny"), (std::vector{kSharedKeys, kGated}));
  const std::vector<KeptDiffers> of_experts = differs("moe-tiny");
  ASSERT_FALSE(of_experts.empty());
  EXPECT_EQ(of_experts.back(), kExperts);
}

TEST(LayerSteps, ShardsOfAProductStandSideBySideAndItsPartsAreSummed) {
  const auto setup = setup_of(4, 1, false);
  const Program program = built(setup);
  const LayerSteps layer = layer_steps(setup, program, {0, 0, false});
  ASSERT_EQ(layer.ranks.size(), 4u);
  const auto step_of = [&](Piece piece) {
    return *std::find_if(layer.steps.begin(), layer.steps.end(),
                         [&](const LayerStep& step) { return step.piece == piece; });
  };
  const auto tensor_of = [](const LayerRankStep& part, const std::string& name) {
    return *std::find_if(part.tensors.begin(), part.tensors.end(),
                         [&](const LayerTensor& tensor) { return tensor.name == name; });
  };
  std::int64_t end = 0;
  for (const LayerRankStep& part : step_of(Piece::kMlpIn).ranks) {
    const LayerTensor weight = tensor_of(part, "w");
    EXPECT_EQ(weight.role, TensorRole::kWeight);
    EXPECT_EQ(weight.rows, setup.model.hidden);
    EXPECT_EQ(weight.held_rows, weight.rows);
    ASSERT_EQ(weight.column_ranges.size(), 1u);
    EXPECT_EQ(weight.column_ranges[0].begin, end);
    end = weight.column_ranges[0].end;
    EXPECT_TRUE(tensor_of(part, "y").copy);
  }
  EXPECT_EQ(end, tensor_of(step_of(Piece::kMlpIn).ranks[0], "w").columns);
  for (const LayerRankStep& part : step_of(Piece::kMlpOut).ranks) {
    EXPECT_LT(tensor_of(part, "w").held_rows, tensor_of(part, "w").rows);
    EXPECT_TRUE(tensor_of(part, "out").partial);
  }
}

// The axes along which a tensor is repeated, as a probe of the op says them.
TEST(LayerSteps, CopiesAreWhatTheTensorsOfTheOpsCallReplicated) {
  for (const auto& setup : axis_setups())
    for (const bool backward : {false, true}) {
      const Program program = built(setup);
      const LayerSteps layer = layer_steps(setup, program, {0, 0, backward});
      for (const LayerStep& step : layer.steps)
        for (std::size_t rank = 0; rank < step.ranks.size(); ++rank) {
          const LayerRankStep& part = step.ranks[rank];
          if (part.first_op < 0 || step.kind != LayerStepKind::kCompute) continue;
          const RankProgram& of = program.ranks[std::size_t(layer.ranks[rank].built)];
          const std::vector<OpTensor> tensors = op_tensors_at(
              setup, program.shape, of, of.ops[std::size_t(part.first_op)], layer.ranks[rank].at);
          ASSERT_EQ(tensors.size(), part.tensors.size());
          for (std::size_t at = 0; at < tensors.size(); ++at) {
            const auto& axes = tensors[at].replicated;
            const bool replicated = std::any_of(axes.begin(), axes.end(), [](Axis axis) {
              return axis == Axis::kTp || axis == Axis::kCp;
            });
            EXPECT_EQ(part.tensors[at].copy, replicated)
                << name_of(step.piece) << ' ' << tensors[at].name << " tp " << setup.mesh.tp
                << " cp " << setup.mesh.cp << " backward " << backward;
          }
        }
    }
}

// Four ranks of TP share two heads of keys and values: 0 and 1 have the first, 2 and 3 the second.
TEST(LayerSteps, NeighboursOfTensorParallelismHaveCopiesOfFewerKeyHeads) {
  auto setup = setup_of(4, 1, false);
  setup.model.kv_heads = 2;
  const LayerSteps layer = layer_steps(setup, built(setup), {0, 0, false});
  int shared = 0;
  for (const LayerStep& step : layer.steps)
    for (int rank = 0; rank < int(step.ranks.size()); ++rank)
      for (int at = 0; at < int(step.ranks[std::size_t(rank)].tensors.size()); ++at) {
        const LayerTensor& tensor = step.ranks[std::size_t(rank)].tensors[std::size_t(at)];
        const bool keys = tensor.name == "k" || tensor.name == "v" || tensor.name == "w-k" ||
                          tensor.name == "w-v";
        if (keys) {
          EXPECT_TRUE(tensor.is_shard() && tensor.copy) << tensor.name;
          EXPECT_EQ(ranks_with_same(step, at, rank), std::vector<int>{rank ^ 1}) << tensor.name;
          ++shared;
        }
        if (tensor.name == "q" || tensor.name == "w-q" || tensor.name == "probabilities") {
          EXPECT_FALSE(tensor.copy) << tensor.name;
          EXPECT_TRUE(ranks_with_same(step, at, rank).empty());
        }
      }
  EXPECT_EQ(shared, 4 * (4 + 2));  // weights and what they leave, and what attention finds
}

TEST(LayerSteps, AnExchangeNamesTheRankThatTheProgramSendsTo) {
  const auto setup = setup_of(2, 4, false);
  const Program program = built(setup);
  const LayerSteps layer = layer_steps(setup, program, {0, 0, false});
  int exchanges = 0;
  for (const LayerStep& step : layer.steps) {
    if (step.kind != LayerStepKind::kExchange) continue;
    for (std::size_t rank = 0; rank < step.ranks.size(); ++rank) {
      const int to = step.ranks[rank].sends_to;
      ASSERT_GE(to, 0);
      EXPECT_EQ(layer.ranks[std::size_t(to)].at.tp, layer.ranks[rank].at.tp);
      EXPECT_EQ(layer.ranks[std::size_t(to)].at.cp, (layer.ranks[rank].at.cp + 1) % 4);
      if (program.ranks[std::size_t(layer.ranks[rank].built)].rank != layer.ranks[rank].rank)
        continue;
      const RankProgram& of = program.ranks[std::size_t(layer.ranks[rank].built)];
      for (int op = step.ranks[rank].first_op; op <= step.ranks[rank].last_op; ++op)
        if (of.ops[std::size_t(op)].kind == OpKind::kSend) {
          EXPECT_EQ(of.ops[std::size_t(op)].peer, layer.ranks[std::size_t(to)].rank);
        }
      ++exchanges;
    }
  }
  EXPECT_GT(exchanges, 0);
}

// What comes out of the embedding's collective is what the first layer finds.
TEST(LayerSteps, TheEmbeddingsCollectiveLeavesACopyOrAShard) {
  for (const bool sequence_parallel : {false, true}) {
    const auto setup = setup_of(4, 1, sequence_parallel);
    const LayerSteps layer =
        layer_steps(setup, built(setup), {0, 0, false, LayerPlace::kEmbedding});
    ASSERT_EQ(layer.steps.back().kind, LayerStepKind::kCollective);
    std::int64_t rows = 0;
    for (const LayerRankStep& part : layer.steps.back().ranks) {
      ASSERT_EQ(part.tensors.size(), 1u);
      const LayerTensor& tensor = part.tensors.front();
      EXPECT_EQ(tensor.is_shard(), sequence_parallel);
      EXPECT_EQ(tensor.copy, !sequence_parallel);
      EXPECT_FALSE(tensor.partial);
      EXPECT_EQ(tensor.columns, setup.model.hidden);
      rows += tensor.held_rows;
    }
    EXPECT_EQ(rows,
              layer.steps.back().ranks.front().tensors.front().rows * (sequence_parallel ? 1 : 4));
  }
}

TEST(LayerSteps, OperatorsAreThoseOfThePapers) {
  const auto symbols = [](const auto& setup, bool backward) {
    std::string all;
    for (const LayerStep& step : layer_steps(setup, built(setup), {0, 0, backward}).steps)
      if (step.kind != LayerStepKind::kCompute && !step.symbol.empty())
        all += step.symbol + (step.kind == LayerStepKind::kNothingSent ? "- " : "+ ");
    return all;
  };
  EXPECT_EQ(symbols(setup_of(2, 1, false), false), "f- g+ f- g+ ");
  EXPECT_EQ(symbols(setup_of(2, 1, false), true), "g- f+ g- f+ ");
  EXPECT_EQ(symbols(setup_of(2, 1, true), false), "g+ \u1e21+ g+ \u1e21+ ");
  EXPECT_EQ(symbols(setup_of(2, 1, true), true), "\u1e21+ g+ \u1e21+ g+ ");
  EXPECT_EQ(symbols(setup_of(1, 1, false), false), "");
}

}  // namespace
}  // namespace parallelarium
