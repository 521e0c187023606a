// SPDX-License-Identifier: Apache-2.0
// A training step of one rank, written by hand in the order of engine/plan/program/pieces.h with a
// buffer of its own for every tensor: what the pieces are tested with, independent of
// engine/passes.
#pragma once

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/plan/program/program.h"

namespace parallelarium {

class OneRankProgram {
 public:
  // A step of `microbatches` micro-batches: zero, all forwards and backwards, norm, optimizer.
  // shape.global_tokens is set here.
  OneRankProgram(Shape shape, int microbatches) : shape_(shape) {
    shape_.global_tokens = shape.B * shape.T * microbatches;
    add_parameters();
    const std::int64_t N = shape.B * shape.T;
    held(Tensor::kTokens, 4 * N * microbatches);
    held(Tensor::kTargets, 4 * N * microbatches);
    held(Tensor::kLossSum, 8);
    held(Tensor::kSquareSum, 8);
    add(Piece::kZeroGrad, Phase::kUpdate, {all(Tensor::kGradients, Access::kWrite)});
    for (int microbatch = 0; microbatch < microbatches; ++microbatch) {
      microbatch_ = microbatch;
      forward();
      backward();
    }
    add(Piece::kGradNorm, Phase::kUpdate,
        {all(Tensor::kGradients, Access::kRead), square_sum(Access::kWrite)});
    Operand first = all(Tensor::kMoments, Access::kAccumulate);
    first.count /= 2;
    Operand second = first;
    second.offset = first.count;
    add(Piece::kOptimizer, Phase::kUpdate,
        {all(Tensor::kParameters, Access::kAccumulate), all(Tensor::kGradients, Access::kRead),
         first, second, square_sum(Access::kRead)});
  }

  const Shape& shape() const { return shape_; }
  const RankProgram& rank() const { return rank_; }
  const Buffer& buffer(Tensor tensor) const {
    return rank_.buffers[static_cast<std::size_t>(held_.at(tensor))];
  }

 private:
  using Slot = std::pair<Parameter, int>;

  void add_parameters() {
    const auto [B, T, C, H, K, D, F, V, tokens, layers, mlp, norm, biases, positions, tied,
                sequence, zigzag, blocks, local, fused, fp8, half, heads, vocab, dropout, experts] =
        shape_;
    const bool norm_bias = norm == Norm::kLayer;
    const std::int64_t inner = mlp == Mlp::kSwiglu ? 2 * F : F;
    parameter(Parameter::kTokenTable, -1, V, C);
    if (positions) parameter(Parameter::kPositionTable, -1, T, C);
    for (int layer = 0; layer < layers; ++layer) {
      parameter(Parameter::kNorm1Gain, layer, 1, C);
      if (norm_bias) parameter(Parameter::kNorm1Bias, layer, 1, C);
      parameter(Parameter::kQkvWeight, layer, (H + 2 * K) * D, C);
      if (biases) parameter(Parameter::kQkvBias, layer, 1, (H + 2 * K) * D);
      parameter(Parameter::kProjectionWeight, layer, C, H * D);
      if (biases) parameter(Parameter::kProjectionBias, layer, 1, C);
      parameter(Parameter::kNorm2Gain, layer, 1, C);
      if (norm_bias) parameter(Parameter::kNorm2Bias, layer, 1, C);
      parameter(Parameter::kMlpInWeight, layer, inner, C);
      if (biases) parameter(Parameter::kMlpInBias, layer, 1, inner);
      parameter(Parameter::kMlpOutWeight, layer, C, F);
      if (biases) parameter(Parameter::kMlpOutBias, layer, 1, C);
    }
    parameter(Parameter::kFinalNormGain, -1, 1, C);
    if (norm_bias) parameter(Parameter::kFinalNormBias, -1, 1, C);
    if (!tied) parameter(Parameter::kHeadWeight, -1, V, C);
    std::int64_t count = 0;
    for (const ParameterSlice& slice : rank_.parameters) count += slice.count;
    held(Tensor::kParameters, 4 * count);
    held(Tensor::kGradients, 4 * count);
    held(Tensor::kMoments, 8 * count);
  }

  void parameter(Parameter parameter, int layer, std::int64_t rows, std::int64_t columns) {
    ParameterSlice slice;
    slice.parameter = parameter;
    slice.layer = static_cast<std::int16_t>(layer);
    slice.count = rows * columns;
    slice.rows = rows;
    if (!rank_.parameters.empty())
      slice.offset = rank_.parameters.back().offset + rank_.parameters.back().count;
    slices_[{parameter, layer}] = slice;
    rank_.parameters.push_back(slice);
  }

