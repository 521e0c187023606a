// SPDX-License-Identifier: Apache-2.0
// Tensor and sequence parallelism: after a row-parallel product the partial sums of the TP group
// are all-reduced, and so are the input gradients of a column-parallel one; four all-reduces a
// layer. Sequence parallelism turns each into a reduce-scatter and an all-gather, and gathers the
// input of a column-parallel product once more for its weight gradient. The vocabulary is split as
// well: the embedding's partial rows are summed, and the loss needs three reductions of one number
// a token. Source: Shoeybi et al. 2019, section 3; Korthikanti et al. 2022, section 4.2.2.
#include "engine/passes/pieces.h"

namespace parallelarium {

Draft collective_draft(CollectiveKind kind, Axis axis, Purpose purpose, std::int64_t bytes,
                       DataType type, const Draft& beside) {
  Draft draft;
  draft.axis = axis;
  draft.op.kind = OpKind::kCollective;
  draft.op.lane = Lane::kCompute;
  draft.op.piece = Piece::kTransfer;
  draft.op.phase = beside.op.phase;
  draft.op.layer = beside.op.layer;
  draft.op.collective = kind;
  const bool reduces = kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter;
  draft.op.reduction = reduces ? Reduction::kSum : Reduction::kNone;
  draft.op.purpose = purpose;
  draft.op.bytes = bytes;
  draft.op.type = type;
  return draft;
}

std::vector<Draft> tensor_pass(const Setup& setup, const LocalSizes& sizes,
                               std::vector<Draft> drafts) {
  if (setup.mesh.tp == 1) return drafts;
  const bool sp = setup.sequence_parallel;
  const std::int64_t bytes = sizes.N * sizes.shape.C * size_of(sizes.type);
  std::vector<Draft> result;
  result.reserve(drafts.size() * 2);
  for (Draft& draft : drafts) {
    const Piece piece = draft.op.piece;
    const Phase phase = draft.op.phase;
    const bool forward = phase == Phase::kForward || phase == Phase::kRecompute;
    const bool column = piece == Piece::kQkv || piece == Piece::kMlpIn || piece == Piece::kRouter;
    const bool row =
        piece == Piece::kProjection || piece == Piece::kMlpOut || piece == Piece::kExpert;
    const auto collective = [&](CollectiveKind kind, Purpose purpose) {
      return collective_draft(kind, Axis::kTp, purpose, bytes, sizes.type, draft);
    };
    const Purpose flow = forward ? Purpose::kActivations : Purpose::kGradients;
    const bool gathers = (forward && (column || piece == Piece::kHead)) ||
                         (phase == Phase::kInputGrad && row) ||
                         (phase == Phase::kWeightGrad && column);
    if (sp && gathers) {
      result.push_back(collective(CollectiveKind::kAllGather,
                                  phase == Phase::kWeightGrad ? Purpose::kActivations : flow));
    }
    const bool sums =
        (forward && (row || piece == Piece::kEmbedding)) ||
        (phase == Phase::kInputGrad && (piece == Piece::kQkv || piece == Piece::kMlpIn ||
                                        piece == Piece::kHead || piece == Piece::kExpert));
    Draft after;
    if (sums) {
      after = collective(sp ? CollectiveKind::kReduceScatter : CollectiveKind::kAllReduce,
                         piece == Piece::kEmbedding ? Purpose::kEmbedding : flow);
    }
    int reductions = 0;  // one number a token
    if (phase == Phase::kForward && piece == Piece::kLossMax) reductions = 1;
    if (phase == Phase::kForward && piece == Piece::kLossSum) reductions = 2;
    Draft small = collective_draft(CollectiveKind::kAllReduce, Axis::kTp, Purpose::kLoss,
                                   sizes.N * 4, DataType::kF32, draft);
    if (piece == Piece::kLossMax) small.op.reduction = Reduction::kMax;
    result.push_back(std::move(draft));
    if (sums) result.push_back(std::move(after));
    for (int i = 0; i < reductions; ++i) result.push_back(small);
  }
  return result;
}

}  // namespace parallelarium
