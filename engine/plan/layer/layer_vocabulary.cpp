// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/layer/layer_vocabulary.h"

#include <algorithm>

#include "engine/plan/layer/layer_steps.h"

namespace parallelarium {

namespace {

// The rows that ranks have looked up are added up. With sequence parallelism their gradients are
// gathered for the table's; those of the head's product are for its input.
bool is_of_embedding(const Op& op) {
  return op.piece == Piece::kEmbedding || op.purpose == Purpose::kEmbedding ||
         (op.purpose == Purpose::kGradients && op.phase == Phase::kWeightGrad);
}

const LayerTensor* find_tensor(const LayerSteps& layer, Piece piece, const char* name) {
  for (const LayerStep& step : layer.steps) {
    if (step.piece != piece || step.kind != LayerStepKind::kCompute) continue;
    for (const LayerTensor& tensor : step.ranks.front().tensors)
      if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

int place_in(const Group& group, int rank) {
  return static_cast<int>(std::find(group.ranks.begin(), group.ranks.end(), rank) -
                          group.ranks.begin());
}

void add_tables(const Setup& setup, const Program& program, const RankProgram& rank,
                LayerVocabulary& out) {
  out.tied = setup.model.tied;
  for (const Op& op : rank.ops) {
    if (op.kind != OpKind::kCollective || op.purpose != Purpose::kEmbedding || op.group < 0)
      continue;
    const Group& group = program.groups[static_cast<std::size_t>(op.group)];
    if (group.axis != Axis::kPp) continue;
    out.two_tables = true;
    out.tied_sent_bytes +=
        collective_volume(op.collective, op.type, op.bytes, static_cast<int>(group.ranks.size()),
                          place_in(group, rank.rank))
            .sent;
  }
}

void add_loss(const Setup& setup, const RankProgram& rank, const LayerSteps& layer,
              LayerVocabulary& out) {
  const bool backward = layer.choice.backward;
  const LayerTensor* logits =
      find_tensor(layer, backward ? Piece::kLoss : Piece::kHead, backward ? "dlogits" : "logits");
  if (!logits) return;
  out.words = logits->columns;
  out.held_words = logits->held_columns;
  out.tokens = logits->held_rows;
  out.logits_bytes = logits->bytes;
  const std::int64_t element = logits->bytes / (logits->held_rows * logits->held_columns);
  const DataType type = element == size_of(DataType::kBf16) ? DataType::kBf16 : DataType::kF32;
  out.whole_logits_bytes = out.tokens * out.words * element;
  for (const LayerStep& step : layer.steps) {
    if (step.purpose != Purpose::kLoss) continue;
    ++out.loss_collectives;
    const LayerRankStep& part = step.ranks.front();
    out.loss_sent_bytes += part.sent_bytes;
    if (part.first_op >= 0)
      out.loss_bytes = rank.ops[static_cast<std::size_t>(part.first_op)].bytes;
  }
  // What has been gathered in the forward needs nothing in the backward.
  if (setup.mesh.tp > 1 && !backward)
    out.gathered_sent_bytes = collective_volume(CollectiveKind::kAllGather, type,
                                                out.whole_logits_bytes, setup.mesh.tp, 0)
                                  .sent;
}

}  // namespace

bool is_op_of_vocabulary(const Program& program, const Op& op, const LayerChoice& choice) {
  if (op.layer >= 0 || op.microbatch != choice.microbatch) return false;
  const Axis axis =
      op.group >= 0 ? program.groups[static_cast<std::size_t>(op.group)].axis : Axis::kWorld;
  // What passes between stages belongs to no piece, nor do buckets of ZeRO; what TP hides behind
  // products may be in the lane of data, too.
  if (axis == Axis::kPp || op.piece == Piece::kZeroGrad ||
      (op.lane == Lane::kData && axis != Axis::kTp))
    return false;
  return is_of_embedding(op) == (choice.place == LayerPlace::kEmbedding);
}

LayerVocabulary layer_vocabulary(const Setup& setup, const Program& program,
                                 const LayerSteps& layer) {
  LayerVocabulary out;
  if (layer.steps.empty()) return out;
  const RankProgram& rank = program.ranks[static_cast<std::size_t>(layer.ranks.front().built)];
  add_tables(setup, program, rank, out);
  if (layer.choice.place == LayerPlace::kHead) {
    add_loss(setup, rank, layer, out);
  } else if (const LayerTensor* table =
                 find_tensor(layer, Piece::kEmbedding, layer.choice.backward ? "dw" : "w")) {
    out.words = table->rows;
    out.held_words = table->held_rows;
  }
  return out;
}

}  // namespace parallelarium
