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

// The rows of all tokens that a product takes or gives: all of them, or those of one rank of TP
// where a ring cuts it. `wide` is the operand that has C columns, and no other rows.
struct TokenRows {
  std::int64_t first = 0, count = 0;
};
TokenRows token_rows(const Launch& op, std::size_t wide, bool sums) {
  const std::int64_t count = op.operands[wide].count / op.shape.C;
  const auto ranks = static_cast<int>(op.N() / count);
  if (ranks == 1) return {0, count};
  // A sum ends at its own rank, tokens begin there.
  const int behind = sums ? op.block + 1 : op.block;
  return {(op.program.at.tp - behind % ranks + ranks) % ranks * count, count};
}

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
  const TokenRows rows = token_rows(op, out, true);
  op.linear_forward(op.values(out), op.values(0) + rows.first * K, op.values(1),
                    out == 3 && op.adds_biases() ? op.values(2) : nullptr, rows.count, M, K,
                    y_pitch);
}
template <Sizes (*kSizes)(const Launch&)>
void row_input_grad(const Launch& op) {
  const auto [M, K, y_pitch] = kSizes(op);
  op.linear_input_grad(op.values(2), op.values(0), op.values(1), op.N(), M, K, y_pitch);
}
template <Sizes (*kSizes)(const Launch&)>
void row_weight_grad(const Launch& op) {
  const auto [M, K, y_pitch] = kSizes(op);
  op.linear_weight_grad(op.values(2), op.values_or_null(3), op.values(0), op.values(1), op.N(), M,
                        K, y_pitch);
}
template <Sizes (*kSizes)(const Launch&)>
void column_input_grad(const Launch& op) {
  const auto [M, K, y_pitch] = kSizes(op);
  const TokenRows rows = token_rows(op, 2, true);
  op.linear_input_grad(op.values(2), op.values(0) + rows.first * M, op.values(1), rows.count, M, K,
                       y_pitch);
}
template <Sizes (*kSizes)(const Launch&)>
void column_weight_grad(const Launch& op) {
  const auto [M, K, y_pitch] = kSizes(op);
  const TokenRows rows = token_rows(op, 1, false);
  op.linear_weight_grad(op.values(2), op.values_or_null(3), op.values(0) + rows.first * M,
                        op.values(1), rows.count, M, K, y_pitch);
}

// Without learned positions queries and keys carry theirs: they are turned as soon as they exist,
// and their gradients are turned back where attention's backward has made them.
void qkv_forward(const Launch& op) {
  const std::size_t out = op.count() - 1;
  const TokenRows rows = token_rows(op, 0, false);
  // Where keys are computed again, queries and values wait beside them, as they come.
  const bool keys_again = op.tensor(out - 1) == Tensor::kQkvOut;
  const bool again = keys_again && op.operands[out - 1].access == Access::kRead;
  const Shape& shape = op.shape;
  const std::int64_t Q = shape.H * shape.D, K = shape.K * shape.D, A = Q + 2 * K;
  const std::size_t biases = keys_again ? out - 1 : out;
  const ConstValues bias = biases == 3 ? op.values(2) : nullptr;
  const Values qkv = op.values(out) + rows.first * A;
  if (again)
    op.linear_forward(qkv + Q, op.values(0), op.values(1) + Q * shape.C, bias ? bias + Q : nullptr,
                      rows.count, K, shape.C, A);
  else
    op.linear_forward(qkv, op.values(0), op.values(1), bias, rows.count, A, shape.C);
  if (keys_again) {
    const Values kept = op.values(out - 1) + rows.first * (Q + K);
    const auto copy = [&](std::int64_t column, std::int64_t to, std::int64_t width) {
      if (again)
        op.device.copy_rows(qkv + column, A, kept + to, Q + K, rows.count, width);
      else
        op.device.copy_rows(kept + to, Q + K, qkv + column, A, rows.count, width);
    };
    copy(0, 0, Q);
    copy(Q + K, Q, K);
  }
  if (shape.learned_positions) return;
  if (rows.count == op.N()) return turn(op, qkv, Turn::kForward);
  AttentionShape part = op.attention();
  part.B = 1;
  op.for_each_run([&](std::int64_t row, std::int64_t position, std::int64_t length) {
    const std::int64_t from = std::max(row, rows.first);
    part.T = std::min(row + length, rows.first + rows.count) - from;
    if (part.T > 0)
      op.device.rotary(op.values(out) + from * A, Turn::kForward, position + from - row, part);
  });
}

