// SPDX-License-Identifier: Apache-2.0
// Writes norms and linear layers with their backwards; these pieces hold nearly all parameters. It
// knows which buffer holds the gradient of the residual stream at each place.
#pragma once

#include "engine/passes/writers/draft_writer.h"

namespace parallelarium {

class PieceWriter : protected DraftWriter {
 protected:
  PieceWriter(const Setup& setup, const LocalSizes& sizes, const Chunk& chunk,
              const std::vector<ParameterSlice>& slices)
      : DraftWriter(sizes, slices),
        setup_(setup),
        model_(setup.model),
        z_(sizes),
        s_(sizes.shape),
        chunk_(chunk) {}

  // The buffer of a gradient of the residual stream. A whole backward updates one buffer in place.
  // A later weight part must see the gradient as it was at its place, so an input part keeps one
  // buffer for every place: leaving a layer (for the last layer, what the chunk receives), between
  // attention and MLP, and entering.
  struct Stream {
    int layer = -1;
    std::int16_t part = 0;
  };
  bool is_whole() const { return input_ && weight_; }
  Stream leaving(int layer) const {
    return is_whole() || layer + 1 == chunk_.end() ? Stream{} : Stream{layer + 1, 0};
  }
  Stream middle(int layer) const { return is_whole() ? Stream{} : Stream{layer, 1}; }
  Stream entering(int layer) const {
    return is_whole() || chunk_.layers.empty() ? Stream{} : Stream{layer, 0};
  }
  // Whether the backward computes this part of a layer again.
  bool again(Recompute part) const { return input_ && names(setup_.recompute, part); }

  // Setup::kept: what the last draft has written waits for its backward as a copy of fewer bits,
  // with an fp32 scale for 128 numbers. The numbers themselves do not wait. Source: DeepSeek-V3
  // (arXiv 2412.19437), section 3.3.3; for the scales, section 3.3.2.
  bool keeps_copies() const { return setup_.kept == KeptType::kFp8; }
  // No copy is kept of what a whole backward computes again: its own weight gradients read that at
  // once.
  bool keeps_copy(Recompute made_again) const {
    return keeps_copies() && !(is_whole() && names(setup_.recompute, made_again));
  }
  static constexpr std::int16_t kCopy = 8;  // added to the part of the numbers
  static constexpr int kCopyBits = 8;
  static constexpr int kContextBits = 12;  // E5M6, since attention's backward reads it too
  void keep_copy(Tensor tensor, int layer, std::int64_t count, std::int16_t of = 0,
                 int bits = kCopyBits) {
    const std::int64_t bytes = count * bits / 8 + count / 128 * 4;
    add(tensor, layer, Access::kWrite, bytes, 0, bytes, DataType::kU8);
    part(static_cast<std::int16_t>(of + kCopy));
  }
  void read_copy(Tensor tensor, int layer, std::int64_t count, std::int16_t of = 0,
                 int bits = kCopyBits) {
    add(tensor, layer, Access::kRead, count * bits / 8 + count / 128 * 4, 0, 0, DataType::kU8);
    part(static_cast<std::int16_t>(of + kCopy));
  }
  // In a split backward, the gradients that its weight part multiplies wait as copies too, since
  // all three products of a linear layer take FP8 (section 3.3.1).
  bool copies_gradients() const { return keeps_copies() && !is_whole(); }
  bool copies_gradient(Tensor of) const {
    if (of == Tensor::kGradQkv) return copies_gradients() && setup_.mesh.cp == 1;
    return of == Tensor::kGradMlpInOut && copies_gradients();
  }
  // The passes of CP cut attention; its output then waits as it is.
  bool copies_context() const { return keeps_copies() && setup_.mesh.cp == 1; }
  // If norms are computed again, or sequence parallelism gathers their outputs again, the outputs
  // wait as they are, or not at all.
  bool copies_norms() const { return keeps_copy(Recompute::kNorms) && !setup_.sequence_parallel; }

  void read_stream(const Stream& stream, std::int64_t count) {
    read(Tensor::kGradResidual, stream.layer, count);
    part(stream.part);
  }

