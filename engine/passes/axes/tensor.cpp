// SPDX-License-Identifier: Apache-2.0
// Tensor and sequence parallelism: after a row-parallel product the partial sums of the TP group
// are all-reduced, and so are the input gradients of a column-parallel one; four all-reduces a
// layer. Sequence parallelism turns each into a reduce-scatter and an all-gather, and gathers the
// input of a column-parallel product once more for its weight gradient, unless it is kept
// (Setup::sequence_regather): then the bytes are those of the all-reduces. The vocabulary is split
// as well: the embedding's partial rows are summed, and the loss needs three reductions of one
// number a token. Routers are not cut: every rank routes all tokens, and a gate's gradient, which
// needs whole results, is the sum of the ranks' parts. Shared experts are summed with the others.
// Where each TP rank dispatches its own tokens, experts.cpp gathers what came.
// Setup::overlap_tensor lets input gradients be summed in another lane, behind the weight gradient
// of the same layer.
//
// Setup::ring_tensor cuts the products of linear layers by the tokens of the ranks. An all-gather
// in front of a forward becomes a ring: in step i a rank multiplies the tokens of the i-th rank to
// its left, while they go on to its right. A reduce-scatter behind a product becomes a ring, too:
// in step i a rank makes its part of a sum that ends t - 1 - i ranks to its right, adds what came
// from its left, and passes it on during the next product. A weight gradient stays whole, since
// each part of it would read and write all of the gradient: what it reads is gathered at once, but
// for inputs that are kept from a forward's ring. Where the product of the input gradient before it
// is whole, too, since its sum hides (Setup::overlap_tensor), that gather goes on beside it, as in
// Transformer Engine's bulk overlap. Source: Shoeybi et al. 2019, section 3;
// Korthikanti et al. 2022, section 4.2.2; Megatron-LM (asynchronous reduction in its linear
// layers); Wang et al. 2023, "Overlap Communication with Dependent Computation via Decomposition in
// Large Deep Learning Models", ASPLOS, section 5; Transformer Engine 3ec8787 (ub_bulk_dgrad in
// pytorch/module/layernorm_linear.py).
#include <algorithm>
#include <utility>

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

namespace {

bool is_column(Piece piece) {
  return piece == Piece::kQkv || piece == Piece::kMlpIn || piece == Piece::kRouter;
}
bool is_row(Piece piece) {
  return piece == Piece::kProjection || piece == Piece::kMlpOut || piece == Piece::kUnpermute;
}

class TensorPass {
 public:
  TensorPass(const Setup& setup, const LocalSizes& sizes)
      : sp_(setup.sequence_parallel),
        keeps_(keeps_gathered_inputs(setup)),
        overlaps_(setup.overlap_tensor),
        rings_(setup.ring_tensor),
        tp_(setup.mesh.tp),
        ring_(lane_of_rings(setup)),
        gates_travel_(setup.expert_gates == ExpertGates::kActivations),
        shares_(routes_own_tokens(setup)),
        model_(setup.model),
        sizes_(sizes),
        whole_(sizes.N * sizes.shape.C),
        own_(sizes.N_norm * sizes.shape.C) {}

  // `next`: the draft behind it, or null.
  void add(Draft draft, const Draft* next) {
    const Piece piece = draft.op.piece;
    const Phase phase = draft.op.phase;
    // Of the rank's own tokens.
    if (shares_ &&
        (piece == Piece::kRouter || piece == Piece::kDispatch || piece == Piece::kUnpermute)) {
      drafts_.push_back(std::move(draft));
      return;
    }
    const bool forward = phase == Phase::kForward || phase == Phase::kRecompute;
    const bool shared = is_shared(draft);
    // The split part of a layer; an up-projection that is computed again is inside of it.
    const bool enters =
        (is_column(piece) || piece == Piece::kHead) && draft.operands[0].tensor != Tensor::kQkvOut;
    const bool leaves = is_row(piece) || piece == Piece::kEmbedding;
    const bool input = phase == Phase::kInputGrad;
    if (rings_ && !shared && is_linear(piece)) {
      const bool reads_ring = forward || (phase == Phase::kWeightGrad && keeps_);
      if ((forward && leaves) || (input && enters && !overlaps_)) return ring_sum(draft, forward);
      if (enters && reads_ring) return ring_gather(draft);
    }
    const bool leads = next != nullptr && next->op.phase == Phase::kWeightGrad &&
                       next->op.piece == piece && next->op.layer == draft.op.layer;
    if (rings_ && !keeps_ && !shared && is_linear(piece) && input && enters && leads)
      gather_beside(*next);
    if (sp_) gather_inputs(draft, forward, enters, leaves, shared);
    const bool sums = !shared && ((forward && leaves) || (input && piece == Piece::kDispatch) ||
                                  (input && enters && piece != Piece::kRouter));
    // A gate's gradient is a sum over what the ranks have of an expert's width, or of its results.
    if (input && piece == Piece::kRouter && gates_travel_) sum_gates(draft, draft.operands[0]);
    const auto at = drafts_.size();
    drafts_.push_back(std::move(draft));
    if (sums) sum_partials(at, forward);
    if (input && piece == Piece::kUnpermute && !gates_travel_)
      sum_gates(drafts_[at], drafts_[at].operands.back());
    if (phase == Phase::kForward && piece == Piece::kLossMax) sum_tokens(at, 1, Reduction::kMax);
    if (phase == Phase::kForward && piece == Piece::kLossSum) {
      sum_tokens(at, 3, Reduction::kSum);
      sum_tokens(at, 4, Reduction::kSum);
    }
  }
  std::vector<Draft> take() { return std::move(drafts_); }

