// SPDX-License-Identifier: Apache-2.0
#include "engine/passes/pieces.h"

#include "engine/passes/writers/expert_writer.h"

namespace parallelarium {

namespace {

// Writes the pieces of one action in the operand order of plan/pieces.h.
class Writer : private ExpertWriter {
 public:
  Writer(const Setup& setup, const LocalSizes& sizes, const Chunk& chunk,
         const std::vector<ParameterSlice>& slices)
      : ExpertWriter(setup, sizes, chunk, slices) {}

  using PieceWriter::take;

  void forward() {
    phase_ = Phase::kForward;
    if (chunk_.first) embedding_forward();
    for (const int layer : chunk_.layers) layer_forward(layer);
    if (chunk_.last) head_forward();
  }

  // `input` and `weight`: which parts of the backward to write.
  void backward(bool input, bool weight) {
    input_ = input;
    weight_ = weight;
    if (chunk_.last) head_backward();
    for (auto layer = chunk_.layers.rbegin(); layer != chunk_.layers.rend(); ++layer) {
      if (input_ && computes_again(*layer)) {
        phase_ = Phase::kRecompute;
        layer_forward(*layer);
      }
      layer_backward(*layer);
    }
    if (chunk_.first && weight_) embedding_backward();
  }

 private:
  bool computes_again(int layer) const {
    const int most = setup_.recompute_layers;
    return setup_.recompute == Recompute::kFull && (most == 0 || layer - chunk_.begin < most);
  }

  void embedding_forward() {
    begin(Piece::kEmbedding, phase_, -1, z_.N * s_.C);
    tokens(Tensor::kTokens);
    parameter(Parameter::kTokenTable, -1);
    if (model_.learned_positions) parameter(Parameter::kPositionTable, -1);
    // Only the rows that are looked up move.
    work().bytes = z_.N * (4 + 2 * s_.C * size_of(z_.type));
    write(Tensor::kInput, first_layer(), z_.N * s_.C);
  }
  void embedding_backward() {
    begin(Piece::kEmbedding, Phase::kWeightGrad, -1, z_.N * s_.C);
    read_stream(entering(first_layer()), z_.N * s_.C);
    tokens(Tensor::kTokens);
    gradient(Parameter::kTokenTable, -1);
    if (model_.learned_positions) gradient(Parameter::kPositionTable, -1);
    work().bytes = z_.N * (4 + 3 * s_.C * size_of(z_.type));
  }

  std::int64_t scores() const { return s_.B * s_.H * s_.T * z_.T_full; }
  bool keeps_scores() const { return setup_.attention == Attention::kUnfused; }

  // Sums of rows, and two blocks of 128 rows of scores (kernels/block_attention/block_attention.h).
  std::int64_t fused_scratch() const { return s_.B * s_.H * s_.T + 2 * 128 * s_.T; }

  // Half of a head's products are as wide as its keys, and half as its values.
  void attention_products(std::int64_t each_head) {
    product(s_.T, z_.T_full, s_.D, each_head * s_.B * s_.H);
    const auto values = static_cast<double>(z_.value_width / s_.H);
    work().flops *= (static_cast<double>(s_.D) + values) / (2 * static_cast<double>(s_.D));
  }

  void attention_forward(int layer, Phase phase, bool opens_context) {
    begin(Piece::kAttention, phase, layer, scores());
    attention_products(2);
    read(Tensor::kQkvOut, layer, z_.N * z_.A);
    if (keeps_scores()) write(Tensor::kProbabilities, layer, scores());
    if (opens_context) {
      write(Tensor::kContext, layer, z_.N * z_.value_width);
    } else {
      add(Tensor::kContext, layer, Access::kWrite, z_.N * z_.value_width, 0, 0, z_.type);
    }
    if (!keeps_scores()) {
      write_float(Tensor::kAttentionStats, layer, s_.B * s_.H * s_.T);
      write_float(Tensor::kScratch, layer, fused_scratch());
    }
    if (drops() && keeps_scores()) {
      masks(Access::kWrite, layer, scores(), kScoreMask);
      write(Tensor::kDroppedProbabilities, layer, scores());
    }
    if (opens_context && copies_context())
      keep_copy(Tensor::kContext, layer, z_.N * z_.value_width, 0, kContextBits);
  }
  void attention_backward(int layer) {
    if (!input_) return;
    if (again(Recompute::kUpProjection) && keeps_latent()) up_projection(layer);
    if (again(Recompute::kSecondProducts)) keys_again(layer);
    if (again(Recompute::kSelective)) {
      attention_forward(layer, Phase::kRecompute, false);
    }
    begin(Piece::kAttention, Phase::kInputGrad, layer, scores());
    attention_products(4);
    read(Tensor::kGradContext, layer, z_.N * z_.value_width);
    read(Tensor::kQkvOut, layer, z_.N * z_.A);
    if (keeps_scores()) {
      read(Tensor::kProbabilities, layer, scores());
    } else {
      if (copies_context())
        read_copy(Tensor::kContext, layer, z_.N * z_.value_width, 0, kContextBits);
      else
        read(Tensor::kContext, layer, z_.N * z_.value_width);
      read_float(Tensor::kAttentionStats, layer, s_.B * s_.H * s_.T);
    }
    write(Tensor::kGradQkv, layer, z_.N * z_.A);
    write_float(Tensor::kScratch, layer, keeps_scores() ? s_.T * z_.T_full : fused_scratch());
    if (drops() && keeps_scores()) {
      masks(Access::kRead, layer, scores(), kScoreMask);
      read(Tensor::kDroppedProbabilities, layer, scores());
    }
    if (copies_gradient(Tensor::kGradQkv)) keep_copy(Tensor::kGradQkv, layer, z_.N * z_.A);
  }

