// SPDX-License-Identifier: Apache-2.0
// Where the ranks of an order wait that can never finish.
#include <algorithm>

#include "engine/passes/arrange/arrange.h"
#include "engine/plan/order/order_graph.h"

namespace parallelarium {

namespace {

class Waits {
 public:
  Waits(const Order& order, const std::vector<int>& walked, std::vector<RankPlan>& plans,
        BoundaryTransfer transfer, const std::vector<int>& ranks,
        const std::vector<std::int32_t>& groups)
      : order_(order),
        graph_(order),
        walked_(walked),
        plans_(plans),
        transfer_(transfer),
        ranks_(ranks),
        groups_(groups) {}

  std::vector<ForwardEdge> emit() {
    std::vector<ForwardEdge> edges;
    std::vector<std::int32_t> blocked(plans_.size(), -1);  // the op that keeps the compute lane
    for (std::size_t r = 0; r < plans_.size(); ++r) {
      const ActionRef at{static_cast<int>(r), walked_[r]};
      if (at.index >= static_cast<int>(order_.ranks[r].size())) continue;
      if (const ActionRef need = missing(at, false); need.rank >= 0) {
        blocked[r] = emit_first(at, emit_transfer(OpKind::kRecv, at.rank, need.rank, at, -1));
      } else {
        blocked[r] = emit_first(at, -1);
        edges.push_back({r, blocked[r], emit_first(missing(at, true), -1)});
      }
    }
    for (std::size_t r = 0; r < plans_.size(); ++r) {
      const ActionRef at{static_cast<int>(r), walked_[r]};
      if (blocked[r] < 0) continue;
      if (const ActionRef need = missing(at, false); need.rank >= 0)
        emit_transfer(OpKind::kSend, need.rank, at.rank, at,
                      blocked[static_cast<std::size_t>(need.rank)]);
    }
    return edges;
  }

 private:
  const Action& action_at(ActionRef ref) const {
    return order_.ranks[static_cast<std::size_t>(ref.rank)][static_cast<std::size_t>(ref.index)];
  }

  // What keeps the action from starting: an action of its own rank, or of another.
  ActionRef missing(ActionRef at, bool own) const {
    for (const ActionRef need : graph_.needs_of(at)) {
      if (need.rank < 0 || (need.rank == at.rank) != own) continue;
      if (need.index >= walked_[static_cast<std::size_t>(need.rank)]) return need;
    }
    return {};
  }

  // One side of the transfer that the action `taker` waits for. `needs`: an op of `rank`, or -1.
  std::int32_t emit_transfer(OpKind kind, int rank, int peer, ActionRef taker, std::int32_t needs) {
    const auto index = static_cast<std::size_t>(rank);
    const Action& action = action_at(taker);
    const bool forward = action.kind == ActionKind::kForward;
    BoundaryTransfer transfer = transfer_;
    transfer.kind = kind;
    transfer.purpose = forward ? Purpose::kActivations : Purpose::kGradients;
    transfer.peer = ranks_[static_cast<std::size_t>(peer)];
    if (forward)
      transfer.layer = plans_[static_cast<std::size_t>(taker.rank)]
                           .chunks[static_cast<std::size_t>(action.chunk)]
                           .chunk.begin;
    Draft draft;
    draft.operands.resize(1);
    fill_transfer(draft, transfer);
    draft.op.group = groups_[index];
    draft.operands[0].access = kind == OpKind::kRecv ? Access::kWrite : Access::kRead;
    draft.operands[0].opens = transfer.bytes;
    std::int32_t buffer = -1;
    return plans_[index].emitter->emit(
        draft, {action.microbatch, static_cast<std::int16_t>(action.chunk), -1}, {&buffer, 1},
        needs);
  }

  // The first compute op of an action, without operands.
  std::int32_t emit_first(ActionRef at, std::int32_t needs) {
    const Action& action = action_at(at);
    const RankPlan& plan = plans_[static_cast<std::size_t>(at.rank)];
    Draft first;
    for (const Draft& draft : plan.chunks[static_cast<std::size_t>(action.chunk)].of(action.kind)) {
      if (draft.op.kind != OpKind::kCompute) continue;
      first.op = draft.op;
      break;
    }
    first.op.lane = Lane::kCompute;
    first.op.batch = -1;
    return plan.emitter->emit(
        first, {action.microbatch, static_cast<std::int16_t>(action.chunk), at.index}, {}, needs);
  }

  const Order& order_;
  const OrderGraph graph_;
  const std::vector<int>& walked_;
  std::vector<RankPlan>& plans_;
  const BoundaryTransfer transfer_;
  const std::vector<int>& ranks_;
  const std::vector<std::int32_t>& groups_;
};

}  // namespace

std::vector<ForwardEdge> emit_waits(const Order& order, const std::vector<int>& walked,
                                    std::vector<RankPlan>& plans, std::int64_t boundary_bytes,
                                    DataType type, const std::vector<int>& ranks_of_plans,
                                    const std::vector<std::int32_t>& pipeline_groups) {
  BoundaryTransfer transfer;
  transfer.lane = plans[0].transfers;
  transfer.bytes = boundary_bytes;
  transfer.type = type;
  return Waits(order, walked, plans, transfer, ranks_of_plans, pipeline_groups).emit();
}

void fill_transfer(Draft& draft, const BoundaryTransfer& transfer) {
  const bool forward = transfer.purpose == Purpose::kActivations;
  draft.op.kind = transfer.kind;
  draft.op.lane = transfer.lane;
  draft.op.piece = Piece::kTransfer;
  draft.op.phase = forward ? Phase::kForward : Phase::kInputGrad;
  draft.op.purpose = transfer.purpose;
  draft.op.peer = transfer.peer;
  draft.op.bytes = transfer.bytes;
  draft.op.type = transfer.type;
  DraftOperand& operand = draft.operands[0];
  operand.tensor = forward ? Tensor::kInput : Tensor::kGradResidual;
  operand.shard = -1;
  if (transfer.share && transfer.kind == OpKind::kSend) operand.shard = kTensorShare;
  if (transfer.share && transfer.kind == OpKind::kRecv) operand.tensor = Tensor::kTransferShare;
  operand.layer = static_cast<std::int16_t>(transfer.layer);
  operand.type = transfer.type;
  operand.count = transfer.bytes / size_of(transfer.type);
  operand.slot = transfer.slot;
}

}  // namespace parallelarium