  // Whether a branch has dropout where it joins the residual stream.
  bool drops() const { return setup_.dropout > 0; }
  void masks(Access access, int layer, std::int64_t count, std::int16_t part_of) {
    add(Tensor::kDropoutMasks, layer, access, count, 0, access == Access::kWrite ? count : 0,
        DataType::kU8);
    part(part_of);
  }
  static constexpr std::int16_t kScoreMask = 0;
  static std::int16_t mask_of(Piece residual) { return residual == Piece::kResidual1 ? 1 : 2; }
  Stream stream_of(Piece residual, int layer) const {
    return residual == Piece::kResidual1 ? middle(layer) : leaving(layer);
  }
  void residual_backward(Piece piece, int layer) {
    if (!input_ || !drops()) return;
    const std::int64_t count = z_.N_norm * s_.C;
    begin(piece, Phase::kInputGrad, layer, count);
    read_stream(stream_of(piece, layer), count);
    masks(Access::kRead, layer, count, mask_of(piece));
    write(Tensor::kGradDropped, layer, count);
    part(mask_of(piece));
  }
  // The gradient of what `residual` added to the stream.
  void read_branch_gradient(Piece residual, int layer, std::int64_t count) {
    if (!drops()) return read_stream(stream_of(residual, layer), count);
    read(Tensor::kGradDropped, layer, count);
    part(mask_of(residual));
  }

  struct NormNames {
    Piece piece;
    Tensor in, out, stats;
    Parameter gain, bias;
    int layer;
    std::int16_t branch = 0;  // part of kGradBranch that is dy
  };
  NormNames norm1(int layer) const {
    return {Piece::kNorm1,
            Tensor::kInput,
            Tensor::kNorm1Out,
            Tensor::kNorm1Stats,
            Parameter::kNorm1Gain,
            Parameter::kNorm1Bias,
            layer,
            1};
  }
  NormNames norm2(int layer) const {
    return {Piece::kNorm2,
            Tensor::kMiddle,
            Tensor::kNorm2Out,
            Tensor::kNorm2Stats,
            Parameter::kNorm2Gain,
            Parameter::kNorm2Bias,
            layer};
  }
  NormNames final_norm() const {
    return {Piece::kFinalNorm,
            Tensor::kInput,
            Tensor::kFinalNormOut,
            Tensor::kFinalNormStats,
            Parameter::kFinalNormGain,
            Parameter::kFinalNormBias,
            -1};
  }
  void norm_forward(const NormNames& n, int in_layer) {
    begin(n.piece, phase_, n.layer, z_.N_norm * s_.C);
    read(n.in, in_layer, z_.N_norm * s_.C);
    parameter(n.gain, n.layer);
    if (has_norm_bias()) parameter(n.bias, n.layer);
    write(n.out, n.layer, z_.N_norm * s_.C);
    write_float(n.stats, n.layer, 2 * z_.N_norm);
    if (n.piece != Piece::kFinalNorm && copies_norms()) keep_copy(n.out, n.layer, z_.N_norm * s_.C);
  }
  // Writes dx into `after`: the norm's part, added to `before` if there is one.
  void norm_backward(const NormNames& n, int in_layer, const Stream* before, const Stream& after) {
    const std::int64_t count = z_.N_norm * s_.C;
    const auto read_dy = [&] {
      read(Tensor::kGradBranch, n.layer, count);
      part(n.branch);
    };
    if (input_) {
      begin(n.piece, Phase::kInputGrad, n.layer, count);
      read_dy();
      read(n.in, in_layer, count);
      parameter(n.gain, n.layer);
      read_float(n.stats, n.layer, 2 * z_.N_norm);
      if (before != nullptr && is_whole()) {
        add(Tensor::kGradResidual, after.layer, Access::kAccumulate, count, 0, 0, z_.type);
      } else {
        write(Tensor::kGradResidual, after.layer, count);
        part(after.part);
        if (before != nullptr) read_stream(*before, count);
      }
    }
    if (weight_) {
      begin(n.piece, Phase::kWeightGrad, n.layer, count);
      read_dy();
      read(n.in, in_layer, count);
      read_float(n.stats, n.layer, 2 * z_.N_norm);
      gradient(n.gain, n.layer);
      if (has_norm_bias()) gradient(n.bias, n.layer);
    }
  }

