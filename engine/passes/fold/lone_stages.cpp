// SPDX-License-Identifier: Apache-2.0
#include "engine/passes/fold/lone_stages.h"

#include <span>

#include "engine/passes/axes/causal_share.h"
#include "engine/passes/prepare.h"
#include "engine/passes/shard/shard.h"

namespace parallelarium {

namespace {

constexpr ActionKind kWhole[] = {ActionKind::kForward, ActionKind::kBackward};
constexpr ActionKind kSplit[] = {ActionKind::kForward, ActionKind::kInputGrad,
                                 ActionKind::kWeightGrad};

// Appends the ops of one stage's actions to its rank, with the transfers around them.
class LoneRank {
 public:
  LoneRank(const Setup& setup, const LocalSizes& sizes, const ChunkDrafts& drafts,
           RankEmitter& emitter)
      : sizes_(sizes),
        drafts_(drafts),
        emitter_(emitter),
        lane_(setup.overlap_pipeline ? Lane::kPipeline : Lane::kCompute),
        slots_(static_cast<std::size_t>(drafts.slots), -1) {}

  void emit(std::span<const ActionKind> kinds) {
    const Chunk& chunk = drafts_.chunk;
    for (const ActionKind kind : kinds) {
      const bool forward = kind == ActionKind::kForward, weight = kind == ActionKind::kWeightGrad;
      if (!weight && !(forward ? chunk.first : chunk.last))
        transfer(OpKind::kRecv, forward,
                 forward ? drafts_.received_slot : drafts_.received_gradient_slot);
      emit_action(kind);
      if (!weight && !(forward ? chunk.last : chunk.first))
        transfer(OpKind::kSend, forward,
                 forward                          ? drafts_.output_slot
                 : kind == ActionKind::kInputGrad ? drafts_.input_gradient_slot
                                                  : drafts_.gradient_slot);
    }
  }

 private:
  void emit_action(ActionKind kind) {
    RankProgram& rank = emitter_.rank();
    const RankEmitter::Place place{0, 0, static_cast<std::int32_t>(rank.actions.size())};
    rank.actions.push_back({kind});
    std::int32_t& batches = emitter_.program().batches;
    const std::int32_t first_batch = batches;
    for (const Draft& draft : drafts_.of(kind)) {
      const std::int32_t needs = waits_for_computing(draft) ? emitter_.last_of(Lane::kCompute) : -1;
      const std::int32_t op = emitter_.emit(draft, place, slots_, needs);
      if (draft.op.batch < 0) continue;
      rank.ops[static_cast<std::size_t>(op)].batch = first_batch + draft.op.batch;
      batches = std::max(batches, first_batch + draft.op.batch + 1);
    }
  }

  void transfer(OpKind kind, bool forward, std::int32_t slot) {
    const std::int64_t bytes = boundary_bytes(sizes_);
    const Chunk& chunk = drafts_.chunk;
    const int layer = !forward ? -1 : kind == OpKind::kRecv ? chunk.begin : chunk.end();
    Draft draft;
    draft.operands.resize(1);
    fill_transfer(
        draft, {kind, lane_, forward ? Purpose::kActivations : Purpose::kGradients, -1, layer, slot,
                bytes, sizes_.type, drafts_.received_slot != drafts_.input_slot});
    if (kind == OpKind::kRecv) {
      draft.operands[0].opens = bytes;
      draft.operands[0].access = Access::kWrite;
    }
    emitter_.emit(draft, {0, 0, -1}, slots_);
  }

  const LocalSizes& sizes_;
  const ChunkDrafts& drafts_;
  RankEmitter& emitter_;
  const Lane lane_;
  std::vector<std::int32_t> slots_;
};

}  // namespace

Program lone_stages(const Setup& setup, const LocalSizes& sizes,
                    const std::vector<LoneStage>& stages) {
  Program program;
  program.shape = sizes.shape;
  program.world = setup.mesh.ranks();
  program.representatives = true;
  program.ranks.resize(2 * stages.size());
  for (std::size_t number = 0; number < stages.size(); ++number) {
    // Named one by one: clang++ 14 lets no lambda use a structured binding.
    const auto& chunk = stages[number].chunk;
    const auto place = stages[number].place;
    Coordinates at;
    at.pp = place;
    RankProgram* const ranks[] = {&program.ranks[2 * number], &program.ranks[2 * number + 1]};
    for (RankProgram* rank : ranks) {
      rank->rank = rank_of(setup.mesh, at);
      rank->at = at;
      rank->stage = place;
      rank->layers = chunk.layers;
    }
    ranks[0]->parameters = parameter_layout(setup, {chunk});
    ranks[0]->buckets = make_buckets(setup, ranks[0]->parameters);
    ranks[1]->parameters = ranks[0]->parameters;
    ranks[1]->buckets = ranks[0]->buckets;
    RankEmitter whole(program, *ranks[0]), split(program, *ranks[1]);
    const auto emit = [&](RankEmitter& emitter, const ChunkDrafts& drafts,
                          std::span<const ActionKind> kinds) {
      hold_tensors(setup, emitter, chunk.first, chunk.last);
      LoneRank(setup, sizes, drafts, emitter).emit(kinds);
    };
    if (setup.offload_activations) {  // what goes to the host goes by what its backward reads
      emit(whole,
           prepare_chunk(setup, sizes, chunk, {true, true, false, false}, Folding::kNone, whole),
           kWhole);
      emit(split,
           prepare_chunk(setup, sizes, chunk, {true, false, true, true}, Folding::kNone, split),
           kSplit);
      continue;
    }
    const ChunkDrafts drafts =
        prepare_chunk(setup, sizes, chunk, {true, true, true, true}, Folding::kNone, whole);
    emit(whole, drafts, kWhole);
    emit(split, drafts, kSplit);
  }
  return program;
}

}  // namespace parallelarium
