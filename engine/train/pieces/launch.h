// SPDX-License-Identifier: Apache-2.0
// The functions of pieces share an op with its addresses, and stand in tables, one for each family.
// To add a piece, write its function with the operands in the order of engine/plan/program/pieces.h
// and add its line to the table of its family.
#pragma once

#include <algorithm>
#include <cassert>
#include <span>

#include "engine/plan/program/kernels_of_pieces.h"
#include "engine/plan/program/program.h"
#include "engine/train/device.h"
#include "engine/train/pieces/execute.h"
#include "kernels/base/random.h"

namespace parallelarium {

// An op with its operands resolved to device addresses.
struct Launch {
  Device& device;
  const Shape& shape;
  const RankProgram& program;
  std::span<const Operand> operands;
  std::byte* arena;
  const StepScalars& scalars;
  const Op& source;
  int block;
  Phase phase;

  std::size_t count() const { return operands.size(); }
  Tensor tensor(std::size_t index) const {
    return program.buffers[static_cast<std::size_t>(operands[index].buffer)].tensor;
  }
  std::byte* bytes(std::size_t index) const {
    const Operand& operand = operands[index];
    return arena + program.buffers[static_cast<std::size_t>(operand.buffer)].offset +
           operand.offset * size_of(operand.type);
  }
  // fp32 or bf16, as the Setup's precision says.
  Values values(std::size_t index) const { return {operands[index].type, bytes(index)}; }
  // The operand, or null if the op does not have it: the biases of pieces.h.
  Values values_or_null(std::size_t index) const {
    return index < count() ? values(index) : nullptr;
  }
  // An operand that is fp32 in every precision, such as statistics.
  float* f32(std::size_t index) const {
    assert(operands[index].type == DataType::kF32);
    return reinterpret_cast<float*>(bytes(index));
  }
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
  // One rank of a TP group contributes what the group then adds up.
  bool adds_biases() const { return program.at.tp == 0; }
  // Where the operand's first element stands among the rank's parameters.
  std::int64_t parameter_at(std::size_t index) const {
    const Operand& operand = operands[index];
    return operand.shard < 0 ? operand.offset
                             : program.buckets[static_cast<std::size_t>(operand.shard)].own_begin;
  }
  // Calls visit(first row, first position, rows) for every run of positions of every sequence.
  template <class Visit>
  void for_each_run(const Visit& visit) const {
    const PositionRuns positions = positions_of(shape, program.at.cp);
    for (std::int64_t run = 0; run < positions.runs * shape.B; ++run)
      visit(run * positions.length, positions.begin[run % positions.runs], positions.length);
  }
  // The op's dropout: a function of seed, step, layer and piece.
  Dropout dropout() const {
    return make_dropout(scalars.training ? shape.dropout : 0,
                        random_key({scalars.seed, static_cast<std::uint64_t>(scalars.step),
                                    static_cast<std::uint64_t>(source.layer + 1),
                                    static_cast<std::uint64_t>(source.piece)}));
  }
  std::int64_t first_sample() const { return scalars.first_sample + source.microbatch * shape.B; }
  // The same for own_tokens() alone: visit(first own row, its token in the step's global batch,
  // rows).
  template <class Visit>
  void for_each_own_run(const Visit& visit) const {
    const std::int64_t own = own_tokens(), first = own < N() ? program.at.tp * own : 0;
    // Without CP, sequences stand one behind the other.
    if (shape.T == shape.sequence) return visit(0, first_sample() * shape.T + first, own);
    for_each_run([&](std::int64_t row, std::int64_t position, std::int64_t length) {
      const std::int64_t from = std::max(row, first), end = std::min(row + length, first + own);
      if (from >= end) return;
      const std::int64_t sample = first_sample() + row / shape.T;
      visit(from - first, sample * shape.sequence + position + (from - row), end - from);
    });
  }
  AttentionDropout attention_dropout(const AttentionShape& of) const {
    // Under Ulysses a CP rank has some of the heads of its TP rank.
    const std::int64_t cut = of.H < shape.H ? program.at.cp * of.H : 0;
    return {dropout(), first_sample(), program.at.tp * shape.H + cut, shape.heads, shape.sequence};
  }
  // The products of a linear layer or an expert, of FP8 where the Setup and the piece have it;
  // those have rows without gaps (y_pitch 0).
  bool in_fp8() const { return shape.fp8 && multiplies_fp8(source.piece); }
  void linear_forward(Values y, ConstValues x, ConstValues w, ConstValues bias, std::int64_t rows,
                      std::int64_t M, std::int64_t K, std::int64_t y_pitch = 0) const {
    assert(!in_fp8() || y_pitch == 0);
    if (in_fp8()) return device.fp8_linear_forward(y, x, w, bias, rows, M, K);
    device.linear_forward(y, x, w, bias, rows, M, K, y_pitch);
  }
  void linear_input_grad(Values dx, ConstValues dy, ConstValues w, std::int64_t rows,
                         std::int64_t M, std::int64_t K, std::int64_t y_pitch = 0) const {
    if (in_fp8()) return device.fp8_linear_input_grad(dx, dy, w, rows, M, K);
    device.linear_input_grad(dx, dy, w, rows, M, K, y_pitch);
  }
  void linear_weight_grad(Values dw, Values db, ConstValues dy, ConstValues x, std::int64_t rows,
                          std::int64_t M, std::int64_t K, std::int64_t y_pitch = 0) const {
    if (in_fp8()) return device.fp8_linear_weight_grad(dw, db, dy, x, rows, M, K);
    device.linear_weight_grad(dw, db, dy, x, rows, M, K, y_pitch);
  }
  std::uint8_t* u8(std::size_t index) const {
    assert(operands[index].type == DataType::kU8);
    return reinterpret_cast<std::uint8_t*>(bytes(index));
  }
  // The shape of an attention op whose QKV is operand `qkv`; under Ulysses the whole sequence and
  // some heads.
  AttentionShape attention_of(std::size_t qkv) const {
    if (tensor(qkv) != Tensor::kHeadsInput) return attention();
    const std::int64_t ranks = shape.sequence / shape.T;
    return {shape.B, shape.sequence, shape.H / ranks, std::max<std::int64_t>(1, shape.K / ranks),
            shape.D};
  }
  AttentionShape attention() const { return {shape.B, shape.T, shape.H, shape.K, shape.D}; }
};

// Turns all tokens of the rank: one or two runs of positions of each sequence.
void turn(const Launch& op, Values qkv, Turn direction);

struct LaunchRow {
  Piece piece;
  Phase phase;
  std::size_t fewest, most;  // operands
  void (*launch)(const Launch&);
};
// Logits as good as minus infinity.
inline constexpr float kNoLogit = -1e30F;
inline constexpr Phase kF = Phase::kForward;
inline constexpr Phase kI = Phase::kInputGrad;
inline constexpr Phase kW = Phase::kWeightGrad;
inline constexpr Phase kU = Phase::kUpdate;

// Embedding, norms, linear layers, activation, residual.
std::span<const LaunchRow> layer_entries();
// Attention and the copies between its layouts.
std::span<const LaunchRow> attention_entries();
// Routers, experts, and the rows between them.
std::span<const LaunchRow> expert_entries();
// The three parts of the loss.
std::span<const LaunchRow> loss_entries();
// Clearing, norm of the gradients, optimizer.
std::span<const LaunchRow> update_entries();

}  // namespace parallelarium
