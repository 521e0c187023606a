// SPDX-License-Identifier: Apache-2.0
// Piece by piece, with the operands in the order of plan/program/pieces.h.
#include "engine/plan/tensors/op_tensors.h"

#include <fmt/format.h>

#include "engine/plan/tensors/attention_tensors.h"
#include "engine/plan/tensors/expert_tensors.h"

namespace parallelarium {

namespace {

class PieceTensors : public AttentionTensors {
 public:
  using AttentionTensors::AttentionTensors;

  void write() {
    switch (op_.piece) {
      case Piece::kEmbedding:
        return forward() ? embedding_forward() : embedding_weight_grad();
      case Piece::kNorm1:
      case Piece::kNorm2:
      case Piece::kFinalNorm:
        return forward() ? norm_forward() : input() ? norm_input_grad() : norm_weight_grad();
      case Piece::kQkv:
        return forward() ? qkv_forward() : input() ? qkv_input_grad() : qkv_weight_grad();
      case Piece::kAttention:
        return forward() ? attention_forward() : attention_input_grad();
      case Piece::kPermute:
        return input() ? permute_input_grad() : void();
      case Piece::kProjection:
        return row(heads_and_width(), s_.H * s_.D, "context");
      case Piece::kResidual1:
      case Piece::kResidual2:
        return forward() ? residual_forward() : residual_input_grad();
      case Piece::kMlpIn:
        return mlp_in();
      case Piece::kActivation:
        return activation();
      case Piece::kMlpOut:
        return row({ffn()}, ffn().size, "act");
      case Piece::kHead:
        return head();
      case Piece::kLossMax:
      case Piece::kLossSum:
      case Piece::kLoss:
        return loss();
      case Piece::kCombine:
        return ring_sum();
      case Piece::kTransfer:
        return ring_exchange();
      default:
        return;
    }
  }

 private:
  void embedding_forward() {
    // With a cut vocabulary these are rows of the rank's own table.
    if (tp() == 1) in("tokens", 0, tokens(0, 1), {});
    parameter("w", 1, {vocabulary(), all("C", s_.C)});
    if (count() == 4) parameter("positions", 2, {all("T", s_.sequence), all("C", s_.C)});
    partial_over_tp(out("x", count() - 1, tokens(count() - 1, s_.C), hidden()));
  }
  void embedding_weight_grad() {
    in("dx", 0, tokens(0, s_.C), hidden());
    if (tp() == 1) in("tokens", 1, tokens(1, 1), {});
    gradient("dw", 2, {vocabulary(), all("C", s_.C)});
    if (count() == 4) gradient("dpositions", 3, {all("T", s_.sequence), all("C", s_.C)});
  }

  // Mean and reciprocal deviation of each token, the means first; an RMS norm has no means.
  void statistics(std::size_t operand, bool written, bool own) {
    const std::int64_t each = operands_[operand].count / 2;
    if (model_.norm == Norm::kLayer) add("mean", operand, written, tokens_of(own, 1), {});
    add("rstd", operand, written, tokens_of(own, 1), {}, each);
  }
  void norm_forward() {
    const std::size_t y = count() - 2;
    in("x", 0, tokens(0, s_.C), hidden());
    parameter("gain", 1, hidden());
    if (y == 3) parameter("bias", 2, hidden());
    out("y", y, tokens(y, s_.C), hidden());
    statistics(y + 1, true, is_own(y, s_.C));
  }
  void norm_input_grad() {
    in("dy", 0, tokens(0, s_.C), hidden());
    in("x", 1, tokens(1, s_.C), hidden());
    parameter("gain", 2, hidden());
    statistics(3, false, is_own(0, s_.C));
    // What the residual stream brings.
    if (count() == 6)
      in("dx-before", 5, tokens(5, s_.C), hidden());
    else if (op_.piece != Piece::kFinalNorm)
      in("dx-before", 4, tokens(4, s_.C), hidden());
    out("dx", 4, tokens(4, s_.C), hidden());
  }
  void norm_weight_grad() {
    in("dy", 0, tokens(0, s_.C), hidden());
    in("x", 1, tokens(1, s_.C), hidden());
    statistics(2, false, is_own(0, s_.C));
    const bool own = is_own(0, s_.C);
    gradient("dgain", 3, hidden(), 0, own);
    if (count() == 5) gradient("dbias", 4, hidden(), 0, own);
  }