// Logits that the vocabulary does not have, where TP does not divide it, are as good as minus
// infinity: they take no part in the loss, and their gradients are 0.
void head_forward(const Launch& op) {
  linear_forward<head_sizes>(op);
  const std::int64_t V = op.shape.V;
  const std::int64_t real = std::clamp<std::int64_t>(op.shape.vocab - op.program.at.tp * V, 0, V);
  if (real < V)
    op.device.fill_rows(op.values(op.count() - 1) + real, op.shape.logits_pitch(), kNoLogit, op.N(),
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

// The two halves of a SwiGLU: of one array, or each an array of its own, of which the second may be
// computed again.
void mlp_in_forward(const Launch& op) {
  const std::size_t out = op.count() - 1;
  const TokenRows rows = token_rows(op, 0, false);
  const std::int64_t M = mlp_width(op), C = op.shape.C, F = M / 2;
  const bool halves = op.operands[out].count < op.N() * M;
  if (!halves)
    return op.linear_forward(op.values(out) + rows.first * M, op.values(0), op.values(1),
                             out == 3 ? op.values(2) : nullptr, rows.count, M, C);
  const bool both = op.tensor(out - 1) == Tensor::kMlpInOut;
  const ConstValues bias = (both ? out - 1 : out) == 3 ? op.values(2) : nullptr;
  const std::int64_t at = rows.first * F;
  if (both)
    op.linear_forward(op.values(out - 1) + at, op.values(0), op.values(1), bias, rows.count, F, C);
  op.linear_forward(op.values(out) + at, op.values(0), op.values(1) + F * C,
                    bias ? bias + F : nullptr, rows.count, F, C);
}

// Of a SwiGLU: its gate, its up, and the elements between their rows.
struct Halves {
  ConstValues gate, up;
  std::int64_t pitch;
};
Halves halves_of(const Launch& op, std::size_t index, bool apart, std::int64_t F) {
  if (apart) return {op.values(index), op.values(index + 1), F};
  return {op.values(index), op.values(index) + F, 2 * F};
}

void activation_forward(const Launch& op) {
  const std::size_t out = op.count() - 1;
  const std::int64_t F = op.operands[out].count / op.N();
  const auto [gate, up, pitch] = halves_of(op, 0, out == 2, F);
  if (op.shape.mlp == Mlp::kSwiglu)
    op.device.swiglu_forward(op.values(out), gate, up, op.N(), F, pitch);
  else
    op.device.gelu_forward(op.values(1), op.values(0), op.operands[1].count);
}

void activation_input_grad(const Launch& op) {
  const std::size_t out = op.count() - 1;
  const std::int64_t F = op.operands[0].count / op.N();
  const auto [gate, up, pitch] = halves_of(op, 1, out == 3, F);
  if (op.shape.mlp == Mlp::kSwiglu)
    op.device.swiglu_backward(op.values(out), op.values(0), gate, up, op.N(), F, pitch);
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
    LaunchRow{Piece::kQkv, kF, 3, 5, qkv_forward},
    LaunchRow{Piece::kQkv, kI, 3, 3, column_input_grad<qkv_sizes>},
    LaunchRow{Piece::kQkv, kW, 3, 4, column_weight_grad<qkv_sizes>},
    LaunchRow{Piece::kProjection, kF, 3, 4, row_forward<projection_sizes>},
    LaunchRow{Piece::kProjection, kI, 3, 3, row_input_grad<projection_sizes>},
    LaunchRow{Piece::kProjection, kW, 3, 4, row_weight_grad<projection_sizes>},
    LaunchRow{Piece::kResidual1, kF, 3, 4, residual_forward},
    LaunchRow{Piece::kResidual1, kI, 3, 3, residual_input_grad},
    LaunchRow{Piece::kResidual2, kF, 3, 4, residual_forward},
    LaunchRow{Piece::kResidual2, kI, 3, 3, residual_input_grad},
    LaunchRow{Piece::kMlpIn, kF, 3, 5, mlp_in_forward},
    LaunchRow{Piece::kMlpIn, kI, 3, 3, column_input_grad<mlp_in_sizes>},
    LaunchRow{Piece::kMlpIn, kW, 3, 4, column_weight_grad<mlp_in_sizes>},
    LaunchRow{Piece::kActivation, kF, 2, 3, activation_forward},
    LaunchRow{Piece::kActivation, kI, 3, 4, activation_input_grad},
    LaunchRow{Piece::kMlpOut, kF, 3, 4, row_forward<mlp_out_sizes>},
    LaunchRow{Piece::kMlpOut, kI, 3, 3, row_input_grad<mlp_out_sizes>},
    LaunchRow{Piece::kMlpOut, kW, 3, 4, row_weight_grad<mlp_out_sizes>},
    LaunchRow{Piece::kHead, kF, 3, 3, head_forward},
    LaunchRow{Piece::kHead, kI, 3, 3, column_input_grad<head_sizes>},
    LaunchRow{Piece::kHead, kW, 3, 3, column_weight_grad<head_sizes>},
};

}  // namespace

std::span<const LaunchRow> layer_entries() { return kLayerEntries; }

}  // namespace parallelarium
