// SPDX-License-Identifier: Apache-2.0
// Context parallelism: each rank holds a part of the sequence, and attention needs the keys and
// values of all parts.
//
// All-gather: keys and values are packed and gathered before the forward and again before the
// backward, whose key and value gradients go back by reduce-scatter; in the compute lane, so no
// overlap with attention. Ring: the same bytes go from neighbour to neighbour beside computing,
// while attention works on the block that came before; a block's gradient starts at its right
// neighbour and follows it round, so that it comes home with everyone's part. Ulysses: ulysses.cpp.
// Local: nothing is sent, so a rank's queries meet its own keys alone.
// Source: Liu et al. 2023 (ring attention); Dubey et al. 2024, section 3.3.2.
#include <algorithm>

#include "engine/passes/pieces.h"

namespace parallelarium {

namespace {

class ContextPass {
 public:
  ContextPass(const Setup& setup, const LocalSizes& sizes, const std::vector<Draft>& drafts)
      : cp_(setup.mesh.cp),
        lane_(lane_of_rings(setup)),
        method_(setup.context_parallel),
        fused_(setup.attention == Attention::kFused),
        sizes_(sizes),
        one_(2 * sizes.N * sizes.shape.K * sizes.shape.D) {
    for (const Draft& draft : drafts) batches_ = std::max(batches_, draft.op.batch + 1);
  }

  void add(Draft draft) {
    if (draft.op.piece != Piece::kAttention) {
      drafts_.push_back(std::move(draft));
    } else if (method_ == ContextParallel::kUlysses) {
      for (Draft& part : exchange_heads(cp_, sizes_, fused_, std::move(draft)))
        drafts_.push_back(std::move(part));
    } else if (method_ == ContextParallel::kAllGather || !fused_) {
      all_gather(std::move(draft));
    } else {
      ring(draft);
    }
  }
  std::vector<Draft> take() { return std::move(drafts_); }

 private:
  static bool is_forward(const Draft& draft) { return draft.op.phase != Phase::kInputGrad; }

  DraftOperand keys_values(Tensor tensor, int layer, Access access, std::int64_t blocks, bool opens,
                           int block = 0) const {
    DraftOperand operand;
    operand.tensor = tensor;
    operand.layer = static_cast<std::int16_t>(layer);
    operand.access = access;
    operand.type = sizes_.type;
    operand.count = blocks * one_;
    operand.opens = opens ? operand.count * size_of(sizes_.type) : 0;
    operand.part = static_cast<std::int16_t>(block);
    return operand;
  }
  void collective(CollectiveKind kind, std::int64_t count, const Draft& beside,
                  const DraftOperand* operand) {
    Draft draft = collective_draft(kind, Axis::kCp, Purpose::kKeysValues,
                                   count * size_of(sizes_.type), sizes_.type, beside);
    if (operand != nullptr) {
      draft.operands = {*operand};
      draft.operands[0].access = Access::kAccumulate;
      draft.operands[0].opens = 0;
    }
    drafts_.push_back(std::move(draft));
  }
  // Copies keys and values out of QKV, or their gradient into that of QKV.
  void permute(const Draft& beside, Phase phase, const DraftOperand& from, const DraftOperand& to) {
    Draft draft;
    draft.op.piece = Piece::kPermute;
    draft.op.phase = phase;
    draft.op.layer = beside.op.layer;
    Work work;
    work.piece = Piece::kPermute;
    work.phase = phase;
    work.elements = one_;
    work.bytes = 2 * one_ * size_of(sizes_.type);
    draft.work = {work};
    draft.operands = {from, to};
    drafts_.push_back(std::move(draft));
  }
  static DraftOperand reading(DraftOperand operand) {
    operand.access = Access::kRead;
    operand.opens = 0;
    return operand;
  }
  static DraftOperand adding(DraftOperand operand) {
    operand.access = Access::kAccumulate;
    operand.opens = 0;
    return operand;
  }