  void residual_forward() {
    in("x", 0, tokens(0, s_.C), hidden());
    in("branch", 1, tokens(1, s_.C), hidden());
    out("sum", 2, tokens(2, s_.C), hidden());
    if (count() == 4) out("mask", 3, tokens(3, s_.C), hidden());
  }
  void residual_input_grad() {
    in("dx", 0, tokens(0, s_.C), hidden());
    in("mask", 1, tokens(1, s_.C), hidden());
    out("dbranch", 2, tokens(2, s_.C), hidden());
  }

  // A row-parallel product, whose results TP ranks add up.
  void row(const Dimensions& inner, std::int64_t width, const std::string& name) {
    Dimensions weight = hidden();
    weight.insert(weight.end(), inner.begin(), inner.end());
    if (forward()) {
      in(name, 0, tokens(0, width), inner);
      parameter("w", 1, weight);
      if (count() == 4) parameter("b", 2, hidden());
      partial_over_tp(out("out", count() - 1, tokens(count() - 1, s_.C), hidden()));
      return;
    }
    in("dout", 0, tokens(0, s_.C), hidden());
    if (input()) {
      parameter("w", 1, weight);
      out("d" + name, 2, tokens(2, width), inner);
      return;
    }
    in(name, 1, tokens(1, width), inner);
    gradient("dw", 2, weight);
    if (count() == 4) gradient("db", 3, hidden());
  }

  // A ring's partial sums of one block: what came and the rank's own. Those of its own tokens have
  // then been round. Each step of each of a layer's rings has other ones: "mlp-out-sum-step-2".
  void ring_sum() {
    if (!block_) return;
    constexpr std::size_t kOwn = 1, kCame = 2;
    const auto& own = rank_.buffers[static_cast<std::size_t>(operands_[kOwn].buffer)];
    const Op& product = rank_.ops[static_cast<std::size_t>(own.opened_by)];
    const auto name = [&](const char* of) {
      return fmt::format("{}-{}-step-{}", key_of(name_of(product.piece)), of, op_.block + 1);
    };
    partial_over_tp(in(name("own"), kOwn, tokens(kOwn, s_.C), hidden()));
    partial_over_tp(in(name("came"), kCame, tokens(kCame, s_.C), hidden()));
    OpTensor& sum = out(name("sum"), 0, tokens(0, s_.C), hidden());
    if (op_.block + 1 < tp()) partial_over_tp(sum);
  }
  void ring_exchange() {
    if (!block_) return;
    const char* name = block_->sums ? "sum" : "y";
    OpTensor& block = add(name, 0, op_.kind == OpKind::kRecv, tokens(0, s_.C), hidden());
    if (block_->sums) partial_over_tp(block);
  }