 private:
  // The MLP beside experts; where these share nothing with it, it is as any other.
  bool is_shared(const Draft& draft) const {
    const Piece piece = draft.op.piece;
    return !shares_ && (piece == Piece::kMlpIn || piece == Piece::kMlpOut) &&
           is_expert_layer(model_, draft.op.layer);
  }
  Draft collective(CollectiveKind kind, Purpose purpose, const Draft& beside) const {
    return collective_draft(kind, Axis::kTp, purpose, whole_ * size_of(sizes_.type), sizes_.type,
                            beside);
  }
  // The ops of one piece share it: a weight gradient may come long after what its input gradient
  // gathered, and reads what its forward gathered only where that is kept.
  DraftOperand all_tokens(Tensor tensor, const Draft& beside, bool opens) const {
    DraftOperand operand;
    operand.tensor = tensor;
    operand.layer = beside.op.layer;
    // Dispatch and shared experts read what the router gathered, and of the gradient what the
    // experts' end did.
    Piece piece = beside.op.piece;
    const bool weight = beside.op.phase == Phase::kWeightGrad;
    if (tensor == Tensor::kSequenceInput && (!weight || keeps_) &&
        (piece == Piece::kDispatch || is_shared(beside)))
      piece = Piece::kRouter;
    if (tensor == Tensor::kSequenceGradient && is_shared(beside)) piece = Piece::kUnpermute;
    operand.part = static_cast<std::int16_t>(piece);
    operand.kept = keeps_ && tensor == Tensor::kSequenceInput;
    operand.type = sizes_.type;
    operand.count = whole_;
    if (opens) {
      operand.access = Access::kWrite;
      operand.opens = whole_ * size_of(sizes_.type);
    }
    return operand;
  }

  // Sequence parallelism: what this draft reads of all tokens, the rank holds of its own. A weight
  // gradient of a row-parallel product uses what its input gradient gathered.
  void gather_inputs(Draft& draft, bool forward, bool enters, bool leaves, bool shared) {
    const Phase phase = draft.op.phase;
    const bool weight = phase == Phase::kWeightGrad;
    const bool activation = enters && (forward || weight);
    const bool gradient = leaves && !forward;
    if (forward && (draft.op.piece == Piece::kDispatch || (shared && enters))) {
      draft.operands[0] = all_tokens(Tensor::kSequenceInput, draft, false);
      return;
    }
    if (!activation && !gradient) return;
    if (shared && gradient) {
      draft.operands[0] = all_tokens(Tensor::kSequenceGradient, draft, false);
      return;
    }
    // Operand 0 of a product's forward and of every gradient is what enters; a weight gradient's
    // second is the forward's input.
    DraftOperand& input = draft.operands[enters && weight];
    const DraftOperand gathered =
        all_tokens(gradient ? Tensor::kSequenceGradient : Tensor::kSequenceInput, draft, false);
    const bool is_there = weight && (gradient ? draft.op.piece != Piece::kEmbedding
                                              : keeps_ || std::exchange(gathered_, false));
    if (!is_there) {
      const Purpose purpose = gradient ? Purpose::kGradients
                              : weight ? Purpose::kRegather
                                       : Purpose::kActivations;
      Draft gather = collective(CollectiveKind::kAllGather, purpose, draft);
      DraftOperand own = input;
      own.count = own_;
      gather.operands = {all_tokens(gathered.tensor, draft, true), own};
      drafts_.push_back(std::move(gather));
    }
    input = gathered;
  }