  struct LinearNames {
    Piece piece;
    Tensor in, out;  // forward
    Tensor d_out, d_in;
    Parameter weight, bias;
    std::int64_t in_width, out_width;
    std::int16_t branch = 0;  // part of kGradBranch that is d_in
    bool shared = false;      // shared experts: they have no biases and an output of their own
  };
  // Reads what a linear layer's weight gradient needs of its forward.
  void read_input(const LinearNames& n, int layer, std::int64_t count) {
    const bool copied = n.in == Tensor::kActivationOut ? keeps_copy(Recompute::kActivation)
                        : n.in == Tensor::kContext     ? copies_context()
                                                       : copies_norms();
    if (!copied) return read(n.in, layer, count);
    read_copy(n.in, layer, count, 0, n.in == Tensor::kContext ? kContextBits : kCopyBits);
  }
  bool has_bias(const LinearNames& n) const { return model_.biases && !n.shared; }
  void linear_forward(const LinearNames& n, int layer) {
    if (n.piece == Piece::kMlpIn && halves(n.shared)) return halves_forward(layer);
    begin(n.piece, phase_, layer, z_.N * n.out_width);
    product(z_.N, n.out_width, n.in_width);
    read_linear(n, layer);
    if (n.piece == Piece::kQkv && second_products()) return write_queries_keys_values(layer);
    write(n.out, layer, z_.N * n.out_width);
    if (n.shared && n.piece == Piece::kMlpOut) part(kSharedOutput);
    if (n.piece == Piece::kMlpIn && keeps_copies()) keep_copy(n.out, layer, z_.N * n.out_width);
    split_latent(n);
    if (n.piece == Piece::kQkv && keeps_latent()) {
      write(Tensor::kQkvOut, layer, latent_width());
      part(kLatent);
    }
  }
  void read_linear(const LinearNames& n, int layer) {
    read(n.in, layer, z_.N * n.in_width);
    parameter(n.weight, layer);
    if (has_bias(n)) parameter(n.bias, layer);
  }

  // second_products.cpp
  bool second_products() const { return names(setup_.recompute, Recompute::kSecondProducts); }
  void write_queries_keys_values(int layer);  // ends the last draft
  void keys_again(int layer);
  // Whether SwiGLU's two halves are separate arrays.
  bool halves(bool shared) const {
    return second_products() && model_.mlp == Mlp::kSwiglu && !shared;
  }
  void halves_forward(int layer);
  void up_again(int layer);
  void read_halves(int layer);