  int new_buffer(Tensor tensor, int layer, std::int64_t bytes) {
    Buffer buffer;
    buffer.tensor = tensor;
    buffer.layer = static_cast<std::int16_t>(layer);
    buffer.microbatch = microbatch_;
    buffer.bytes = bytes;
    buffer.offset = rank_.arena_bytes;
    rank_.arena_bytes += (bytes + 63) / 64 * 64;
    rank_.buffers.push_back(buffer);
    return static_cast<int>(rank_.buffers.size()) - 1;
  }
  void held(Tensor tensor, std::int64_t bytes) { held_[tensor] = new_buffer(tensor, -1, bytes); }

  static Operand operand(int buffer, Access access, DataType type, std::int64_t offset,
                         std::int64_t count) {
    Operand operand;
    operand.buffer = buffer;
    operand.access = access;
    operand.type = type;
    operand.offset = offset;
    operand.count = count;
    return operand;
  }
  Operand all(Tensor tensor, Access access) const {
    return operand(held_.at(tensor), access, DataType::kF32, 0, buffer(tensor).bytes / 4);
  }
  Operand square_sum(Access access) const {
    return operand(held_.at(Tensor::kSquareSum), access, DataType::kF64, 0, 1);
  }
  Operand text(Tensor tensor) const {
    const std::int64_t N = shape_.B * shape_.T;
    return operand(held_.at(tensor), Access::kRead, DataType::kI32, microbatch_ * N, N);
  }
  Operand slice(Tensor tensor, Parameter parameter, int layer, Access access) const {
    const ParameterSlice& at = slices_.at({parameter, layer});
    return operand(held_.at(tensor), access, DataType::kF32, at.offset, at.count);
  }
  Operand value(Parameter parameter, int layer) const {
    return slice(Tensor::kParameters, parameter, layer, Access::kRead);
  }
  Operand grad(Parameter parameter, int layer) const {
    return slice(Tensor::kGradients, parameter, layer, Access::kAccumulate);
  }
  bool has(Parameter parameter, int layer) const { return slices_.count({parameter, layer}) != 0; }

  // A tensor of this micro-batch; made on first use.
  Operand tensor(Tensor which, int layer, std::int64_t count, Access access,
                 std::int64_t offset = 0, std::int64_t of = 0) {
    const auto key = std::tuple(which, layer, microbatch_);
    if (tensors_.count(key) == 0)
      tensors_[key] = new_buffer(which, layer, 4 * (of == 0 ? count : of));
    return operand(tensors_[key], access, DataType::kF32, offset, count);
  }

  void add(Piece piece, Phase phase, const std::vector<Operand>& operands, int layer = -1) {
    Op op;
    op.piece = piece;
    op.phase = phase;
    op.layer = static_cast<std::int16_t>(layer);
    op.microbatch = microbatch_;
    op.operand_first = static_cast<std::int32_t>(rank_.operands.size());
    op.operand_count = static_cast<std::int32_t>(operands.size());
    rank_.operands.insert(rank_.operands.end(), operands.begin(), operands.end());
    rank_.ops.push_back(op);
  }

  // Adds `bias` after the first `at` operands where the model has it.
  std::vector<Operand> with(std::vector<Operand> operands, std::size_t at, Parameter bias,
                            int layer, bool gradient = false) const {
    if (!has(bias, layer)) return operands;
    operands.push_back(gradient ? grad(bias, layer) : value(bias, layer));
    std::rotate(operands.begin() + static_cast<std::ptrdiff_t>(at), operands.end() - 1,
                operands.end());
    return operands;
  }

  struct NormNames {
    Piece piece;
    Parameter gain, bias;
    Tensor in, out, stats;
    int parameter_layer;
  };
  NormNames norm_names(int which, int layer) const {
    if (which == 1)
      return {Piece::kNorm1,  Parameter::kNorm1Gain, Parameter::kNorm1Bias,
              Tensor::kInput, Tensor::kNorm1Out,     Tensor::kNorm1Stats,
              layer};
    if (which == 2)
      return {Piece::kNorm2,
              Parameter::kNorm2Gain,
              Parameter::kNorm2Bias,
              Tensor::kMiddle,
              Tensor::kNorm2Out,
              Tensor::kNorm2Stats,
              layer};
    return {Piece::kFinalNorm,
            Parameter::kFinalNormGain,
            Parameter::kFinalNormBias,
            Tensor::kInput,
            Tensor::kFinalNormOut,
            Tensor::kFinalNormStats,
            -1};
  }