  // What a weight gradient reads, beside the input gradient before it.
  void gather_beside(const Draft& weight) {
    Draft gather = collective(CollectiveKind::kAllGather, Purpose::kRegather, weight);
    DraftOperand own = weight.operands[1];
    own.count = own_;
    gather.op.lane = ring_;
    gather.operands = {all_tokens(Tensor::kSequenceInput, weight, true), own};
    drafts_.push_back(std::move(gather));
    gathered_ = true;
  }

  // The last operand of the draft, a partial sum, becomes the group's sum.
  void sum_partials(std::size_t at, bool forward) {
    const Purpose purpose = drafts_[at].op.piece == Piece::kEmbedding ? Purpose::kEmbedding
                            : forward                                 ? Purpose::kActivations
                                                                      : Purpose::kGradients;
    DraftOperand& output = drafts_[at].operands.back();
    Draft sum = collective(sp_ ? CollectiveKind::kReduceScatter : CollectiveKind::kAllReduce,
                           purpose, drafts_[at]);
    // The weight gradient that follows needs no sum of input gradients.
    if (overlaps_ && drafts_[at].op.phase == Phase::kInputGrad)
      sum.op.lane = rings_ ? ring_ : Lane::kPipeline;
    if (sp_) {
      DraftOperand own = output;
      own.count = own_;
      own.opens = own_ * size_of(sizes_.type);
      output = all_tokens(Tensor::kPartialSum, drafts_[at], true);
      sum.operands = {all_tokens(Tensor::kPartialSum, drafts_[at], false), own};
    } else {
      DraftOperand in_place = output;
      in_place.access = Access::kAccumulate;
      in_place.opens = 0;
      sum.operands = {in_place};
    }
    drafts_.push_back(std::move(sum));
  }

  static bool is_linear(Piece piece) {
    return piece == Piece::kQkv || piece == Piece::kProjection || piece == Piece::kMlpIn ||
           piece == Piece::kMlpOut;
  }
  // One rank's tokens of a ring, in step `step`.
  DraftOperand block(Tensor tensor, const Draft& beside, int step, bool opens,
                     bool received = false) const {
    constexpr int kFirst = 64;  // behind the pieces of all_tokens()
    DraftOperand operand = all_tokens(tensor, beside, opens);
    const int of = (is_row(beside.op.piece) ? 4 : 0) + (is_mlp(beside.op.piece) ? 2 : 0);
    operand.part = static_cast<std::int16_t>(kFirst + step * 8 + of + (received ? 1 : 0));
    operand.count = own_;
    if (opens) operand.opens = own_ * size_of(sizes_.type);
    return operand;
  }
  static bool is_mlp(Piece piece) { return piece == Piece::kMlpIn || piece == Piece::kMlpOut; }

  // Sends to the right neighbour its block of step `step` and receives the next of the left one, as
  // one batch.
  void pass_on(const Draft& beside, Purpose purpose, int step, const DraftOperand& sent,
               const DraftOperand& received) {
    for (const bool sends : {true, false}) {
      Draft draft = collective_draft(CollectiveKind::kAllGather, Axis::kTp, purpose,
                                     own_ * size_of(sizes_.type), sizes_.type, beside);
      draft.op.kind = sends ? OpKind::kSend : OpKind::kRecv;
      draft.op.lane = ring_;
      draft.op.block = static_cast<std::int16_t>(step);
      draft.op.peer = sends ? 1 : tp_ - 1;
      draft.op.batch = batches_;
      draft.operands = {sends ? sent : received};
      drafts_.push_back(std::move(draft));
    }
    ++batches_;
  }

  // The product of one rank's tokens: what the first step opens, the others add to.
  Draft step_of(const Draft& whole, int step) const {
    Draft draft = whole;
    draft.op.block = static_cast<std::int16_t>(step);
    const bool weight = whole.op.phase == Phase::kWeightGrad;
    for (Work& work : draft.work) {
      // Each step reads all weights, or adds to the gradients of all.
      const std::int64_t weights = weight ? work.m * work.n * 2 * size_of(DataType::kF32)
                                          : work.n * work.k * size_of(sizes_.type);
      const std::int64_t same = std::min(work.bytes, weights);
      work.bytes = same + (work.bytes - same) / tp_;
      (weight ? work.k : work.m) /= tp_;
      work.flops /= tp_;
      work.elements /= tp_;
    }
    if (step == 0) return draft;
    for (DraftOperand& operand : draft.operands) {
      if (operand.access == Access::kWrite) operand.access = Access::kAccumulate;
      operand.opens = 0;
    }
    return draft;
  }