  void residual(Piece piece, int layer, Tensor in, Tensor branch, Tensor out, int out_layer) {
    begin(piece, phase_, layer, z_.N_norm * s_.C);
    read(in, layer, z_.N_norm * s_.C);
    read(branch, layer, z_.N_norm * s_.C);
    write(out, out_layer, z_.N_norm * s_.C);
    if (drops()) masks(Access::kWrite, layer, z_.N_norm * s_.C, mask_of(piece));
  }

  // The residual stream between attention and MLP.
  void middle_forward(int layer) {
    linear_forward(projection(), layer);
    residual(Piece::kResidual1, layer, Tensor::kInput, Tensor::kProjectionOut, Tensor::kMiddle,
             layer);
  }

  void layer_forward(int layer) {
    norm_forward(norm1(layer), layer);
    linear_forward(qkv(), layer);
    attention_forward(layer, phase_, true);
    middle_forward(layer);
    norm_forward(norm2(layer), layer);
    if (is_expert_layer(model_, layer)) {
      experts_forward(layer);
    } else {
      mlp_forward(layer, false);
    }
    residual(Piece::kResidual2, layer, Tensor::kMiddle, Tensor::kMlpOutOut, Tensor::kInput,
             layer + 1);
  }

  void layer_backward(int layer) {
    residual_backward(Piece::kResidual2, layer);
    phase_ = Phase::kRecompute;
    if (again(Recompute::kSecondProducts) && !setup_.sequence_parallel) middle_forward(layer);
    if (again(Recompute::kNorms)) norm_forward(norm2(layer), layer);
    if (is_expert_layer(model_, layer)) {
      if (again(Recompute::kExperts)) experts_forward(layer);
      experts_backward(layer);
    } else {
      mlp_backward(layer, false);
    }
    const Stream left = leaving(layer), between = middle(layer);
    norm_backward(norm2(layer), layer, &left, between);
    residual_backward(Piece::kResidual1, layer);
    linear_backward(projection(), layer);
    phase_ = Phase::kRecompute;
    // Keys that are computed again read it, before the attention that reads them.
    const bool early = second_products();
    if (early && again(Recompute::kNorms)) norm_forward(norm1(layer), layer);
    attention_backward(layer);
    if (!early && again(Recompute::kNorms)) norm_forward(norm1(layer), layer);
    linear_backward(qkv(), layer);
    norm_backward(norm1(layer), layer, &between, entering(layer));
  }