  // Computes queries, keys and values again from their low ranks, which the forward has kept.
  static constexpr std::int16_t kLatent = 1;
  bool keeps_latent() const {
    return model_.latent.kv_rank > 0 && names(setup_.recompute, Recompute::kUpProjection);
  }
  std::int64_t latent_width() const {
    const LatentAttention& latent = model_.latent;
    return z_.N * (latent.q_rank + latent.kv_rank + latent.rope_dim);
  }
  void up_projection(int layer) {
    const LinearNames n = qkv();
    begin(n.piece, Phase::kRecompute, layer, z_.N * n.out_width);
    product(z_.N, n.out_width, n.in_width);
    read(Tensor::kQkvOut, layer, latent_width());
    part(kLatent);
    parameter(n.weight, layer);
    write(n.out, layer, z_.N * n.out_width);
    split_latent(n);
  }
  void linear_backward(const LinearNames& n, int layer) {
    const auto read_d_out = [&] {
      if (n.d_out == Tensor::kGradResidual)
        read_branch_gradient(n.piece == Piece::kProjection ? Piece::kResidual1 : Piece::kResidual2,
                             layer, z_.N * n.out_width);
      else if (!input_ && copies_gradient(n.d_out))
        read_copy(n.d_out, layer, z_.N * n.out_width);
      else
        read(n.d_out, layer, z_.N * n.out_width);
    };
    if (input_) {
      begin(n.piece, Phase::kInputGrad, layer, z_.N * n.in_width);
      product(z_.N, n.in_width, n.out_width);
      read_d_out();
      parameter(n.weight, layer);
      write(n.d_in, layer, z_.N * n.in_width);
      part(n.branch);
      split_latent(n);
    }
    if (weight_) {
      begin(n.piece, Phase::kWeightGrad, layer, n.in_width * n.out_width);
      product(n.out_width, n.in_width, z_.N);
      read_d_out();
      read_input(n, layer, z_.N * n.in_width);
      gradient(n.weight, layer);
      if (has_bias(n)) gradient(n.bias, layer);
      split_latent(n);
    }
  }
  // Splits the last draft's product into those of latent attention. The first go down to the low
  // ranks of queries and of keys with values; every TP rank does these whole. The others go up to
  // the rank's own heads. Source: DeepSeek-V2 (arXiv 2405.04434), section 2.1.
  void split_latent(const LinearNames& n);
  Work latent_norm(Phase phase, std::int64_t rank) const;
  Work joined_heads(Phase phase) const;
  // Parts of kMlpOutOut and of kGradBranch.
  static constexpr std::int16_t kSharedOutput = 1, kSharedGradient = 2;
  LinearNames qkv() const {
    return {Piece::kQkv,
            Tensor::kNorm1Out,
            Tensor::kQkvOut,
            Tensor::kGradQkv,
            Tensor::kGradBranch,
            Parameter::kQkvWeight,
            Parameter::kQkvBias,
            s_.C,
            z_.A,
            1};
  }
  LinearNames projection() const {
    return {Piece::kProjection,         Tensor::kContext,     Tensor::kProjectionOut,
            Tensor::kGradResidual,      Tensor::kGradContext, Parameter::kProjectionWeight,
            Parameter::kProjectionBias, z_.value_width,       s_.C};
  }
  // The MLP of a layer, or its shared experts as one.
  LinearNames mlp_in(bool shared) const {
    return {Piece::kMlpIn,
            Tensor::kNorm2Out,
            Tensor::kMlpInOut,
            Tensor::kGradMlpInOut,
            Tensor::kGradBranch,
            Parameter::kMlpInWeight,
            Parameter::kMlpInBias,
            s_.C,
            mlp_width(shared) * (model_.mlp == Mlp::kSwiglu ? 2 : 1),
            shared ? kSharedGradient : std::int16_t{0},
            shared};
  }
  LinearNames mlp_out(bool shared) const {
    return {Piece::kMlpOut,
            Tensor::kActivationOut,
            Tensor::kMlpOutOut,
            Tensor::kGradResidual,
            Tensor::kGradActivationOut,
            Parameter::kMlpOutWeight,
            Parameter::kMlpOutBias,
            mlp_width(shared),
            s_.C,
            0,
            shared};
  }
  std::int64_t mlp_width(bool shared) const {
    return shared ? model_.experts.shared * (model_.experts.ffn / setup_.mesh.tp) : s_.F;
  }
  // `alone`: it reads what was kept, since the product before it is not computed again.
  void activation_forward(int layer, bool shared, bool alone) {
    const std::int64_t F = mlp_width(shared);
    begin(Piece::kActivation, phase_, layer, z_.N * F);
    const std::int64_t inner = z_.N * mlp_in(shared).out_width;
    if (halves(shared))
      read_halves(layer);
    else if (alone && keeps_copies())
      read_copy(Tensor::kMlpInOut, layer, inner);
    else
      read(Tensor::kMlpInOut, layer, inner);
    write(Tensor::kActivationOut, layer, z_.N * F);
    if (keeps_copy(Recompute::kActivation)) keep_copy(Tensor::kActivationOut, layer, z_.N * F);
  }
  void mlp_forward(int layer, bool shared) {
    linear_forward(mlp_in(shared), layer);
    activation_forward(layer, shared, false);
    linear_forward(mlp_out(shared), layer);
  }
  void mlp_backward(int layer, bool shared) {
    const std::int64_t F = mlp_width(shared);
    if (input_ && halves(shared)) up_again(layer);
    if (again(Recompute::kActivation) && !(shared && names(setup_.recompute, Recompute::kExperts)))
      activation_forward(layer, shared, true);
    linear_backward(mlp_out(shared), layer);
    if (input_) {
      begin(Piece::kActivation, Phase::kInputGrad, layer, z_.N * F);
      read(Tensor::kGradActivationOut, layer, z_.N * F);
      const std::int64_t inner = z_.N * mlp_in(shared).out_width;
      if (halves(shared))
        read_halves(layer);
      else if (keeps_copies())
        read_copy(Tensor::kMlpInOut, layer, inner);
      else
        read(Tensor::kMlpInOut, layer, inner);
      write(Tensor::kGradMlpInOut, layer, inner);
      if (copies_gradients()) keep_copy(Tensor::kGradMlpInOut, layer, inner);
    }
    linear_backward(mlp_in(shared), layer);
  }

  bool has_norm_bias() const { return model_.norm == Norm::kLayer; }
  int first_layer() const { return chunk_.begin; }
  int end_layer() const { return chunk_.end(); }

  const Setup& setup_;
  const Model& model_;
  const LocalSizes& z_;
  const Shape& s_;
  const Chunk& chunk_;
  Phase phase_ = Phase::kForward;
  bool input_ = true, weight_ = true;
};

}  // namespace parallelarium