  // The input of a forward, or of a weight gradient that reads what its forward kept.
  void ring_gather(const Draft& draft) {
    constexpr Tensor kInput = Tensor::kSequenceInput;
    const bool weight = draft.op.phase == Phase::kWeightGrad;
    const std::size_t index = weight ? 1 : 0;
    DraftOperand own = draft.operands[index];
    own.count = own_;
    for (int step = 0; step < tp_; ++step) {
      const DraftOperand here = step == 0 ? own : block(kInput, draft, step, false);
      if (!weight && step + 1 < tp_)
        pass_on(draft, Purpose::kActivations, step, here, block(kInput, draft, step + 1, true));
      Draft part = step_of(draft, step);
      part.operands[index] = here;
      drafts_.push_back(std::move(part));
    }
  }

  void ring_sum(const Draft& draft, bool forward) {
    const Purpose purpose = forward ? Purpose::kActivations : Purpose::kGradients;
    const auto mine = [&](int step, bool opens) {
      return block(Tensor::kPartialSum, draft, step, opens);
    };
    const auto came = [&](int step, bool opens) {
      return block(Tensor::kPartialSum, draft, step, opens, true);
    };
    for (int step = 0; step < tp_; ++step) {
      Draft part = step_of(draft, step);
      part.operands.back() = mine(step, true);
      drafts_.push_back(std::move(part));
      if (step > 0) {
        DraftOperand sum = mine(step, false);
        sum.access = Access::kAccumulate;
        if (step + 1 == tp_) {
          sum = draft.operands.back();
          sum.count = own_;
          sum.opens = own_ * size_of(sizes_.type);
        }
        add_up(draft, step, sum, {mine(step, false), came(step, false)});
      }
      if (step + 1 < tp_) pass_on(draft, purpose, step, mine(step, false), came(step + 1, true));
    }
  }
  void add_up(const Draft& beside, int step, const DraftOperand& sum,
              std::vector<DraftOperand> parts) {
    Draft draft;
    draft.op.piece = Piece::kCombine;
    draft.op.block = static_cast<std::int16_t>(step);
    draft.op.phase = beside.op.phase;
    draft.op.layer = beside.op.layer;
    draft.op.reduction = Reduction::kSum;
    draft.op.type = sizes_.type;
    Work work{Piece::kCombine, beside.op.phase};
    work.elements = 2 * own_;
    work.bytes = 3 * own_ * size_of(sizes_.type);
    work.flops = static_cast<double>(own_);
    draft.work = {work};
    draft.operands = {sum};
    for (DraftOperand& part : parts) draft.operands.push_back(part);
    drafts_.push_back(std::move(draft));
  }

  // An operand of the draft, one number a choice.
  void sum_gates(const Draft& beside, DraftOperand gates) {
    Draft sum = collective_draft(CollectiveKind::kAllReduce, Axis::kTp, Purpose::kGradients,
                                 gates.count * 4, DataType::kF32, beside);
    gates.access = Access::kAccumulate;
    gates.opens = 0;
    sum.operands = {gates};
    drafts_.push_back(std::move(sum));
  }

  // One number a token: operand `index` of the draft.
  void sum_tokens(std::size_t at, std::size_t index, Reduction reduction) {
    Draft sum = collective_draft(CollectiveKind::kAllReduce, Axis::kTp, Purpose::kLoss,
                                 sizes_.N * 4, DataType::kF32, drafts_[at]);
    sum.op.reduction = reduction;
    DraftOperand numbers = drafts_[at].operands[index];
    numbers.access = Access::kAccumulate;
    numbers.opens = 0;
    sum.operands = {numbers};
    drafts_.push_back(std::move(sum));
  }

  const bool sp_, keeps_, overlaps_, rings_;
  const int tp_;
  // The lane of rings. Neighbour stages work on other actions, and what goes between them waits for
  // these: in the same lane a ring would wait, too.
  const Lane ring_;
  const bool gates_travel_, shares_;
  std::int32_t batches_ = 0;  // of this action so far
  bool gathered_ = false;     // what the next weight gradient reads
  const Model& model_;
  const LocalSizes& sizes_;
  const std::int64_t whole_, own_;  // elements of all tokens and of the rank's own
  std::vector<Draft> drafts_;
};

}  // namespace

std::vector<Draft> tensor_pass(const Setup& setup, const LocalSizes& sizes,
                               std::vector<Draft> drafts) {
  if (setup.mesh.tp == 1) return drafts;
  TensorPass pass(setup, sizes);
  for (std::size_t at = 0; at < drafts.size(); ++at)
    pass.add(std::move(drafts[at]), at + 1 < drafts.size() ? &drafts[at + 1] : nullptr);
  return pass.take();
}

}  // namespace parallelarium