  void norm(int which, int layer) {
    const NormNames n = norm_names(which, layer);
    add(n.piece, Phase::kForward,
        with({tensor(n.in, layer, NC(), r), value(n.gain, n.parameter_layer),
              tensor(n.out, layer, NC(), w), tensor(n.stats, layer, 2 * N(), w)},
             2, n.bias, n.parameter_layer),
        layer);
  }
  void norm_backward(int which, int layer) {
    const NormNames n = norm_names(which, layer);
    const Operand dy = tensor(Tensor::kGradBranch, -1, NC(), r);
    const Operand stats = tensor(n.stats, layer, 2 * N(), r);
    add(n.piece, Phase::kInputGrad,
        {dy, tensor(n.in, layer, NC(), r), value(n.gain, n.parameter_layer), stats,
         tensor(Tensor::kGradResidual, -1, NC(), which == 3 ? w : a)},
        layer);
    add(n.piece, Phase::kWeightGrad,
        with({dy, tensor(n.in, layer, NC(), r), stats, grad(n.gain, n.parameter_layer)}, 4, n.bias,
             n.parameter_layer, true),
        layer);
  }

  void linear(Piece piece, int layer, Parameter weight, Parameter bias, const Operand& in,
              const Operand& out) {
    add(piece, Phase::kForward, with({in, value(weight, layer), out}, 2, bias, layer), layer);
  }
  void linear_backward(Piece piece, int layer, Parameter weight, Parameter bias,
                       const Operand& dout, const Operand& in, const Operand& din) {
    add(piece, Phase::kInputGrad, {dout, value(weight, layer), din}, layer);
    add(piece, Phase::kWeightGrad, with({dout, in, grad(weight, layer)}, 3, bias, layer, true),
        layer);
  }

  void forward() {
    std::vector<Operand> operands{text(Tensor::kTokens), value(Parameter::kTokenTable, -1)};
    if (shape_.learned_positions) operands.push_back(value(Parameter::kPositionTable, -1));
    operands.push_back(tensor(Tensor::kInput, 0, NC(), w));
    add(Piece::kEmbedding, Phase::kForward, operands);
    for (int layer = 0; layer < shape_.layers; ++layer) layer_forward(layer);
    norm(3, shape_.layers);
    add(Piece::kHead, Phase::kForward,
        {tensor(Tensor::kFinalNormOut, shape_.layers, NC(), r), head(),
         tensor(Tensor::kLogits, -1, N() * shape_.logits_pitch(), w)});
    const Operand logits = tensor(Tensor::kLogits, -1, N() * shape_.logits_pitch(), r);
    add(Piece::kLossSum, Phase::kForward,
        {logits, stat(0, w), text(Tensor::kTargets), stat(1, w), stat(2, w)});
    add(Piece::kLoss, Phase::kForward,
        {stat(0, r), stat(1, r), stat(2, r),
         operand(held_.at(Tensor::kLossSum), a, DataType::kF64, 0, 1)});
  }

  void layer_forward(int layer) {
    const Shape& s = shape_;
    norm(1, layer);
    linear(Piece::kQkv, layer, Parameter::kQkvWeight, Parameter::kQkvBias,
           tensor(Tensor::kNorm1Out, layer, NC(), r), tensor(Tensor::kQkvOut, layer, NA(), w));
    add(Piece::kAttention, Phase::kForward,
        {tensor(Tensor::kQkvOut, layer, NA(), r),
         tensor(Tensor::kProbabilities, layer, s.B * s.H * s.T * s.T, w),
         tensor(Tensor::kContext, layer, NHD(), w)},
        layer);
    linear(Piece::kProjection, layer, Parameter::kProjectionWeight, Parameter::kProjectionBias,
           tensor(Tensor::kContext, layer, NHD(), r),
           tensor(Tensor::kProjectionOut, layer, NC(), w));
    add(Piece::kResidual1, Phase::kForward,
        {tensor(Tensor::kInput, layer, NC(), r), tensor(Tensor::kProjectionOut, layer, NC(), r),
         tensor(Tensor::kMiddle, layer, NC(), w)},
        layer);
    norm(2, layer);
    linear(Piece::kMlpIn, layer, Parameter::kMlpInWeight, Parameter::kMlpInBias,
           tensor(Tensor::kNorm2Out, layer, NC(), r), tensor(Tensor::kMlpInOut, layer, NU(), w));
    add(Piece::kActivation, Phase::kForward,
        {tensor(Tensor::kMlpInOut, layer, NU(), r), tensor(Tensor::kActivationOut, layer, NF(), w)},
        layer);
    linear(Piece::kMlpOut, layer, Parameter::kMlpOutWeight, Parameter::kMlpOutBias,
           tensor(Tensor::kActivationOut, layer, NF(), r),
           tensor(Tensor::kMlpOutOut, layer, NC(), w));
    add(Piece::kResidual2, Phase::kForward,
        {tensor(Tensor::kMiddle, layer, NC(), r), tensor(Tensor::kMlpOutOut, layer, NC(), r),
         tensor(Tensor::kInput, layer + 1, NC(), w)},
        layer);
  }

