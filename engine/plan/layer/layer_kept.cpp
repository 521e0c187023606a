// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/layer/layer_kept.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/plan/layer/layer_steps.h"

namespace parallelarium {

namespace {

bool reads(const RankProgram& rank, const Op& op, std::int32_t buffer) {
  const auto operands = rank.operands_of(op);
  return std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
    return operand.buffer == buffer && operand.access != Access::kWrite;
  });
}

// Where a kept buffer counts, as an index in steps.
std::size_t place_of(const RankProgram& rank, const std::vector<const Op*>& backward,
                     const LayerSteps& steps, std::size_t index, std::int32_t buffer) {
  const auto forward_of = [&](std::size_t at) -> const Op* {
    const int op = steps.steps[at].ranks[index].first_op;
    return op < 0 ? nullptr : &rank.ops[static_cast<std::size_t>(op)];
  };
  std::size_t reader = steps.steps.size();
  for (std::size_t at = 0; at < steps.steps.size(); ++at) {
    const Op* forward = forward_of(at);
    if (!forward) continue;
    if (forward->kind == OpKind::kCompute &&
        std::any_of(backward.begin(), backward.end(), [&](const Op* op) {
          return op->piece == forward->piece && op->block == forward->block &&
                 op->kind == OpKind::kCompute && reads(rank, *op, buffer);
        }))
      return at;
    if (reader == steps.steps.size() && reads(rank, *forward, buffer)) reader = at;
  }
  // What is sent counts at the piece that waits for it.
  while (reader + 1 < steps.steps.size() && steps.steps[reader].kind != LayerStepKind::kCompute)
    ++reader;
  return std::min(reader, steps.steps.size() - 1);
}

// Buffers that wait for the layer's backward on a rank, the last op of its forward, and the ops of
// its backward.
struct Waiting {
  std::set<std::int32_t> kept;
  std::int32_t last_forward = -1;
  std::vector<const Op*> backward;
};

Waiting waiting_for_backward(const Program& program, const RankProgram& rank,
                             const LayerChoice& choice) {
  Waiting out;
  for (std::size_t at = 0; at < rank.ops.size(); ++at)
    if (rank.ops[at].phase == Phase::kForward && rank.ops[at].lane != Lane::kData &&
        is_op_of_choice(program, rank.ops[at], choice))
      out.last_forward = static_cast<std::int32_t>(at);
  for (const Op& op : rank.ops) {
    if (!is_op_of_choice(program, op, choice) || op.phase == Phase::kForward ||
        op.phase == Phase::kUpdate)
      continue;
    out.backward.push_back(&op);
    for (const Operand& operand : rank.operands_of(op)) {
      const Buffer& buffer = rank.buffers[static_cast<std::size_t>(operand.buffer)];
      if (buffer.category == Category::kActivations && operand.access != Access::kWrite &&
          buffer.opened_by >= 0 && buffer.opened_by <= out.last_forward)
        out.kept.insert(operand.buffer);
    }
  }
  return out;
}

// Source: Korthikanti et al. 2022, section 4.1; the order of the layer.
std::vector<KeptTerm> terms_of_paper() {
  return {{Tensor::kInput, 2, 0, false},       {Tensor::kNorm1Out, 2, 0, false},
          {Tensor::kQkvOut, 6, 0, true},       {Tensor::kProbabilities, 0, 2, true},
          {Tensor::kDropoutMasks, 0, 1, true}, {Tensor::kDroppedProbabilities, 0, 2, true},
          {Tensor::kContext, 2, 0, true},      {Tensor::kDropoutMasks, 2, 0, false},
          {Tensor::kMiddle, 2, 0, false},      {Tensor::kNorm2Out, 2, 0, false},
          {Tensor::kMlpInOut, 8, 0, true},     {Tensor::kActivationOut, 8, 0, true}};
}

std::vector<KeptDiffers> differences_from_paper(const Model& model, bool experts) {
  std::vector<KeptDiffers> differs;
  if (model.latent.kv_rank > 0)
    differs.push_back(KeptDiffers::kLatent);
  else if (model.kv_heads != model.heads)
    differs.push_back(KeptDiffers::kSharedKeys);
  if (experts) {
    differs.push_back(KeptDiffers::kExperts);
    return differs;
  }
  if (model.mlp != Mlp::kGelu)
    differs.push_back(KeptDiffers::kGated);
  else if (model.ffn != 4 * model.hidden)
    differs.push_back(KeptDiffers::kInnerWidth);
  return differs;
}

// Masks of scores are written by attention, those of both branches where they join the stream.
bool is_of_term(const RankProgram& rank, const Buffer& buffer, const KeptTerm& term) {
  if (buffer.tensor != term.tensor) return false;
  if (buffer.tensor != Tensor::kDropoutMasks) return true;
  const Op& writer = rank.ops[static_cast<std::size_t>(buffer.opened_by)];
  return (writer.piece == Piece::kAttention) == (term.scores > 0);
}

KeptBecause why_gone(const Setup& setup, const KeptTerm& term) {
  const bool drops =
      term.tensor == Tensor::kDropoutMasks || term.tensor == Tensor::kDroppedProbabilities;
  if (drops && setup.dropout == 0) return KeptBecause::kNoDropout;
  if (term.scores > 0 && setup.attention == Attention::kFused) return KeptBecause::kFused;
  return KeptBecause::kRecomputed;
}