  // The MLP of a layer, or its shared experts as one.
  bool is_expert_layer() const {
    return model_.experts.count > 0 && op_.layer >= model_.experts.first_dense;
  }
  TensorDimension ffn() const {
    return share("F",
                 is_expert_layer() ? model_.experts.shared * (model_.experts.ffn / tp()) : s_.F);
  }
  bool gated() const { return model_.mlp == Mlp::kSwiglu; }
  // The MLP's inner activations, "u" or "gate" and "up", or their gradients.
  void inner_activations(const std::string& prefix, std::size_t operand, bool written) {
    const TensorDimension F = ffn();
    // Where up is computed again, it is an array of its own, behind the gate's if that is there.
    if (gated() && operands_[operand].count == local_tokens() * F.size) {
      const bool both = operand + 1 < count() && tensor(operand + 1) == Tensor::kMlpInOut;
      const Dimensions outer = tokens_of(false, F.size);
      if (both) add(prefix + "gate", operand, written, outer, {F});
      add(prefix + "up", both ? operand + 1 : operand, written, outer, {F});
      return;
    }
    const std::int64_t width = gated() ? 2 * F.size : F.size;
    const Dimensions outer = tokens_of(false, width);
    add(prefix + (gated() ? "gate" : "u"), operand, written, outer, {F});
    if (gated()) add(prefix + "up", operand, written, outer, {F}, F.size);
  }
  void mlp_in() {
    const Dimensions matrix = {ffn(), all("C", s_.C)};
    const std::int64_t up = ffn().size * s_.C;
    const auto weights = [&](std::size_t operand) {
      parameter(gated() ? "w-gate" : "w", operand, matrix);
      if (gated()) parameter("w-up", operand, matrix, up);
    };
    if (forward()) {
      in("y", 0, tokens(0, s_.C), hidden());
      weights(1);
      std::size_t out = 2;
      while (tensor(out) != Tensor::kMlpInOut) ++out;
      if (out == 3) parameter(gated() ? "b-gate" : "b", 2, {ffn()});
      if (out == 3 && gated()) parameter("b-up", 2, {ffn()}, ffn().size);
      return inner_activations("", out, true);
    }
    inner_activations("d", 0, false);
    if (input()) {
      weights(1);
      partial_over_tp(out("dy", 2, tokens(2, s_.C), hidden()));
      return;
    }
    in("y", 1, tokens(1, s_.C), hidden());
    gradient(gated() ? "dw-gate" : "dw", 2, matrix);
    if (gated()) gradient("dw-up", 2, matrix, up);
    if (count() == 4) gradient(gated() ? "db-gate" : "db", 3, {ffn()});
    if (count() == 4 && gated()) gradient("db-up", 3, {ffn()}, ffn().size);
  }
  void activation() {
    const TensorDimension F = ffn();
    if (forward()) {
      inner_activations("", 0, false);
      out("act", count() - 1, tokens_of(false, F.size), {F});
      return;
    }
    in("dact", 0, tokens_of(false, F.size), {F});
    inner_activations("", 1, false);
    inner_activations("d", count() - 1, true);
  }

  void logits(const char* name, std::size_t operand, bool written) {
    add(name, operand, written, tokens_of(false, s_.logits_pitch()), {vocabulary()});
  }
  void head() {
    const Dimensions weight = {vocabulary(), all("C", s_.C)};
    if (forward()) {
      in("y", 0, tokens(0, s_.C), hidden());
      parameter("w", 1, weight);
      return logits("logits", 2, true);
    }
    logits("dlogits", 0, false);
    if (input()) {
      parameter("w", 1, weight);
      partial_over_tp(out("dy", 2, tokens(2, s_.C), hidden()));
      return;
    }
    in("y", 1, tokens(1, s_.C), hidden());
    gradient("dw", 2, weight);
  }

  // One number a token.
  OpTensor& number(const char* name, std::size_t operand, bool written) {
    return add(name, operand, written, tokens_of(false, 1), {});
  }
  static constexpr const char* kCopy = "logits-fp32";  // LossCopies
  void loss() {
    if (op_.piece == Piece::kLoss && forward()) {
      number("max", 0, false);
      number("sum", 1, false);
      number("target", 2, false);
      return gradient("loss", 3, {});
    }
    if (op_.piece == Piece::kLoss) {
      number("max", 0, false);
      number("sum", 1, false);
      const bool in_fp32 = count() > 5, beside = count() == 5;
      logits("logits", in_fp32 ? 4 : 3, false);
      return logits("dlogits", beside ? 4 : 3, true);
    }
    logits("logits", 0, false);
    const bool cut = s_.cuts_vocabulary();
    if (op_.piece == Piece::kLossMax) {
      number("max", 1, true);
      alone();
      if (count() > 2) logits(kCopy, 2, true);
      return;
    }
    number("max", 1, !cut);
    partial_over_tp(number("sum", 3, true));
    partial_over_tp(number("target", 4, true));
    if (count() > 5) logits(kCopy, 5, true);
  }
};

}  // namespace

std::vector<OpTensor> tensors_of(const Setup& setup, const Shape& shape, const RankProgram& rank,
                                 const Op& op) {
  const bool described = op.kind == OpKind::kCompute || ring_block_of(setup, shape, rank, op);
  if (!described || op.phase == Phase::kUpdate) return {};
  ExpertTensors experts(setup, shape, rank, op);
  experts.write();
  if (std::vector<OpTensor> found = experts.take(); !found.empty()) return found;
  PieceTensors tensors(setup, shape, rank, op);
  tensors.write();
  return tensors.take();
}

bool is_probed(const Setup& setup, const Shape& shape, const RankProgram& rank, const Op& op) {
  return op.kind == OpKind::kCompute && !tensors_of(setup, shape, rank, op).empty();
}

}  // namespace parallelarium