  void all_gather(Draft draft) {
    const bool forward = is_forward(draft);
    const int layer = draft.op.layer;
    const Phase phase = forward ? draft.op.phase : Phase::kRecompute;
    const DraftOperand all = keys_values(Tensor::kKeysValues, layer, Access::kWrite, cp_, true);
    const DraftOperand gradient =
        keys_values(Tensor::kGradKeysValues, layer, Access::kWrite, cp_, true);
    const DraftOperand dqkv = draft.operands[forward ? 0 : 4];
    permute(draft, phase, reading(draft.operands[forward ? 0 : 1]), all);
    collective(CollectiveKind::kAllGather, cp_ * one_, draft, &all);
    auto& operands = draft.operands;
    if (fused_) {
      operands.insert(operands.begin() + (forward ? 1 : 2), reading(all));
      if (!forward) operands.insert(operands.end() - 1, gradient);
    }
    drafts_.push_back(std::move(draft));
    if (forward) return;
    const Draft beside = drafts_.back();
    collective(CollectiveKind::kReduceScatter, cp_ * one_, beside, fused_ ? &gradient : nullptr);
    if (fused_) permute(beside, Phase::kInputGrad, reading(gradient), adding(dqkv));
  }

  void ring(const Draft& draft) {
    const bool forward = is_forward(draft);
    const int layer = draft.op.layer;
    const auto block = [&](Tensor tensor, std::int64_t step, bool opens) {
      return keys_values(tensor, layer, opens ? Access::kWrite : Access::kRead, 1, opens,
                         static_cast<int>(step));
    };
    const std::size_t scratch = draft.operands.size() - 1;
    permute(draft, forward ? draft.op.phase : Phase::kRecompute,
            reading(draft.operands[forward ? 0 : 1]), block(Tensor::kKeysValues, 0, true));
    for (std::int64_t step = 0; step < cp_; ++step) {
      if (step + 1 < cp_) pass_on(draft, Tensor::kKeysValues, step);
      Draft work = draft;
      share_work(work);
      work.op.block = static_cast<std::int16_t>(step);
      auto& operands = work.operands;
      if (step > 0) {
        // Accumulates what the first block opened; the gradient of others' keys and values travels.
        const std::size_t written = forward ? 1 : 4;
        for (std::size_t i = written; i <= scratch; ++i) operands[i] = adding(operands[i]);
        operands.insert(operands.begin() + (forward ? 1 : 2),
                        block(Tensor::kKeysValues, step, false));
        if (!forward) {
          const DraftOperand gradient = block(Tensor::kGradKeysValues, step, step == 1);
          operands.insert(operands.end() - 1, step == 1 ? gradient : adding(gradient));
        }
      }
      drafts_.push_back(std::move(work));
      if (!forward && step > 0) pass_on(draft, Tensor::kGradKeysValues, step);
    }
    if (!forward) {
      permute(draft, Phase::kInputGrad, block(Tensor::kGradKeysValues, cp_, false),
              adding(draft.operands[4]));
    }
  }

  // Sends block `step` to the right neighbour and receives the next from the left, as one batch.
  void pass_on(const Draft& beside, Tensor tensor, std::int64_t step) {
    for (const bool sends : {true, false}) {
      Draft draft = collective_draft(CollectiveKind::kAllGather, Axis::kCp, Purpose::kKeysValues,
                                     one_ * size_of(sizes_.type), sizes_.type, beside);
      draft.op.kind = sends ? OpKind::kSend : OpKind::kRecv;
      draft.op.lane = lane_;
      draft.op.peer = static_cast<std::int32_t>(sends ? 1 : cp_ - 1);
      draft.op.batch = batches_;
      draft.operands = {keys_values(tensor, beside.op.layer, sends ? Access::kRead : Access::kWrite,
                                    1, !sends, static_cast<int>(sends ? step : step + 1))};
      drafts_.push_back(std::move(draft));
    }
    ++batches_;
  }

  // One of the ring's equal shares of attention's work.
  void share_work(Draft& draft) const {
    for (Work& work : draft.work) {
      work.n /= cp_;  // keys
      work.flops /= static_cast<double>(cp_);
      work.bytes /= cp_;
      work.elements /= cp_;
    }
  }

  const std::int64_t cp_;
  const Lane lane_;
  const ContextParallel method_;
  const bool fused_;
  const LocalSizes& sizes_;
  const std::int64_t one_;    // elements of a rank's keys and values
  std::int32_t batches_ = 0;  // of this action so far
  std::vector<Draft> drafts_;
};

}  // namespace

std::vector<Draft> context_pass(const Setup& setup, const LocalSizes& sizes,
                                std::vector<Draft> drafts) {
  if (setup.mesh.cp == 1 || setup.context_parallel == ContextParallel::kLocal) return drafts;
  ContextPass pass(setup, sizes, drafts);
  for (Draft& draft : drafts) pass.add(std::move(draft));
  return pass.take();
}

}  // namespace parallelarium
