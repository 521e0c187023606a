// SPDX-License-Identifier: Apache-2.0
// Expert parallelism: tokens travel to the ranks that hold their experts and back, two all-to-alls
// a layer forward (dispatch, combine) and two backward. How many rows go where, the ranks tell each
// other by a small all-to-all of counts once in a forward; `bytes` are those of even routing.
// Source: Lepikhin et al. 2020 (GShard), section 3.2. Where they are to hide inside a pair of
// actions, they stand in the data lane, and arrange() puts the two actions into each other.
//
// Where each TP rank sends its own tokens alone, the ranks that hold parts of an expert gather what
// came to all of them before its products, and add up and cut the results after them. Source:
// Megatron-LM, megatron/core/transformer/moe/token_dispatcher.py, MoEAlltoAllTokenDispatcher. Where
// experts are whole (Mesh::expert_tensor), EP takes TP's ranks in, and nothing is gathered. In both
// cases they add up how often each expert was chosen, since the balance loss counts the tokens of a
// whole micro-batch. Source: the same, moe/router.py, over tp_cp_group.
#include "engine/passes/writers/expert_writer.h"

namespace parallelarium {

namespace {

class ExpertsPass {
 public:
  ExpertsPass(const Setup& setup, const LocalSizes& sizes)
      : sizes_(sizes),
        experts_(setup.model.experts),
        fp8_(setup.fp8_dispatch),
        gates_travel_(setup.expert_gates == ExpertGates::kActivations),
        balances_(routes_own_tokens(setup) && setup.balance_loss > 0),
        shares_(gathers_expert_tokens(setup)),
        travels_(setup.mesh.ep > 1),
        lane_(setup.overlap_experts ? Lane::kData : Lane::kCompute),
        row_bytes_(sizes.routed * experts_.top_k * sizes.shape.C * size_of(sizes.type)) {}

  void add(Draft draft) {
    const Piece piece = draft.op.piece;
    const bool input = draft.op.phase == Phase::kInputGrad;
    const bool forward = draft.op.phase == Phase::kForward || draft.op.phase == Phase::kRecompute;
    if (piece == Piece::kRouter && forward && balances_) {
      drafts_.push_back(std::move(draft));
      sum_choices();
    } else if (!travels_ && !shares_) {
      drafts_.push_back(std::move(draft));
    } else if (piece == Piece::kDispatch && forward) {
      rename(draft.operands.back(), kSent);
      if (gates_travel_) draft.operands[draft.operands.size() - 2].part = kRowGates;
      drafts_.push_back(std::move(draft));
      const Draft beside = drafts_.back();
      if (travels_) {
        Draft counts = collective(beside, Purpose::kCounts, experts_.count * 4, DataType::kI32);
        counts.operands = {counts_by_place(beside), counts_by_rank(beside, true)};
        Draft rows = to_experts(beside, Tensor::kExpertTokens);
        if (gates_travel_)
          add_gates(rows, beside, kRowGates, shares_ ? kShareGates : kReceivedGates);
        drafts_.push_back(std::move(counts));
        drafts_.push_back(std::move(rows));
      }
      if (shares_) {
        Draft gather = gather_shares(beside, Tensor::kExpertTokens);
        if (gates_travel_)
          add_gates(gather, beside, travels_ ? kShareGates : kRowGates, kReceivedGates);
        drafts_.push_back(std::move(gather));
      }
    } else if (piece == Piece::kUnpermute && input) {
      rename(draft.operands[draft.operands.size() - (gates_travel_ ? 1 : 2)], kSent);
      drafts_.push_back(std::move(draft));
      const Draft beside = drafts_.back();
      if (travels_) drafts_.push_back(to_experts(beside, Tensor::kGradExpertTokens));
      if (shares_) drafts_.push_back(gather_shares(beside, Tensor::kGradExpertTokens));
    } else if (piece == Piece::kExpert) {
      if (travels_) draft.operands[1] = counts_by_rank(draft, false);
      if (!input && !forward) {
        drafts_.push_back(std::move(draft));
        return;
      }
      const Tensor tensor = forward ? Tensor::kExpertTokens : Tensor::kGradExpertTokens;
      rename(draft.operands.back(), kResults);
      drafts_.push_back(std::move(draft));
      const Draft beside = drafts_.back();
      if (shares_) {
        Draft sum = add_up_shares(beside, tensor);
        if (gates_travel_ && input)
          add_gates(sum, beside, kReceivedGateGradients,
                    travels_ ? kShareGateGradients : kReturnedGateGradients);
        drafts_.push_back(std::move(sum));
      }
      if (!travels_) return;
      Draft back = collective(beside, Purpose::kTokens, row_bytes_, sizes_.type);
      back.op.block = 1;
      back.operands = {rows(beside, tensor, shares_ ? kShareResults : kResults, false),
                       rows(beside, tensor, kReturned, true), counts_by_rank(beside, false),
                       counts_by_place(beside)};
      if (gates_travel_ && input)
        add_gates(back, beside, shares_ ? kShareGateGradients : kReceivedGateGradients,
                  kReturnedGateGradients);
      drafts_.push_back(std::move(back));
    } else {
      // Routers' backwards, and their sums over TP.
      for (DraftOperand& operand : draft.operands)
        if (operand.tensor == Tensor::kRouterGates && operand.part == kReceivedGateGradients)
          operand.part = kReturnedGateGradients;
      drafts_.push_back(std::move(draft));
    }
  }
  std::vector<Draft> take() { return std::move(drafts_); }

 private:
  static void rename(DraftOperand& operand, ExpertPart part) { operand.part = part; }

