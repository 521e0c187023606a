// SPDX-License-Identifier: Apache-2.0
#include "engine/passes/fold/alike_chunks.h"

#include <algorithm>

#include "engine/passes/shard/shard.h"

namespace parallelarium {

namespace {

// Takes drafts from one home to another.
class Relocation {
 public:
  Relocation(const Setup& setup, RankEmitter& emitter) : setup_(setup), emitter_(emitter) {}
  int layers = 0, ranks = 0;
  std::int64_t parameters = 0;
  int buckets = 0;
  std::int32_t folds = 0;

  void op(Op& op) {
    if (op.layer >= 0) op.layer = static_cast<std::int16_t>(op.layer + layers);
    if (op.peer >= 0) op.peer += ranks;
    if (op.group >= 0) op.group = group_like(op.group);
    if (op.fold >= 0) op.fold += folds;
  }
  void drafts(std::vector<Draft>& drafts) {
    for (Draft& draft : drafts) {
      op(draft.op);
      if (draft.awaits >= 0) draft.awaits = static_cast<std::int16_t>(draft.awaits + buckets);
      for (DraftOperand& operand : draft.operands) this->operand(operand);
    }
  }
  void fold(Fold& fold) {
    for (Fold::Part& part : fold.parts)
      if (part.layer >= 0) part.layer = static_cast<std::int16_t>(part.layer + layers);
    for (Op& moved : fold.moved) op(moved);
  }

 private:
  void operand(DraftOperand& operand) const {
    if (operand.layer >= 0) operand.layer = static_cast<std::int16_t>(operand.layer + layers);
    if (operand.bucket >= 0)  // its offset counts from the bucket's begin
      operand.bucket = static_cast<std::int16_t>(operand.bucket + buckets);
    else if (operand.tensor == Tensor::kParameters || operand.tensor == Tensor::kGradients)
      operand.offset += parameters;
  }
  std::int32_t group_like(std::int32_t other) {
    const auto [known, fresh] = groups_.try_emplace(other, -1);
    if (fresh) {
      const Axis axis = emitter_.program().groups[static_cast<std::size_t>(other)].axis;
      known->second = emitter_.group(axis, group_of(setup_.mesh, axis, emitter_.rank().rank));
    }
    return known->second;
  }

  const Setup& setup_;
  RankEmitter& emitter_;
  std::map<std::int32_t, std::int32_t> groups_;  // the rank's own
};

}  // namespace

AlikeChunks::Home AlikeChunks::home_of(const Chunk& chunk, const RankEmitter& emitter) {
  Home home;
  home.layer = chunk.begin;
  home.rank = emitter.rank().rank;
  home.fold = static_cast<std::int32_t>(emitter.program().folds.size());
  const std::vector<ParameterSlice>& slices = emitter.rank().parameters;
  const auto first = std::find_if(slices.begin(), slices.end(), [&](const ParameterSlice& slice) {
    return slice.layer == chunk.begin;
  });
  home.parameters = first->offset;
  if (!emitter.rank().buckets.empty()) home.bucket = bucket_at(emitter.rank(), first->offset);
  return home;
}

ChunkDrafts AlikeChunks::prepare(const Chunk& chunk, const std::array<bool, 4>& kinds,
                                 RankEmitter& emitter) {
  // Of experts, layers may differ, and some ranks hold other parts of buckets than others.
  const bool alone = chunk.first || chunk.last || chunk.layers.empty() ||
                     setup_.model.experts.count > 0 || setup_.offload_activations;
  if (alone) return prepare_chunk(setup_, sizes_, chunk, kinds, folding_, emitter);
  const auto [entry, fresh] = known_.try_emplace({chunk.layers.size(), kinds, chunk.copy});
  Known& known = entry->second;
  if (!fresh) return copy_of(known, chunk, emitter);
  known.home = home_of(chunk, emitter);
  known.drafts = prepare_chunk(setup_, sizes_, chunk, kinds, folding_, emitter);
  known.folds = static_cast<std::int32_t>(emitter.program().folds.size()) - known.home.fold;
  return known.drafts;
}

ChunkDrafts AlikeChunks::copy_of(const Known& known, const Chunk& chunk,
                                 RankEmitter& emitter) const {
  const Home home = home_of(chunk, emitter);
  Relocation move(setup_, emitter);
  move.layers = home.layer - known.home.layer;
  move.ranks = home.rank - known.home.rank;
  move.parameters = home.parameters - known.home.parameters;
  move.buckets = home.bucket - known.home.bucket;
  move.folds = home.fold - known.home.fold;
  ChunkDrafts copy = known.drafts;
  copy.chunk = chunk;
  for (auto* list : {&copy.forward, &copy.backward, &copy.input, &copy.weight}) move.drafts(*list);
  FoldedActions& folded = copy.folded;
  for (auto* action :
       {&folded.forward, &folded.split_forward, &folded.backward, &folded.input, &folded.weight}) {
    move.drafts(action->stretches);
    move.drafts(action->whole);
  }
  std::vector<Fold>& folds = emitter.program().folds;
  for (std::int32_t at = 0; at < known.folds; ++at) {
    Fold fold = folds[static_cast<std::size_t>(known.home.fold + at)];
    move.fold(fold);
    folds.push_back(std::move(fold));
  }
  return copy;
}

}  // namespace parallelarium
