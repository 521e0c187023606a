// SPDX-License-Identifier: Apache-2.0
// Embedding, norms, linear layers, activation, residual.
#include <algorithm>

#include "engine/train/pieces/launch.h"

namespace parallelarium {
namespace {

// Sequences that CP does not cut have the same positions and are looked up, and gathered, together.
void embedding_forward(const Launch& op) {
  const std::size_t out = op.count() - 1;
  const std::int64_t C = op.shape.C, T = op.shape.T;
  const ConstValues positions = out == 3 && op.adds_biases() ? op.values(2) : nullptr;
  if (T == op.shape.sequence)
    return op.device.embedding_forward(op.values(out), op.i32(0), op.values(1), positions, op.N(),
                                       T, C);
  op.for_each_run([&](std::int64_t row, std::int64_t position, std::int64_t length) {
    op.device.embedding_forward(op.values(out) + row * C, op.i32(0) + row, op.values(1),
                                positions ? positions + position * C : nullptr, length, length, C);
  });
}

void embedding_weight_grad(const Launch& op) {
  const std::int64_t C = op.shape.C, T = op.shape.T;
  const Values positions = op.values_or_null(3);
  if (T == op.shape.sequence)
    return op.device.embedding_grad(op.values(2), positions, op.values(0), op.i32(1), op.N(), T, C);
  op.for_each_run([&](std::int64_t row, std::int64_t position, std::int64_t length) {
    op.device.embedding_grad(op.values(2), positions ? positions + position * C : nullptr,
                             op.values(0) + row * C, op.i32(1) + row, length, length, C);
  });
}

void norm_forward(const Launch& op) {
  const std::size_t out = op.count() - 2;
  if (op.shape.norm == Norm::kRms)
    op.device.rms_norm_forward(op.values(out), op.f32(out + 1), op.values(0), op.values(1),
                               op.own_tokens(), op.shape.C);
  else
    op.device.layer_norm_forward(op.values(out), op.f32(out + 1), op.values(0), op.values(1),
                                 out == 3 ? op.values(2) : nullptr, op.own_tokens(), op.shape.C);
}

void norm_input_grad(const Launch& op, bool accumulate) {
  // An input part leaves the gradient that it adds to as it was.
  if (op.count() > 5)
    op.device.copy(op.bytes(4), op.bytes(5), op.operands[4].count * size_of(op.operands[4].type));
  if (op.shape.norm == Norm::kRms)
    op.device.rms_norm_input_grad(op.values(4), op.values(0), op.values(1), op.values(2), op.f32(3),
                                  accumulate, op.own_tokens(), op.shape.C);
  else
    op.device.layer_norm_input_grad(op.values(4), op.values(0), op.values(1), op.values(2),
                                    op.f32(3), accumulate, op.own_tokens(), op.shape.C);
}
void inner_norm_input_grad(const Launch& op) { norm_input_grad(op, true); }
void final_norm_input_grad(const Launch& op) { norm_input_grad(op, false); }

void norm_weight_grad(const Launch& op) {
  op.device.norm_weight_grad(op.values(3), op.values_or_null(4), op.values(0), op.values(1),
                             op.f32(2), op.own_tokens(), op.shape.C);
}

// A linear layer from K inputs to M outputs, whose rows are so far apart (kernels/base/pitch.h).
struct Sizes {
  std::int64_t M, K, y_pitch = 0;
};
Sizes qkv_sizes(const Launch& op) {
  const Shape& shape = op.shape;
  return {(shape.H + 2 * shape.K) * shape.D, shape.C};
}
Sizes projection_sizes(const Launch& op) { return {op.shape.C, op.shape.H * op.shape.D}; }
// An MLP's width is that of its weight: shared experts have one of their own.
std::int64_t mlp_width(const Launch& op) {
  return op.operands[op.phase == Phase::kWeightGrad ? 2 : 1].count / op.shape.C;
}
Sizes mlp_in_sizes(const Launch& op) { return {mlp_width(op), op.shape.C}; }
Sizes mlp_out_sizes(const Launch& op) { return {op.shape.C, mlp_width(op)}; }
Sizes head_sizes(const Launch& op) { return {op.shape.V, op.shape.C, op.shape.logits_pitch()}; }

template <Sizes (*kSizes)(const Launch&)>
void linear_forward(const Launch& op) {
  const auto [M, K, y_pitch] = kSizes(op);
  const std::size_t out = op.count() - 1;
  op.linear_forward(op.values(out), op.values(0), op.values(1), out == 3 ? op.values(2) : nullptr,
                    op.N(), M, K, y_pitch);
}
// Of a row-parallel product, whose partial sums the TP group adds up.
template <Sizes (*kSizes)(const Launch&)>
void row_forward(const Launch& op) {
  const auto [M, K, y_pitch] = kSizes(op);
  const std::size_t out = op.count() - 1;
  op.linear_forward(op.values(out), op.values(0), op.values(1),
                    out == 3 && op.adds_biases() ? op.values(2) : nullptr, op.N(), M, K, y_pitch);
}
template <Sizes (*kSizes)(const Launch&)>
void linear_input_grad(const Launch& op) {
  const auto [M, K, y_pitch] = kSizes(op);
  op.linear_input_grad(op.values(2), op.values(0), op.values(1), op.N(), M, K, y_pitch);
}
template <Sizes (*kSizes)(const Launch&)>
void linear_weight_grad(const Launch& op) {
  const auto [M, K, y_pitch] = kSizes(op);
  op.linear_weight_grad(op.values(2), op.values_or_null(3), op.values(0), op.values(1), op.N(), M,
                        K, y_pitch);
}

// Without learned positions queries and keys carry theirs: they are turned as soon as they exist,
// and their gradients are turned back where attention's backward has made them.
void qkv_forward(const Launch& op) {
  linear_forward<qkv_sizes>(op);
  if (!op.shape.learned_positions) turn(op, op.values(op.count() - 1), Turn::kForward);
}

// Logits that the vocabulary does not have, where TP does not divide it, are as good as minus
// infinity: they take no part in the loss, and their gradients are 0.
void head_forward(const Launch& op) {
  constexpr float kNone = -1e30F;
  linear_forward<head_sizes>(op);
  const std::int64_t V = op.shape.V;
  const std::int64_t real = std::clamp<std::int64_t>(op.shape.vocab - op.program.at.tp * V, 0, V);
  if (real < V)
    op.device.fill_rows(op.values(op.count() - 1) + real, op.shape.logits_pitch(), kNone, op.N(),
                        V - real);
}

void residual_input_grad(const Launch& op) {
  op.device.dropout_grad(op.values(2), op.values(0), op.u8(1), op.dropout().scale,
                         op.operands[2].count);
}

void residual_forward(const Launch& op) {
  if (op.count() > 3) {
    const std::int64_t C = op.shape.C;
    const Dropout dropout = op.dropout();
    return op.for_each_own_run([&](std::int64_t row, std::int64_t token, std::int64_t rows) {
      const std::int64_t at = row * C;
      op.device.dropout_residual(op.values(2) + at, op.u8(3) + at, op.values(0) + at,
                                 op.values(1) + at, dropout, token * C, rows * C);
    });
  }
  op.device.residual_add(op.values(2), op.values(0), op.values(1), op.operands[2].count);
}

void activation_forward(const Launch& op) {
  if (op.shape.mlp == Mlp::kSwiglu)
    op.device.swiglu_forward(op.values(1), op.values(0), op.N(), op.operands[1].count / op.N());
  else
    op.device.gelu_forward(op.values(1), op.values(0), op.operands[1].count);
}

void activation_input_grad(const Launch& op) {
  if (op.shape.mlp == Mlp::kSwiglu)
    op.device.swiglu_backward(op.values(2), op.values(0), op.values(1), op.N(),
                              op.operands[0].count / op.N());
  else
    op.device.gelu_backward(op.values(2), op.values(0), op.values(1), op.operands[0].count);
}

constexpr LaunchRow kLayerEntries[] = {
    LaunchRow{Piece::kEmbedding, kF, 3, 4, embedding_forward},
    LaunchRow{Piece::kEmbedding, kW, 3, 4, embedding_weight_grad},
    LaunchRow{Piece::kNorm1, kF, 4, 5, norm_forward},
    LaunchRow{Piece::kNorm1, kI, 5, 6, inner_norm_input_grad},
    LaunchRow{Piece::kNorm1, kW, 4, 5, norm_weight_grad},
    LaunchRow{Piece::kNorm2, kF, 4, 5, norm_forward},
    LaunchRow{Piece::kNorm2, kI, 5, 6, inner_norm_input_grad},
    LaunchRow{Piece::kNorm2, kW, 4, 5, norm_weight_grad},
    LaunchRow{Piece::kFinalNorm, kF, 4, 5, norm_forward},
    LaunchRow{Piece::kFinalNorm, kI, 5, 5, final_norm_input_grad},
    LaunchRow{Piece::kFinalNorm, kW, 4, 5, norm_weight_grad},
    LaunchRow{Piece::kQkv, kF, 3, 4, qkv_forward},
    LaunchRow{Piece::kQkv, kI, 3, 3, linear_input_grad<qkv_sizes>},
    LaunchRow{Piece::kQkv, kW, 3, 4, linear_weight_grad<qkv_sizes>},
    LaunchRow{Piece::kProjection, kF, 3, 4, row_forward<projection_sizes>},
    LaunchRow{Piece::kProjection, kI, 3, 3, linear_input_grad<projection_sizes>},
    LaunchRow{Piece::kProjection, kW, 3, 4, linear_weight_grad<projection_sizes>},
    LaunchRow{Piece::kResidual1, kF, 3, 4, residual_forward},
    LaunchRow{Piece::kResidual1, kI, 3, 3, residual_input_grad},
    LaunchRow{Piece::kResidual2, kF, 3, 4, residual_forward},
    LaunchRow{Piece::kResidual2, kI, 3, 3, residual_input_grad},
    LaunchRow{Piece::kMlpIn, kF, 3, 4, linear_forward<mlp_in_sizes>},
    LaunchRow{Piece::kMlpIn, kI, 3, 3, linear_input_grad<mlp_in_sizes>},
    LaunchRow{Piece::kMlpIn, kW, 3, 4, linear_weight_grad<mlp_in_sizes>},
    LaunchRow{Piece::kActivation, kF, 2, 2, activation_forward},
    LaunchRow{Piece::kActivation, kI, 3, 3, activation_input_grad},
    LaunchRow{Piece::kMlpOut, kF, 3, 4, row_forward<mlp_out_sizes>},
    LaunchRow{Piece::kMlpOut, kI, 3, 3, linear_input_grad<mlp_out_sizes>},
    LaunchRow{Piece::kMlpOut, kW, 3, 4, linear_weight_grad<mlp_out_sizes>},
    LaunchRow{Piece::kHead, kF, 3, 3, head_forward},
    LaunchRow{Piece::kHead, kI, 3, 3, linear_input_grad<head_sizes>},
    LaunchRow{Piece::kHead, kW, 3, 3, linear_weight_grad<head_sizes>},
};

}  // namespace

std::span<const LaunchRow> layer_entries() { return kLayerEntries; }

}  // namespace parallelarium