  Draft collective(const Draft& beside, Purpose purpose, std::int64_t bytes, DataType type) const {
    Draft draft =
        collective_draft(CollectiveKind::kAllToAll, Axis::kEp, purpose, bytes, type, beside);
    draft.op.lane = lane_;
    return draft;
  }
  Draft to_experts(const Draft& beside, Tensor tensor) const {
    Draft draft = fp8_ ? collective(beside, Purpose::kTokens, fp8_bytes(), DataType::kU8)
                       : collective(beside, Purpose::kTokens, row_bytes_, sizes_.type);
    draft.operands = {rows(beside, tensor, kSent, false),
                      rows(beside, tensor, shares_ ? kShare : kReceived, true),
                      counts_by_place(beside), counts_by_rank(beside, false)};
    return draft;
  }
  // Over TP, of the router that was added last.
  void sum_choices() {
    const Draft& router = drafts_.back();
    Draft sum = collective_draft(CollectiveKind::kAllReduce, Axis::kTp, Purpose::kCounts,
                                 experts_.count * 4, DataType::kI32, router);
    DraftOperand chosen = counts(router);
    chosen.access = Access::kAccumulate;
    chosen.offset = chosen_offset(sizes_.routed, experts_.top_k);
    sum.operands = {chosen};
    drafts_.push_back(std::move(sum));
  }
  // Over TP; `from` and `to` as on one rank.
  Draft over_shares(CollectiveKind kind, const Draft& beside, Tensor tensor, ExpertPart from,
                    ExpertPart to) const {
    const std::int64_t whole = sizes_.N * experts_.top_k * sizes_.shape.C * size_of(sizes_.type);
    const bool forward = tensor == Tensor::kExpertTokens;
    Draft draft =
        collective_draft(kind, Axis::kTp, forward ? Purpose::kActivations : Purpose::kGradients,
                         whole, sizes_.type, beside);
    draft.operands = {rows(beside, tensor, from, false), rows(beside, tensor, to, true)};
    return draft;
  }
  Draft gather_shares(const Draft& beside, Tensor tensor) const {
    return over_shares(CollectiveKind::kAllGather, beside, tensor, travels_ ? kShare : kSent,
                       kReceived);
  }
  Draft add_up_shares(const Draft& beside, Tensor tensor) const {
    return over_shares(CollectiveKind::kReduceScatter, beside, tensor, kResults,
                       travels_ ? kShareResults : kReturned);
  }
  // Each row brings a number along, its gate or the gate's gradient.
  void add_gates(Draft& exchange, const Draft& beside, GatePart from, GatePart to) const {
    for (const GatePart which : {from, to}) {
      DraftOperand operand;
      operand.tensor = Tensor::kRouterGates;
      operand.layer = beside.op.layer;
      operand.part = which;
      const bool taken = which == kReceivedGates || which == kReceivedGateGradients;
      operand.count = taken ? sizes_.expert_rows : sizes_.sent_rows;
      operand.access = which == to ? Access::kWrite : Access::kRead;
      operand.opens = which == to ? operand.count * 4 : 0;
      exchange.operands.push_back(operand);
    }
    const std::int64_t tokens = exchange.axis == Axis::kTp ? sizes_.N : sizes_.routed;
    exchange.op.bytes += tokens * experts_.top_k * 4;
  }
  // A byte for an element, and for 128 of them a scale in fp32. Source: DeepSeek-V3 (arXiv
  // 2412.19437), section 3.3.2.
  std::int64_t fp8_bytes() const {
    const std::int64_t elements = row_bytes_ / size_of(sizes_.type);
    return elements + elements / 128 * 4;
  }
  DraftOperand rows(const Draft& beside, Tensor tensor, ExpertPart part, bool opens) const {
    const bool taken = part == kReceived || part == kResults;
    DraftOperand operand;
    operand.tensor = tensor;
    operand.layer = beside.op.layer;
    operand.part = part;
    operand.type = sizes_.type;
    operand.count = (taken ? sizes_.expert_rows : sizes_.sent_rows) * sizes_.shape.C;
    operand.access = opens ? Access::kWrite : Access::kRead;
    operand.opens = opens ? operand.count * size_of(sizes_.type) : 0;
    return operand;
  }
  DraftOperand counts_by_place(const Draft& beside) const {
    DraftOperand operand = counts(beside);
    operand.offset = counts_offset(sizes_.routed, experts_.count, experts_.top_k);
    return operand;
  }
  DraftOperand counts_by_rank(const Draft& beside, bool opens) const {
    DraftOperand operand = counts(beside);
    operand.part = 1;
    operand.access = opens ? Access::kWrite : Access::kRead;
    operand.opens = opens ? operand.count * 4 : 0;
    return operand;
  }
  DraftOperand counts(const Draft& beside) const {
    DraftOperand operand;
    operand.tensor = Tensor::kRoutes;
    operand.layer = beside.op.layer;
    operand.type = DataType::kI32;
    operand.count = experts_.count;
    return operand;
  }

  const LocalSizes& sizes_;
  const Experts& experts_;
  const bool fp8_, gates_travel_, balances_;
  const bool shares_, travels_;  // over TP, over EP
  const Lane lane_;
  const std::int64_t row_bytes_;
  std::vector<Draft> drafts_;
};

}  // namespace

std::vector<Draft> experts_pass(const Setup& setup, const LocalSizes& sizes,
                                std::vector<Draft> drafts) {
  if (setup.mesh.ep == 1 && !routes_own_tokens(setup)) return drafts;
  ExpertsPass pass(setup, sizes);
  for (Draft& draft : drafts) pass.add(std::move(draft));
  return pass.take();
}

}  // namespace parallelarium