  // With the gaps between their rows.
  std::int64_t logits() const { return z_.N * s_.logits_pitch(); }
  void head_forward() {
    norm_forward(final_norm(), end_layer());
    begin(Piece::kHead, phase_, -1, z_.N * s_.V);
    product(z_.N, s_.V, s_.C);
    read(Tensor::kFinalNormOut, -1, z_.N * s_.C);
    parameter(head_weight(), -1);
    write(Tensor::kLogits, -1, logits());
    const auto write_maxima = [&] {
      add(Tensor::kLossStats, -1, Access::kWrite, z_.N, 0, 3 * z_.N * 4);
    };
    if (s_.cuts_vocabulary()) {
      begin(Piece::kLossMax, phase_, -1, z_.N * s_.V);
      read(Tensor::kLogits, -1, logits());
      write_maxima();
      copy_logits();
    }
    begin(Piece::kLossSum, phase_, -1, z_.N * s_.V);
    if (s_.cuts_vocabulary() && in_fp32())
      read_float(Tensor::kLossLogits, -1, logits());
    else
      read(Tensor::kLogits, -1, logits());
    if (s_.cuts_vocabulary())
      read_float(Tensor::kLossStats, -1, z_.N, 0);
    else
      write_maxima();
    tokens(Tensor::kTargets);
    add(Tensor::kLossStats, -1, Access::kWrite, z_.N, z_.N);
    add(Tensor::kLossStats, -1, Access::kWrite, z_.N, 2 * z_.N);
    if (!s_.cuts_vocabulary()) copy_logits();
    begin(Piece::kLoss, phase_, -1, z_.N);
    read_float(Tensor::kLossStats, -1, z_.N, 0);
    read_float(Tensor::kLossStats, -1, z_.N, z_.N);
    read_float(Tensor::kLossStats, -1, z_.N, 2 * z_.N);
    add(Tensor::kLossSum, -1, Access::kAccumulate, 1, 0, 0, DataType::kF64);
  }
  bool in_fp32() const { return setup_.loss_copies == LossCopies::kFp32; }
  // A pass of its own, which the last draft makes beside its first: what PyTorch launches apart.
  void add_pass(Piece piece, std::int64_t bytes_each) {
    Work& pass = drafts().back().work.emplace_back();
    pass.piece = piece;
    pass.phase = drafts().back().op.phase;
    pass.elements = z_.N * s_.V;
    pass.bytes = bytes_each * logits();
  }
  // The last draft reads the head's logits, of which the loss keeps a copy in fp32. log_softmax
  // reads that and writes as much.
  void copy_logits() {
    if (!in_fp32()) return;
    write_float(Tensor::kLossLogits, -1, logits());
    const int from = size_of(z_.type);
    work().bytes += (4 - from) * logits();
    if (from < 4) add_pass(Piece::kCombine, from + 4);
  }
  void loss_backward() {
    begin(Piece::kLoss, Phase::kInputGrad, -1, z_.N * s_.V);
    read_float(Tensor::kLossStats, -1, z_.N, 0);
    read_float(Tensor::kLossStats, -1, z_.N, z_.N);
    tokens(Tensor::kTargets);
    switch (setup_.loss_copies) {
      case LossCopies::kNone:
        return add(Tensor::kLogits, -1, Access::kAccumulate, logits(), 0, 0, z_.type);
      case LossCopies::kGradient:
        read(Tensor::kLogits, -1, logits());
        return write(Tensor::kGradLogits, -1, logits());
      case LossCopies::kFp32:
        return write_gradients_in_fp32();
    }
  }
  // The gradient of the log-probabilities is cleared and gets a number in each row; it and the copy
  // make the gradient of the copy, which is cast into the place of the logits.
  void write_gradients_in_fp32() {
    const bool casts = z_.type != DataType::kF32;
    add(Tensor::kLogits, -1, Access::kWrite, logits(), 0, 0, z_.type);
    read_float(Tensor::kLossLogits, -1, logits());
    const int temporaries = 1 + s_.cuts_vocabulary() + casts;
    for (int i = 1; i <= temporaries; ++i) {
      write_float(Tensor::kGradLogits, -1, logits());
      part(static_cast<std::int16_t>(i));
    }
    work().bytes = 12 * logits();
    add_pass(Piece::kLoss, 4);
    if (casts) add_pass(Piece::kCombine, 4 + size_of(z_.type));
  }
  void head_backward() {
    const bool beside = setup_.loss_copies == LossCopies::kGradient;
    const Tensor gradient_of_logits = beside ? Tensor::kGradLogits : Tensor::kLogits;
    if (input_) {
      loss_backward();
      begin(Piece::kHead, Phase::kInputGrad, -1, z_.N * s_.C);
      product(z_.N, s_.C, s_.V);
      read(gradient_of_logits, -1, logits());
      parameter(head_weight(), -1);
      write(Tensor::kGradBranch, -1, z_.N * s_.C);
    }
    if (weight_) {
      begin(Piece::kHead, Phase::kWeightGrad, -1, s_.V * s_.C);
      product(s_.V, s_.C, z_.N);
      read(gradient_of_logits, -1, logits());
      read(Tensor::kFinalNormOut, -1, z_.N * s_.C);
      gradient(head_weight(), -1);
    }
    norm_backward(final_norm(), end_layer(), nullptr, {});
  }

  Parameter head_weight() const {
    return model_.tied ? Parameter::kTokenTable : Parameter::kHeadWeight;
  }
};

}  // namespace

std::vector<Draft> action_pieces(const Setup& setup, const LocalSizes& sizes, const Chunk& chunk,
                                 const std::vector<ParameterSlice>& slices, ActionKind kind) {
  Writer writer(setup, sizes, chunk, slices);
  switch (kind) {
    case ActionKind::kForward:
      writer.forward();
      break;
    case ActionKind::kBackward:
      writer.backward(true, true);
      break;
    case ActionKind::kInputGrad:
      writer.backward(true, false);
      break;
    case ActionKind::kWeightGrad:
      writer.backward(false, true);
      break;
  }
  return writer.take();
}

}  // namespace parallelarium