  void backward() {
    const Operand logits = tensor(Tensor::kLogits, -1, N() * shape_.logits_pitch(), a);
    add(Piece::kLoss, Phase::kInputGrad, {stat(0, r), stat(1, r), text(Tensor::kTargets), logits});
    add(Piece::kHead, Phase::kInputGrad,
        {logits, head(), tensor(Tensor::kGradBranch, -1, NC(), w)});
    add(Piece::kHead, Phase::kWeightGrad,
        {logits, tensor(Tensor::kFinalNormOut, shape_.layers, NC(), r),
         grad(shape_.tied ? Parameter::kTokenTable : Parameter::kHeadWeight, -1)});
    norm_backward(3, shape_.layers);
    for (int layer = shape_.layers - 1; layer >= 0; --layer) layer_backward(layer);
    std::vector<Operand> operands{tensor(Tensor::kGradResidual, -1, NC(), r), text(Tensor::kTokens),
                                  grad(Parameter::kTokenTable, -1)};
    if (shape_.learned_positions) operands.push_back(grad(Parameter::kPositionTable, -1));
    add(Piece::kEmbedding, Phase::kWeightGrad, operands);
  }

  void layer_backward(int layer) {
    const Shape& s = shape_;
    const Operand dx = tensor(Tensor::kGradResidual, -1, NC(), r);
    linear_backward(Piece::kMlpOut, layer, Parameter::kMlpOutWeight, Parameter::kMlpOutBias, dx,
                    tensor(Tensor::kActivationOut, layer, NF(), r),
                    tensor(Tensor::kGradActivationOut, -1, NF(), w));
    add(Piece::kActivation, Phase::kInputGrad,
        {tensor(Tensor::kGradActivationOut, -1, NF(), r), tensor(Tensor::kMlpInOut, layer, NU(), r),
         tensor(Tensor::kGradMlpInOut, -1, NU(), w)},
        layer);
    linear_backward(Piece::kMlpIn, layer, Parameter::kMlpInWeight, Parameter::kMlpInBias,
                    tensor(Tensor::kGradMlpInOut, -1, NU(), r),
                    tensor(Tensor::kNorm2Out, layer, NC(), r),
                    tensor(Tensor::kGradBranch, -1, NC(), w));
    norm_backward(2, layer);
    linear_backward(Piece::kProjection, layer, Parameter::kProjectionWeight,
                    Parameter::kProjectionBias, dx, tensor(Tensor::kContext, layer, NHD(), r),
                    tensor(Tensor::kGradContext, -1, NHD(), w));
    add(Piece::kAttention, Phase::kInputGrad,
        {tensor(Tensor::kGradContext, -1, NHD(), r), tensor(Tensor::kQkvOut, layer, NA(), r),
         tensor(Tensor::kProbabilities, layer, s.B * s.H * s.T * s.T, r),
         tensor(Tensor::kGradQkv, -1, NA(), w), tensor(Tensor::kScratch, -1, s.T * s.T, w)},
        layer);
    linear_backward(Piece::kQkv, layer, Parameter::kQkvWeight, Parameter::kQkvBias,
                    tensor(Tensor::kGradQkv, -1, NA(), r),
                    tensor(Tensor::kNorm1Out, layer, NC(), r),
                    tensor(Tensor::kGradBranch, -1, NC(), w));
    norm_backward(1, layer);
  }

  Operand head() const {
    return value(shape_.tied ? Parameter::kTokenTable : Parameter::kHeadWeight, -1);
  }
  Operand stat(int which, Access access) {
    return tensor(Tensor::kLossStats, -1, N(), access, which * N(), 3 * N());
  }
  std::int64_t N() const { return shape_.B * shape_.T; }
  std::int64_t NC() const { return N() * shape_.C; }
  std::int64_t NA() const { return N() * (shape_.H + 2 * shape_.K) * shape_.D; }
  std::int64_t NHD() const { return N() * shape_.H * shape_.D; }
  std::int64_t NF() const { return N() * shape_.F; }
  std::int64_t NU() const { return shape_.mlp == Mlp::kSwiglu ? 2 * NF() : NF(); }

  static constexpr Access r = Access::kRead;
  static constexpr Access w = Access::kWrite;
  static constexpr Access a = Access::kAccumulate;

  Shape shape_;
  int microbatch_ = -1;
  RankProgram rank_;
  std::map<Slot, ParameterSlice> slices_;
  std::map<Tensor, int> held_;
  std::map<std::tuple<Tensor, int, int>, int> tensors_;
};

}  // namespace parallelarium
