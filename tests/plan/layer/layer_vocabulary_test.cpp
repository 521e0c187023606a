// SPDX-License-Identifier: Apache-2.0
// The description of embedding, head and loss says what the Program and its buffers say.
#include "engine/plan/layer/layer_vocabulary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "engine/passes/build.h"
#include "engine/plan/layer/layer_steps.h"
#include "engine/schedules/schedule.h"
#include "tests/predict/built.h"

namespace parallelarium {
namespace {

Setup setup_of(const char* model, int tp, bool sequence_parallel, bool tied = false, int pp = 1) {
  Setup setup = default_setup();
  setup.model = *find_model(model);
  setup.model.tied = tied;
  setup.mesh = {};
  setup.mesh.tp = tp;
  setup.mesh.pp = pp;
  setup.sequence_parallel = sequence_parallel;
  setup.micro_batch = 2;
  setup.microbatches = 2;
  return setup;
}

std::vector<Setup> vocabulary_setups() {
  std::vector<Setup> all;
  for (const char* model : {"gpt-tiny", "llama-tiny"})
    for (const int tp : {1, 2, 4})
      for (const bool sequence_parallel : {false, true})
        for (const bool tied : {false, true})
          for (const int pp : {1, 2})
            if (tp > 1 || !sequence_parallel)
              all.push_back(setup_of(model, tp, sequence_parallel, tied, pp));
  return all;
}

LayerSteps steps_of(const Setup& setup, const Program& program, LayerPlace part, bool backward,
                    int microbatch = 1) {
  return layer_steps(setup, program, {0, microbatch, backward, part});
}

bool is_piece_outside_of_layers(const Op& op) {
  static const std::set<Piece> pieces = {Piece::kEmbedding, Piece::kFinalNorm, Piece::kHead,
                                         Piece::kLossMax,   Piece::kLossSum,   Piece::kLoss};
  return op.kind == OpKind::kCompute && pieces.count(op.piece) > 0;
}

// What the first rank of each stage computes and sends of a micro-batch outside of its layers.
struct Outside {
  double flops = 0;
  std::int64_t sent_bytes = 0;
};
Outside outside_of_layers(const Setup& setup, const Program& program, int microbatch) {
  Outside out;
  for (int stage = 0; stage < setup.mesh.pp; ++stage) {
    const RankProgram& rank = program.ranks[std::size_t(
        representative_of(program, setup.mesh, rank_of(setup.mesh, {.pp = stage})))];
    for (const Op& op : rank.ops) {
      if (op.microbatch != microbatch || op.layer >= 0) continue;
      if (is_piece_outside_of_layers(op))
        for (const Work& work : program.works[std::size_t(op.work)]) out.flops += work.flops;
      if (op.kind != OpKind::kCollective) continue;
      const Group& group = program.groups[std::size_t(op.group)];
      if (group.axis != Axis::kTp) continue;
      const auto at = std::find(group.ranks.begin(), group.ranks.end(), rank.rank);
      out.sent_bytes += collective_volume(op.collective, op.type, op.bytes, int(group.ranks.size()),
                                          int(at - group.ranks.begin()))
                            .sent;
    }
  }
  return out;
}

std::string name_of_setup(const Setup& setup) {
  return std::string(setup.model.mlp == Mlp::kGelu ? "gpt" : "llama") + " tp " +
         std::to_string(setup.mesh.tp) + " pp " + std::to_string(setup.mesh.pp) +
         (setup.sequence_parallel ? " sp" : "") + (setup.model.tied ? " tied" : "");
}

TEST(LayerVocabulary, FlopsAndSentBytesOfBothPartsAndDirectionsAreAllThatStandsOutsideOfLayers) {
  for (const auto& setup : vocabulary_setups()) {
    const Program program = built(setup);
    const Outside expected = outside_of_layers(setup, program, 1);
    Outside found;
    for (const LayerPlace part : {LayerPlace::kEmbedding, LayerPlace::kHead})
      for (const bool backward : {false, true}) {
        const LayerRankStep total = layer_total(steps_of(setup, program, part, backward), 0);
        found.flops += total.flops;
        found.sent_bytes += total.sent_bytes;
      }
    EXPECT_GT(found.flops, 0);
    EXPECT_DOUBLE_EQ(found.flops, expected.flops) << name_of_setup(setup);
    EXPECT_EQ(found.sent_bytes, expected.sent_bytes) << name_of_setup(setup);
    EXPECT_EQ(found.sent_bytes > 0, setup.mesh.tp > 1);
  }
}

// Shoeybi et al. 2019, section 3: three numbers of each token, where logits are as many as words.
TEST(LayerVocabulary, TheLossAddsUpThreeNumbersOfEachTokenInsteadOfAllLogits) {
  for (const auto& setup : vocabulary_setups()) {
    const Program program = built(setup);
    const LayerSteps layer = steps_of(setup, program, LayerPlace::kHead, false);
    const LayerVocabulary& of = layer.vocabulary;
    const std::int64_t tokens = setup.micro_batch * setup.model.sequence, t = setup.mesh.tp;
    EXPECT_EQ(of.tokens, tokens);
    EXPECT_EQ(of.words, setup.model.vocab);
    EXPECT_EQ(of.whole_logits_bytes, 4 * tokens * setup.model.vocab);
    EXPECT_EQ(of.logits_bytes, 4 * tokens * of.held_words);
    std::string numbers;
    for (const LayerStep& step : layer.steps)
      if (step.purpose == Purpose::kLoss) numbers += step.number + " ";
    if (t == 1) {
      EXPECT_EQ(of.loss_collectives, 0);
      EXPECT_EQ(of.gathered_sent_bytes, 0);
      EXPECT_EQ(numbers, "");
      continue;
    }
    EXPECT_EQ(numbers, "max sum target ");
    EXPECT_EQ(of.loss_collectives, 3);
    EXPECT_EQ(of.loss_bytes, 4 * tokens);
    EXPECT_EQ(of.loss_sent_bytes, 3 * 2 * 4 * tokens * (t - 1) / t) << name_of_setup(setup);
    EXPECT_EQ(of.gathered_sent_bytes, of.whole_logits_bytes / t * (t - 1));
    const LayerVocabulary back = steps_of(setup, program, LayerPlace::kHead, true).vocabulary;
    EXPECT_EQ(back.loss_collectives, 0);
    EXPECT_EQ(back.logits_bytes, of.logits_bytes);
  }
}

// The last layer's output, the final norm's, logits, which become their own gradients, and three
// numbers of each token.
TEST(LayerVocabulary, TheHeadKeepsWhatTheBufferTableHoldsForItsBackward) {
  for (const auto& setup : vocabulary_setups()) {
    const Program program = built(setup);
    const LayerSteps layer = steps_of(setup, program, LayerPlace::kHead, false);
    const RankProgram& rank = program.ranks[std::size_t(layer.ranks.front().built)];
    const auto head_of = [&](const Op& op) {
      return op.microbatch == 1 && op.layer < 0 && op.piece != Piece::kEmbedding;
    };
    int last_forward = -1;
    for (std::size_t at = 0; at < rank.ops.size(); ++at)
      if (head_of(rank.ops[at]) && rank.ops[at].phase == Phase::kForward &&
          is_piece_outside_of_layers(rank.ops[at]))
        last_forward = int(at);
    std::set<std::int32_t> held;
    for (const Op& op : rank.ops) {
      if (!head_of(op) || op.phase == Phase::kForward) continue;
      for (const Operand& operand : rank.operands_of(op)) {
        const Buffer& buffer = rank.buffers[std::size_t(operand.buffer)];
        if (buffer.category == Category::kActivations && buffer.opened_by >= 0 &&
            buffer.opened_by <= last_forward && buffer.closed_by > last_forward)
          held.insert(operand.buffer);
      }
    }
    std::int64_t expected = 0;
    for (const std::int32_t buffer : held) expected += rank.buffers[std::size_t(buffer)].bytes;
    EXPECT_GT(expected, layer.vocabulary.logits_bytes);
    EXPECT_EQ(layer_total(layer, 0).kept_bytes, expected) << name_of_setup(setup);
    EXPECT_EQ(layer_total(steps_of(setup, program, LayerPlace::kEmbedding, false), 0).kept_bytes,
              0);
  }
}

TEST(LayerVocabulary, RanksHaveWordsSideBySideAndAddUpTheRowsThatTheyLookedUp) {
  for (const auto& setup : vocabulary_setups()) {
    const Program program = built(setup);
    const LayerSteps embedding = steps_of(setup, program, LayerPlace::kEmbedding, false);
    const LayerSteps head = steps_of(setup, program, LayerPlace::kHead, false);
    const auto tensor_of = [](const LayerSteps& layer, Piece piece, std::size_t rank,
                              const std::string& name) {
      for (const LayerStep& step : layer.steps)
        if (step.piece == piece && step.kind == LayerStepKind::kCompute)
          for (const LayerTensor& tensor : step.ranks[rank].tensors)
            if (tensor.name == name) return tensor;
      ADD_FAILURE() << name;
      return LayerTensor{};
    };
    std::int64_t end = 0;
    for (std::size_t rank = 0; rank < std::size_t(setup.mesh.tp); ++rank) {
      const LayerTensor table = tensor_of(embedding, Piece::kEmbedding, rank, "w");
      EXPECT_EQ(table.rows, setup.model.vocab);
      EXPECT_EQ(table.columns, setup.model.hidden);
      ASSERT_EQ(table.row_ranges.size(), 1u);
      EXPECT_EQ(table.row_ranges[0].begin, end);
      end = table.row_ranges[0].end;
      const LayerTensor weight = tensor_of(head, Piece::kHead, rank, "w");
      EXPECT_EQ(weight.rows, setup.model.hidden);
      EXPECT_EQ(weight.column_ranges[0].end, end);
      EXPECT_EQ(tensor_of(head, Piece::kHead, rank, "logits").column_ranges[0].end, end);
      EXPECT_EQ(tensor_of(embedding, Piece::kEmbedding, rank, "x").partial, setup.mesh.tp > 1);
    }
    EXPECT_EQ(end, setup.model.vocab);
  }
}

TEST(LayerVocabulary, OperatorsAreThoseOfThePapers) {
  const auto symbols = [](bool sequence_parallel, LayerPlace part, bool backward) {
    const auto setup = setup_of("gpt-tiny", 2, sequence_parallel);
    std::string all;
    for (const LayerStep& step : steps_of(setup, built(setup), part, backward).steps)
      if (step.kind != LayerStepKind::kCompute && !step.symbol.empty())
        all += step.symbol + (step.kind == LayerStepKind::kNothingSent ? "- " : "+ ");
    return all;
  };
  EXPECT_EQ(symbols(false, LayerPlace::kEmbedding, false), "g+ ");
  EXPECT_EQ(symbols(false, LayerPlace::kEmbedding, true), "g- ");
  EXPECT_EQ(symbols(false, LayerPlace::kHead, false), "f- ");
  EXPECT_EQ(symbols(false, LayerPlace::kHead, true), "f+ ");
  EXPECT_EQ(symbols(true, LayerPlace::kEmbedding, false), "\u1e21+ ");
  EXPECT_EQ(symbols(true, LayerPlace::kEmbedding, true), "\u1e21+ ");
  EXPECT_EQ(symbols(true, LayerPlace::kHead, false), "g+ ");
  EXPECT_EQ(symbols(true, LayerPlace::kHead, true), "g+ ");
}

// A tied table is one where first and last stage are one rank; else both copies' gradients are
// added up once a step.
TEST(LayerVocabulary, SaysWhetherTheHeadUsesTheEmbeddingsTable) {
  for (const auto& setup : vocabulary_setups()) {
    const Program program = built(setup);
    for (const LayerPlace part : {LayerPlace::kEmbedding, LayerPlace::kHead}) {
      const LayerVocabulary of = steps_of(setup, program, part, false).vocabulary;
      EXPECT_EQ(of.tied, setup.model.tied);
      EXPECT_EQ(of.two_tables, setup.model.tied && setup.mesh.pp > 1);
      EXPECT_EQ(of.tied_sent_bytes, of.two_tables ? of.held_words * setup.model.hidden * 4 : 0)
          << name_of_setup(setup);
    }
  }
}

}  // namespace
}  // namespace parallelarium
