// SPDX-License-Identifier: Apache-2.0
#include "engine/passes/prepare.h"

#include <map>

#include "engine/passes/axes/causal_share.h"
#include "engine/passes/shard/shard.h"

namespace parallelarium {

namespace {

// The visible list of passes over the pieces of an action. Sharding (shard.h) and transfers are
// placed by the walk, since they depend on what other actions and ranks do.
using Pass = std::vector<Draft> (*)(const Setup&, const LocalSizes&, std::vector<Draft>);
constexpr Pass kPasses[] = {tensor_pass, context_pass, experts_pass};

// Scatter/gather (Narayanan et al. 2021, section 4.1): each rank of a TP group receives its share
// of what another stage sends. The group gathers the whole in front of the action that reads it.
Draft gather_transfer(const LocalSizes& sizes, const Chunk& chunk, bool forward,
                      const std::vector<Draft>& before) {
  const std::int64_t whole = sizes.N_norm * sizes.shape.C;
  Draft beside;
  beside.op.phase = forward ? Phase::kForward : Phase::kInputGrad;
  if (!before.empty()) beside.op.layer = before.front().op.layer;
  Draft gather = collective_draft(CollectiveKind::kAllGather, Axis::kTp,
                                  forward ? Purpose::kActivations : Purpose::kGradients,
                                  whole * size_of(sizes.type), sizes.type, beside);
  DraftOperand into, share;
  into.tensor = forward ? Tensor::kInput : Tensor::kGradResidual;
  into.layer = static_cast<std::int16_t>(forward ? chunk.begin : -1);
  into.access = Access::kWrite;
  into.type = share.type = sizes.type;
  into.count = whole;
  into.opens = gather.op.bytes;
  share.tensor = Tensor::kTransferShare;
  share.part = forward ? 0 : 1;
  share.layer = into.layer;
  share.count = sizes.boundary;
  gather.operands = {into, share};
  return gather;
}

}  // namespace

std::vector<Draft> pieces_of(const Setup& setup, const LocalSizes& sizes, const Chunk& chunk,
                             const std::vector<ParameterSlice>& slices, ActionKind kind) {
  std::vector<Draft> drafts = action_pieces(setup, sizes, chunk, slices, kind);
  for (const Pass pass : kPasses) drafts = pass(setup, sizes, std::move(drafts));
  const bool forward = kind == ActionKind::kForward;
  const bool receives = kind != ActionKind::kWeightGrad && !(forward ? chunk.first : chunk.last);
  if (receives && scatters_transfers(setup))
    drafts.insert(drafts.begin(), gather_transfer(sizes, chunk, forward, drafts));
  return drafts;
}

std::int64_t boundary_bytes(const LocalSizes& sizes) {
  return sizes.boundary * size_of(sizes.type);
}

ChunkDrafts prepare_chunk(const Setup& setup, const LocalSizes& sizes, const Chunk& chunk,
                          const std::array<bool, 4>& kinds, Folding folding, RankEmitter& emitter) {
  const std::vector<ParameterSlice>& slices = emitter.rank().parameters;
  ChunkDrafts drafts;
  drafts.chunk = chunk;
  const auto pieces = [&](ActionKind kind) {
    const auto k = static_cast<std::size_t>(kind);
    if (!kinds[k]) return std::vector<Draft>{};
    std::vector<Draft> list = pieces_of(setup, sizes, chunk, slices, kind);
    name_buckets(setup, emitter.rank(), list);
    return list;
  };
  drafts.forward = pieces(ActionKind::kForward);
  await_buckets(setup, emitter.rank(), drafts.forward);
  drafts.backward = pieces(ActionKind::kBackward);
  drafts.input = pieces(ActionKind::kInputGrad);
  drafts.weight = pieces(ActionKind::kWeightGrad);
  if (setup.offload_activations) offload_activations(drafts);
  RankEmitter::SlotNumbers numbers;
  const auto slot = [&](Tensor tensor, int layer, int part = 0) {
    return numbers
        .try_emplace({tensor, RankEmitter::slot_key(layer, part)},
                     static_cast<std::int32_t>(numbers.size()))
        .first->second;
  };
  drafts.input_slot = slot(Tensor::kInput, chunk.begin);
  drafts.output_slot = slot(Tensor::kInput, chunk.end());
  drafts.gradient_slot = slot(Tensor::kGradResidual, -1);
  drafts.input_gradient_slot =
      chunk.layers.empty() ? drafts.gradient_slot : slot(Tensor::kGradResidual, chunk.begin);
  drafts.received_slot = drafts.input_slot;
  drafts.received_gradient_slot = drafts.gradient_slot;
  if (scatters_transfers(setup)) {
    drafts.received_slot = slot(Tensor::kTransferShare, chunk.begin);
    drafts.received_gradient_slot = slot(Tensor::kTransferShare, -1, 1);
  }
  std::map<Axis, std::int32_t> groups;  // of the rank
  const auto group_along = [&](Axis axis) {
    const auto [known, fresh] = groups.try_emplace(axis, -1);
    if (fresh) known->second = emitter.group(axis, group_of(setup.mesh, axis, emitter.rank().rank));
    return known->second;
  };
  for (const ActionKind kind : {ActionKind::kForward, ActionKind::kBackward, ActionKind::kInputGrad,
                                ActionKind::kWeightGrad}) {
    drafts.seconds[static_cast<int>(kind)] = nominal_seconds(drafts.of(kind));
    drafts.stretches[static_cast<int>(kind)] = stretches_of(drafts.of(kind));
  }
  for (auto* list : {&drafts.forward, &drafts.backward, &drafts.input, &drafts.weight}) {
    RankEmitter::number_slots(*list, numbers);
    emitter.register_work(*list);
    for (Draft& draft : *list) {
      if (draft.op.kind == OpKind::kCompute) continue;
      draft.op.group = group_along(draft.axis);
      if (draft.op.peer >= 0) {  // along a ring
        Coordinates at = emitter.rank().at;
        if (draft.axis == Axis::kTp)
          at.tp = (at.tp + draft.op.peer) % setup.mesh.tp;
        else
          at.cp = (at.cp + draft.op.peer) % setup.mesh.cp;
        draft.op.peer = rank_of(setup.mesh, at);
      }
    }
  }
  drafts.slots = static_cast<std::int32_t>(numbers.size());
  if (folding != Folding::kNone) {
    FoldedSlots slots{
        setup.skew > 0,
        setup.skew > 0 && has_whole_experts(setup),
        is_unbalanced(setup),
        zero_stage(setup) < 2,  // else each backward opens and reduces buckets
        folding != Folding::kRings ? FoldedRings::kNone
        : setup.mesh.pp > 1        ? FoldedRings::kWhole
                                   : FoldedRings::kAll,
        drafts.slots,
        {drafts.input_slot, drafts.output_slot, drafts.gradient_slot, drafts.input_gradient_slot,
         drafts.received_slot, drafts.received_gradient_slot}};
    drafts.folded = fold_actions(emitter.program(), drafts, slots);
    drafts.slots = slots.count;
  }
  return drafts;
}

}  // namespace parallelarium
