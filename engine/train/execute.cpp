// SPDX-License-Identifier: Apache-2.0
// One small function per (piece, phase) of engine/plan/pieces.h. To add a piece: write its function
// with the operands in the order of that file, and add its line to the table.
#include "engine/train/execute.h"

#include <algorithm>
#include <array>
#include <span>

#include "engine/train/parameters.h"

namespace parallelarium {
namespace {

// An op with its operands resolved to device addresses.
struct Launch {
  Device& device;
  const Shape& shape;
  const RankProgram& program;
  std::span<const Operand> operands;
  std::byte* arena;
  const StepScalars& scalars;

  std::size_t count() const { return operands.size(); }
  std::byte* bytes(std::size_t index) const {
    const Operand& operand = operands[index];
    return arena + program.buffers[static_cast<std::size_t>(operand.buffer)].offset +
           operand.offset * size_of(operand.type);
  }
  float* f32(std::size_t index) const {
    assert(operands[index].type == DataType::kF32);
    return reinterpret_cast<float*>(bytes(index));
  }
  // The operand where the op has it, else null: the biases of pieces.h.
  float* f32_or_null(std::size_t index) const { return index < count() ? f32(index) : nullptr; }
  std::int32_t* i32(std::size_t index) const {
    assert(operands[index].type == DataType::kI32);
    return reinterpret_cast<std::int32_t*>(bytes(index));
  }
  double* f64(std::size_t index) const {
    assert(operands[index].type == DataType::kF64);
    return reinterpret_cast<double*>(bytes(index));
  }
  std::int64_t N() const { return shape.B * shape.T; }
  // Tokens of a norm or residual: fewer than N under sequence parallelism.
  std::int64_t own_tokens() const { return operands[0].count / shape.C; }
  // What a TP group adds up, one of its ranks contributes.
  bool adds_biases() const { return program.at.tp == 0; }
  // Where the operand's first element stands among the rank's parameters.
  std::int64_t parameter_at(std::size_t index) const {
    const Operand& operand = operands[index];
    return operand.shard < 0 ? operand.offset
                             : program.buckets[static_cast<std::size_t>(operand.shard)].own_begin;
  }
  AttentionShape attention() const { return {shape.B, shape.T, shape.H, shape.K, shape.D}; }
};

void zero_grad(const Launch& op) {
  for (std::size_t index = 0; index < op.count(); ++index)
    op.device.zero(op.bytes(index), op.operands[index].count * size_of(op.operands[index].type));
}

void embedding_forward(const Launch& op) {
  const std::size_t out = op.count() - 1;
  op.device.embedding_forward(op.f32(out), op.i32(0), op.f32(1),
                              out == 3 && op.adds_biases() ? op.f32(2) : nullptr, op.N(),
                              op.shape.T, op.shape.C);
}

void embedding_weight_grad(const Launch& op) {
  op.device.embedding_grad(op.f32(2), op.f32_or_null(3), op.f32(0), op.i32(1), op.N(), op.shape.T,
                           op.shape.C);
}

void norm_forward(const Launch& op) {
  const std::size_t out = op.count() - 2;
  if (op.shape.norm == Norm::kRms)
    op.device.rms_norm_forward(op.f32(out), op.f32(out + 1), op.f32(0), op.f32(1), op.own_tokens(),
                               op.shape.C);
  else
    op.device.layer_norm_forward(op.f32(out), op.f32(out + 1), op.f32(0), op.f32(1),
                                 out == 3 ? op.f32(2) : nullptr, op.own_tokens(), op.shape.C);
}

void norm_input_grad(const Launch& op, bool accumulate) {
  if (op.shape.norm == Norm::kRms)
    op.device.rms_norm_input_grad(op.f32(4), op.f32(0), op.f32(1), op.f32(2), op.f32(3), accumulate,
                                  op.own_tokens(), op.shape.C);
  else
    op.device.layer_norm_input_grad(op.f32(4), op.f32(0), op.f32(1), op.f32(2), op.f32(3),
                                    accumulate, op.own_tokens(), op.shape.C);
}
void inner_norm_input_grad(const Launch& op) { norm_input_grad(op, true); }
void final_norm_input_grad(const Launch& op) { norm_input_grad(op, false); }

void norm_weight_grad(const Launch& op) {
  op.device.norm_weight_grad(op.f32(3), op.f32_or_null(4), op.f32(0), op.f32(1), op.f32(2),
                             op.own_tokens(), op.shape.C);
}

// A linear layer from K inputs to M outputs.
struct Sizes {
  std::int64_t M, K;
};
Sizes qkv_sizes(const Shape& shape) { return {(shape.H + 2 * shape.K) * shape.D, shape.C}; }
Sizes projection_sizes(const Shape& shape) { return {shape.C, shape.H * shape.D}; }
Sizes mlp_in_sizes(const Shape& shape) {
  return {shape.mlp == Mlp::kSwiglu ? 2 * shape.F : shape.F, shape.C};
}
Sizes mlp_out_sizes(const Shape& shape) { return {shape.C, shape.F}; }
Sizes head_sizes(const Shape& shape) { return {shape.V, shape.C}; }

template <Sizes (*kSizes)(const Shape&)>
void linear_forward(const Launch& op) {
  const auto [M, K] = kSizes(op.shape);
  const std::size_t out = op.count() - 1;
  op.device.linear_forward(op.f32(out), op.f32(0), op.f32(1), out == 3 ? op.f32(2) : nullptr,
                           op.N(), M, K);
}
// Of a row-parallel product, whose partial sums the TP group adds up.
template <Sizes (*kSizes)(const Shape&)>
void row_forward(const Launch& op) {
  const auto [M, K] = kSizes(op.shape);
  const std::size_t out = op.count() - 1;
  op.device.linear_forward(op.f32(out), op.f32(0), op.f32(1),
                           out == 3 && op.adds_biases() ? op.f32(2) : nullptr, op.N(), M, K);
}
template <Sizes (*kSizes)(const Shape&)>
void linear_input_grad(const Launch& op) {
  const auto [M, K] = kSizes(op.shape);
  op.device.linear_input_grad(op.f32(2), op.f32(0), op.f32(1), op.N(), M, K);
}
template <Sizes (*kSizes)(const Shape&)>
void linear_weight_grad(const Launch& op) {
  const auto [M, K] = kSizes(op.shape);
  op.device.linear_weight_grad(op.f32(2), op.f32_or_null(3), op.f32(0), op.f32(1), op.N(), M, K);
}

// Without learned positions queries and keys carry theirs: they are turned as soon as they exist,
// and their gradients are turned back where attention's backward has made them.
void qkv_forward(const Launch& op) {
  linear_forward<qkv_sizes>(op);
  if (!op.shape.learned_positions)
    op.device.rotary(op.f32(op.count() - 1), Turn::kForward, op.attention());
}

void attention_forward(const Launch& op) {
  op.device.attention_forward(op.f32(2), op.f32(1), op.f32(0), op.attention());
}

void attention_input_grad(const Launch& op) {
  op.device.attention_backward(op.f32(3), op.f32(4), op.f32(0), op.f32(1), op.f32(2),
                               op.attention());
  if (!op.shape.learned_positions) op.device.rotary(op.f32(3), Turn::kBack, op.attention());
}

void residual_forward(const Launch& op) {
  op.device.residual_add(op.f32(2), op.f32(0), op.f32(1), op.operands[2].count);
}

void activation_forward(const Launch& op) {
  if (op.shape.mlp == Mlp::kSwiglu)
    op.device.swiglu_forward(op.f32(1), op.f32(0), op.N(), op.shape.F);
  else
    op.device.gelu_forward(op.f32(1), op.f32(0), op.N() * op.shape.F);
}

void activation_input_grad(const Launch& op) {
  if (op.shape.mlp == Mlp::kSwiglu)
    op.device.swiglu_backward(op.f32(2), op.f32(0), op.f32(1), op.N(), op.shape.F);
  else
    op.device.gelu_backward(op.f32(2), op.f32(0), op.f32(1), op.N() * op.shape.F);
}

void loss_max_forward(const Launch& op) {
  op.device.loss_max(op.f32(1), op.f32(0), op.N(), op.shape.V);
}

void loss_sum_forward(const Launch& op) {
  op.device.loss_sum(op.f32(3), op.f32(4), op.f32(0), op.f32(1), op.i32(2), op.N(), op.shape.V);
}

void loss_forward(const Launch& op) {
  op.device.loss(op.f64(3), op.f32(0), op.f32(1), op.f32(2), op.N());
}

void loss_input_grad(const Launch& op) {
  const auto scale = static_cast<float>(1.0 / static_cast<double>(op.shape.global_tokens));
  op.device.loss_grad(op.f32(3), op.f32(0), op.f32(1), op.i32(2), scale, op.N(), op.shape.V);
}

void grad_norm(const Launch& op) {
  const std::size_t sum = op.count() - 1;
  if (op.operands[sum].access == Access::kWrite)
    op.device.zero(op.bytes(sum), size_of(DataType::kF64));
  for (std::size_t index = 0; index < sum; ++index) {
    const std::int64_t first = op.parameter_at(index);
    std::int64_t begin = first, end = first;  // parameters that stand together are one sum
    const auto add = [&] {
      if (end > begin)
        op.device.sum_of_squares(op.f64(sum), op.f32(index) + (begin - first), end - begin);
    };
    for (const ParameterSlice& slice : op.program.parameters) {
      const std::int64_t counted = slice.shared_copy ? 0 : slice.count - slice.copied;
      const std::int64_t from = std::max(first, slice.offset);
      const std::int64_t to = std::min(first + op.operands[index].count, slice.offset + counted);
      if (from >= to) continue;
      if (from != end) {
        add();
        begin = from;
      }
      end = to;
    }
    add();
  }
}

// One launch per parameter, because only matrices decay.
void optimizer(const Launch& op) {
  AdamW settings;
  settings.learning_rate = static_cast<float>(op.scalars.learning_rate);
  settings.step = op.scalars.step;
  const float decay = settings.weight_decay;
  const std::size_t parts = op.count() / 4 * 4;
  const double* square_sum = op.count() > parts ? op.f64(parts) : nullptr;
  for (std::size_t part = 0; part < parts; part += 4) {
    const std::int64_t begin = op.parameter_at(part);
    const std::int64_t end = begin + op.operands[part].count;
    for (const ParameterSlice& slice : op.program.parameters) {
      const std::int64_t from = std::max(begin, slice.offset);
      const std::int64_t to = std::min(end, slice.offset + slice.count);
      if (from >= to) continue;
      settings.weight_decay = decays(slice.parameter) ? decay : 0.0F;
      const std::int64_t at = from - begin;
      op.device.adamw(op.f32(part) + at, op.f32(part + 1) + at, op.f32(part + 2) + at,
                      op.f32(part + 3) + at, square_sum, static_cast<float>(op.scalars.clip),
                      settings, to - from);
    }
  }
}

struct Entry {
  Piece piece;
  Phase phase;
  std::size_t fewest, most;  // operands
  void (*launch)(const Launch&);
};

constexpr std::size_t kAny = 1 << 20;
constexpr Phase kF = Phase::kForward;
constexpr Phase kI = Phase::kInputGrad;
constexpr Phase kW = Phase::kWeightGrad;
constexpr Phase kU = Phase::kUpdate;

constexpr std::array kTable{
    Entry{Piece::kZeroGrad, kU, 1, kAny, zero_grad},
    Entry{Piece::kZeroGrad, kW, 1, 1, zero_grad},
    Entry{Piece::kEmbedding, kF, 3, 4, embedding_forward},
    Entry{Piece::kEmbedding, kW, 3, 4, embedding_weight_grad},
    Entry{Piece::kNorm1, kF, 4, 5, norm_forward},
    Entry{Piece::kNorm1, kI, 5, 5, inner_norm_input_grad},
    Entry{Piece::kNorm1, kW, 4, 5, norm_weight_grad},
    Entry{Piece::kNorm2, kF, 4, 5, norm_forward},
    Entry{Piece::kNorm2, kI, 5, 5, inner_norm_input_grad},
    Entry{Piece::kNorm2, kW, 4, 5, norm_weight_grad},
    Entry{Piece::kFinalNorm, kF, 4, 5, norm_forward},
    Entry{Piece::kFinalNorm, kI, 5, 5, final_norm_input_grad},
    Entry{Piece::kFinalNorm, kW, 4, 5, norm_weight_grad},
    Entry{Piece::kQkv, kF, 3, 4, qkv_forward},
    Entry{Piece::kQkv, kI, 3, 3, linear_input_grad<qkv_sizes>},
    Entry{Piece::kQkv, kW, 3, 4, linear_weight_grad<qkv_sizes>},
    Entry{Piece::kAttention, kF, 3, 3, attention_forward},
    Entry{Piece::kAttention, kI, 5, 5, attention_input_grad},
    Entry{Piece::kProjection, kF, 3, 4, row_forward<projection_sizes>},
    Entry{Piece::kProjection, kI, 3, 3, linear_input_grad<projection_sizes>},
    Entry{Piece::kProjection, kW, 3, 4, linear_weight_grad<projection_sizes>},
    Entry{Piece::kResidual1, kF, 3, 3, residual_forward},
    Entry{Piece::kResidual2, kF, 3, 3, residual_forward},
    Entry{Piece::kMlpIn, kF, 3, 4, linear_forward<mlp_in_sizes>},
    Entry{Piece::kMlpIn, kI, 3, 3, linear_input_grad<mlp_in_sizes>},
    Entry{Piece::kMlpIn, kW, 3, 4, linear_weight_grad<mlp_in_sizes>},
    Entry{Piece::kActivation, kF, 2, 2, activation_forward},
    Entry{Piece::kActivation, kI, 3, 3, activation_input_grad},
    Entry{Piece::kMlpOut, kF, 3, 4, row_forward<mlp_out_sizes>},
    Entry{Piece::kMlpOut, kI, 3, 3, linear_input_grad<mlp_out_sizes>},
    Entry{Piece::kMlpOut, kW, 3, 4, linear_weight_grad<mlp_out_sizes>},
    Entry{Piece::kHead, kF, 3, 3, linear_forward<head_sizes>},
    Entry{Piece::kHead, kI, 3, 3, linear_input_grad<head_sizes>},
    Entry{Piece::kHead, kW, 3, 3, linear_weight_grad<head_sizes>},
    Entry{Piece::kLossMax, kF, 2, 2, loss_max_forward},
    Entry{Piece::kLossSum, kF, 5, 5, loss_sum_forward},
    Entry{Piece::kLoss, kF, 4, 4, loss_forward},
    Entry{Piece::kLoss, kI, 4, 4, loss_input_grad},
    Entry{Piece::kGradNorm, kU, 1, kAny, grad_norm},
    Entry{Piece::kOptimizer, kU, 4, kAny, optimizer},
};

}  // namespace

Result<void> execute_op(Device& device, const Shape& shape, const RankProgram& program,
                        const Op& op, std::byte* arena, const StepScalars& scalars) {
  const Phase phase = op.phase == Phase::kRecompute ? Phase::kForward : op.phase;
  const auto* entry = std::find_if(kTable.begin(), kTable.end(), [&](const Entry& candidate) {
    return candidate.piece == op.piece && candidate.phase == phase;
  });
  const std::span<const Operand> operands = program.operands_of(op);
  if (op.kind != OpKind::kCompute || entry == kTable.end() || operands.size() < entry->fewest ||
      operands.size() > entry->most)
    return message("piece-unknown",
                   "This version cannot execute the piece {} ({}) with {} operands.",
                   name_of(op.piece), name_of(op.phase), operands.size());
  entry->launch(Launch{device, shape, program, operands, arena, scalars});
  return {};
}

}  // namespace parallelarium