void add_bytes(LayerKept& out, const KeptTerm& term, const Shape& shape) {
  const std::int64_t sbh = shape.T * shape.B * shape.C;
  const std::int64_t scores = shape.heads * shape.T * shape.sequence * shape.B;
  const bool mask = term.tensor == Tensor::kDropoutMasks;
  // The paper's factors are bytes of 16-bit numbers, and of masks.
  const auto bytes = static_cast<std::int64_t>(term.sbh * static_cast<double>(sbh) +
                                               term.scores * static_cast<double>(scores)) *
                     (mask ? 2 : out.number_bytes) / 2;
  (term.split ? out.split_sbh : out.whole_sbh) += term.sbh;
  out.scores += term.scores;
  for (int cut = 0; cut < kKeptCuts; ++cut) {
    LayerKept::Bytes& of = out.bytes[static_cast<std::size_t>(cut)];
    const bool cuts = static_cast<KeptCut>(cut) == KeptCut::kSequence ||
                      (static_cast<KeptCut>(cut) == KeptCut::kTensor && term.split);
    (term.scores > 0 ? of.scores : term.split ? of.split : of.whole) += bytes / (cuts ? out.tp : 1);
  }
}

}  // namespace

LayerKept layer_kept(const Setup& setup, const Program& program, const LayerSteps& steps) {
  LayerKept out;
  out.tp = setup.mesh.tp;
  out.cut = out.tp == 1               ? KeptCut::kWhole
            : setup.sequence_parallel ? KeptCut::kSequence
                                      : KeptCut::kTensor;
  out.number_bytes = setup.precision.activation_bytes();
  out.differs = differences_from_paper(setup.model, steps.experts);
  if (!out.differs.empty() || steps.steps.empty()) return out;
  const RankProgram& rank = program.ranks[static_cast<std::size_t>(steps.ranks.front().built)];
  const std::set<std::int32_t> kept = waiting_for_backward(program, rank, steps.choice).kept;
  out.terms = terms_of_paper();
  // Of queries, keys and values the keys are computed again, and where no reduce-scatter has given
  // it what is added to the stream behind attention, whose mask does not wait then.
  if (names(setup.recompute, Recompute::kSecondProducts))
    for (KeptTerm& term : out.terms) {
      const bool masks = term.tensor == Tensor::kDropoutMasks && term.scores == 0;
      if (term.tensor == Tensor::kQkvOut) term.sbh = 4;
      if (masks && !setup.sequence_parallel) term.sbh = 1;
    }
  for (const std::int32_t at : kept) {
    const Buffer& buffer = rank.buffers[static_cast<std::size_t>(at)];
    const auto term = std::find_if(out.terms.begin(), out.terms.end(), [&](const KeptTerm& one) {
      return is_of_term(rank, buffer, one);
    });
    (term == out.terms.end() ? out.other_bytes : term->held_bytes) += buffer.bytes;
  }
  for (KeptTerm& term : out.terms) {
    if (term.held_bytes == 0)
      term.because = why_gone(setup, term);
    else
      add_bytes(out, term, program.shape);
  }
  return out;
}

void set_kept(const Program& program, LayerSteps& steps) {
  std::map<int, std::size_t> first_of;  // by built rank, which may stand for many
  for (std::size_t index = 0; index < steps.ranks.size() && !steps.steps.empty(); ++index) {
    LayerRank& of = steps.ranks[index];
    const auto [first, is_new] = first_of.try_emplace(of.built, index);
    of.kept_bytes = steps.ranks[first->second].kept_bytes;
    for (LayerStep& step : steps.steps)
      step.ranks[index].kept_bytes = step.ranks[first->second].kept_bytes;
    if (!is_new) continue;
    const RankProgram& rank = program.ranks[static_cast<std::size_t>(of.built)];
    const Waiting waiting = waiting_for_backward(program, rank, steps.choice);
    for (const std::int32_t buffer : waiting.kept) {
      const std::int64_t bytes = rank.buffers[static_cast<std::size_t>(buffer)].bytes;
      of.kept_bytes += bytes;
      if (steps.choice.backward) continue;
      steps.steps[place_of(rank, waiting.backward, steps, index, buffer)].ranks[index].kept_bytes +=
          bytes;
    }
  }
}

std::int64_t kept_in(const Program& program, const RankProgram& rank, const RankTimeline& times,
                     const LayerChoice& choice) {
  const Waiting waiting = waiting_for_backward(program, rank, choice);
  if (waiting.backward.empty() || waiting.last_forward < 0) return 0;
  const auto span_of = [&](std::int32_t op) { return times.spans[static_cast<std::size_t>(op)]; };
  const Nanoseconds end = span_of(waiting.last_forward).end;
  std::int64_t bytes = 0;
  for (const std::int32_t at : waiting.kept) {
    const Buffer& buffer = rank.buffers[static_cast<std::size_t>(at)];
    if (span_of(buffer.opened_by).begin <= end && span_of(buffer.closed_by).end > end)
      bytes += buffer.bytes;
  }
  return bytes;
}

}  // namespace parallelarium
