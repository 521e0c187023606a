// SPDX-License-Identifier: Apache-2.0
// Ulysses: instead of its part of the sequence with all heads, a rank works on all of the sequence
// with its part of the heads. QKV is packed by destination and exchanged by all-to-all, attention
// is that of one rank, and the context goes back the same way; the backward does the same with the
// gradients. Key/value heads that are fewer than the ranks are repeated.
// Source: Jacobs et al. 2023 (DeepSpeed-Ulysses), section 3.
#include <algorithm>

#include "engine/passes/pieces.h"

namespace parallelarium {

namespace {

// Buffers of one tensor and layer: as exchanged [CP,B,T,..], and by sequence [B,CP*T,..]; the same
// two of what the backward exchanges.
enum Part : std::int16_t { kExchanged, kBySequence, kGradExchanged, kGradBySequence };

class Ulysses {
 public:
  Ulysses(std::int64_t cp, const LocalSizes& sizes, bool fused)
      : cp_(cp),
        fused_(fused),
        sizes_(sizes),
        // One sequence lies by sequence as it comes; the exchange of the context is in place.
        reorders_(sizes.shape.B > 1),
        separate_(reorders_ || fused),
        input_(cp * sizes.N *
               (sizes.shape.H / cp + 2 * std::max<std::int64_t>(1, sizes.shape.K / cp)) *
               sizes.shape.D),
        context_(sizes.N * sizes.value_width) {}

  void forward(Draft draft) {
    const DraftOperand qkv = draft.operands[0];
    DraftOperand& context = draft.operands[fused_ ? 1 : 2];
    const DraftOperand result = context;
    const bool again =
        result.opens == 0;  // selective recompute: the exchanged input is still there
    const Part in = reorders_ ? kBySequence : kExchanged;
    const Part out = separate_ ? kBySequence : kExchanged;
    if (!again) {
      exchange_in(draft, draft.op.phase, qkv, Tensor::kHeadsInput, input_, kExchanged, in);
    }
    draft.operands[0] = heads(Tensor::kHeadsInput, draft, input_, in, Access::kRead);
    context = heads(Tensor::kHeadsContext, draft, context_, out, Access::kWrite);
    if (fused_) resize_scratch(draft);
    const Draft beside = draft;
    drafts_.push_back(std::move(draft));
    if (again) return;
    exchange_out(beside, beside.op.phase, Tensor::kHeadsContext, context_, out, kExchanged, result);
  }

  void backward(Draft draft) {
    const DraftOperand dcontext = draft.operands[0];
    const std::size_t written = fused_ ? 4 : 3;
    const DraftOperand dqkv = draft.operands[written];
    const Part gradient = reorders_ ? kGradBySequence : kGradExchanged;
    exchange_in(draft, Phase::kInputGrad, dcontext, Tensor::kHeadsContext, context_, kGradExchanged,
                gradient);
    draft.operands[0] = heads(Tensor::kHeadsContext, draft, context_, gradient, Access::kRead);
    draft.operands[1] = heads(Tensor::kHeadsInput, draft, input_,
                              reorders_ ? kBySequence : kExchanged, Access::kRead);
    if (fused_) {
      draft.operands[2] = heads(Tensor::kHeadsContext, draft, context_, kBySequence, Access::kRead);
    }
    draft.operands[written] = heads(Tensor::kHeadsInput, draft, input_, gradient, Access::kWrite);
    resize_scratch(draft);
    const Draft beside = draft;
    drafts_.push_back(std::move(draft));
    exchange_out(beside, Phase::kInputGrad, Tensor::kHeadsInput, input_, gradient, kGradExchanged,
                 dqkv);
  }
  std::vector<Draft> take() { return std::move(drafts_); }

 private:
  DraftOperand heads(Tensor tensor, const Draft& beside, std::int64_t count, Part part,
                     Access access) const {
    DraftOperand operand;
    operand.tensor = tensor;
    operand.layer = beside.op.layer;
    operand.type = sizes_.type;
    operand.count = count;
    operand.access = access;
    operand.opens = access == Access::kWrite ? count * size_of(sizes_.type) : 0;
    operand.part = part;
    return operand;
  }
  void resize_scratch(Draft& draft) const {
    const std::int64_t T = sizes_.T_full;
    DraftOperand& scratch = draft.operands[fused_ ? draft.operands.size() - 1 : 4];
    scratch.count = fused_ ? sizes_.shape.B * sizes_.shape.H / cp_ * T + 2 * 128 * T : T * T;
    scratch.opens = scratch.count * 4;
  }
  void permute(const Draft& beside, Phase phase, DraftOperand from, const DraftOperand& to) {
    Draft draft;
    draft.op.piece = Piece::kPermute;
    draft.op.phase = phase;
    draft.op.layer = beside.op.layer;
    Work work;
    work.piece = Piece::kPermute;
    work.phase = phase;
    work.elements = from.count;
    work.bytes = 2 * from.count * size_of(from.type);
    draft.work = {work};
    from.access = Access::kRead;
    from.opens = 0;
    draft.operands = {from, to};
    drafts_.push_back(std::move(draft));
  }
  void exchange(const Draft& beside, Tensor tensor, std::int64_t count, Part part) {
    Draft draft = collective_draft(CollectiveKind::kAllToAll, Axis::kCp, Purpose::kKeysValues,
                                   count * size_of(sizes_.type), sizes_.type, beside);
    draft.operands = {heads(tensor, beside, count, part, Access::kAccumulate)};
    drafts_.push_back(std::move(draft));
  }
  // From the rank's own layout to `tensor` by sequence.
  void exchange_in(const Draft& beside, Phase phase, const DraftOperand& from, Tensor tensor,
                   std::int64_t count, Part exchanged, Part by_sequence) {
    permute(beside, phase, from, heads(tensor, beside, count, exchanged, Access::kWrite));
    exchange(beside, tensor, count, exchanged);
    if (by_sequence != exchanged) {
      permute(beside, phase, heads(tensor, beside, count, exchanged, Access::kRead),
              heads(tensor, beside, count, by_sequence, Access::kWrite));
    }
  }
  void exchange_out(const Draft& beside, Phase phase, Tensor tensor, std::int64_t count,
                    Part by_sequence, Part exchanged, const DraftOperand& to) {
    if (by_sequence != exchanged) {
      permute(beside, phase, heads(tensor, beside, count, by_sequence, Access::kRead),
              heads(tensor, beside, count, exchanged, Access::kWrite));
    }
    exchange(beside, tensor, count, exchanged);
    permute(beside, phase, heads(tensor, beside, count, exchanged, Access::kRead), to);
  }

  const std::int64_t cp_;
  const bool fused_;
  const LocalSizes& sizes_;
  const bool reorders_, separate_;
  const std::int64_t input_, context_;  // elements that are exchanged
  std::vector<Draft> drafts_;
};

}  // namespace

std::vector<Draft> exchange_heads(std::int64_t cp, const LocalSizes& sizes, bool fused,
                                  Draft attention) {
  Ulysses ulysses(cp, sizes, fused);
  if (attention.op.phase == Phase::kInputGrad) {
    ulysses.backward(std::move(attention));
  } else {
    ulysses.forward(std::move(attention));
  }
  return ulysses.take();
}

}  // namespace parallelarium
