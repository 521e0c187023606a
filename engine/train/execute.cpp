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
  // Calls visit(first row, first position, rows) for every run of positions of every sequence.
  template <class Visit>
  void for_each_run(const Visit& visit) const {
    const PositionRuns positions = positions_of(shape, program.at.cp);
    for (std::int64_t run = 0; run < positions.runs * shape.B; ++run)
      visit(run * positions.length, positions.begin[run % positions.runs], positions.length);
  }
  // Of an attention op whose QKV is operand `qkv`: under Ulysses the whole sequence and some heads.
  AttentionShape attention_of(std::size_t qkv) const {
    if (tensor(qkv) != Tensor::kHeadsInput) return attention();
    const std::int64_t ranks = shape.sequence / shape.T;
    return {shape.B, shape.sequence, shape.H / ranks, std::max<std::int64_t>(1, shape.K / ranks),
            shape.D};
  }
  AttentionShape attention() const { return {shape.B, shape.T, shape.H, shape.K, shape.D}; }
};

void zero_grad(const Launch& op) {
  for (std::size_t index = 0; index < op.count(); ++index)
    op.device.zero(op.bytes(index), op.operands[index].count * size_of(op.operands[index].type));
}

void embedding_forward(const Launch& op) {
  const std::size_t out = op.count() - 1;
  const std::int64_t C = op.shape.C;
  const float* positions = out == 3 && op.adds_biases() ? op.f32(2) : nullptr;
  op.for_each_run([&](std::int64_t row, std::int64_t position, std::int64_t length) {
    op.device.embedding_forward(op.f32(out) + row * C, op.i32(0) + row, op.f32(1),
                                positions != nullptr ? positions + position * C : nullptr, length,
                                length, C);
  });
}

void embedding_weight_grad(const Launch& op) {
  const std::int64_t C = op.shape.C;
  float* positions = op.f32_or_null(3);
  op.for_each_run([&](std::int64_t row, std::int64_t position, std::int64_t length) {
    op.device.embedding_grad(op.f32(2), positions != nullptr ? positions + position * C : nullptr,
                             op.f32(0) + row * C, op.i32(1) + row, length, length, C);
  });
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

// Turns all tokens of the rank, which are one or two runs of positions of each sequence.
void turn(const Launch& op, float* qkv, Turn direction) {
  AttentionShape shape = op.attention();
  if (op.shape.T == op.shape.sequence) return op.device.rotary(qkv, direction, 0, shape);
  const std::int64_t width = (shape.H + 2 * shape.K) * shape.D;
  shape.B = 1;
  op.for_each_run([&](std::int64_t row, std::int64_t position, std::int64_t length) {
    shape.T = length;
    op.device.rotary(qkv + row * width, direction, position, shape);
  });
}

// Without learned positions queries and keys carry theirs: they are turned as soon as they exist,
// and their gradients are turned back where attention's backward has made them.
void qkv_forward(const Launch& op) {
  linear_forward<qkv_sizes>(op);
  if (!op.shape.learned_positions) turn(op, op.f32(op.count() - 1), Turn::kForward);
}

// Attention that keeps no probabilities: the own keys and values out of qkv, or those of all ranks.
// or, in a ring, those of one other rank.
struct Blocks {
  int ranks = 1, own = 0;             // over which the sequence is cut
  int first = 0, end = 1;             // steps against the ring that this op does
  std::int64_t stride = 0, each = 0;  // floats between tokens, and between blocks
  bool last() const { return end == ranks; }
};
Blocks blocks_of(const Launch& op, const AttentionShape& shape, std::size_t keys_values) {
  const bool own_only = keys_values == 0;
  const std::int64_t width = 2 * shape.K * shape.D;
  Blocks blocks;
  blocks.ranks = op.shape.zigzag ? static_cast<int>(op.shape.sequence / op.shape.T) : 1;
  blocks.own = blocks.ranks > 1 ? op.program.at.cp : 0;
  blocks.stride = own_only ? width + shape.H * shape.D : width;
  const bool all = !own_only && op.operands[keys_values].count > op.N() * width;
  blocks.first = all ? 0 : op.block;
  blocks.end = all ? blocks.ranks : op.block + 1;
  blocks.each = all ? op.N() * width : 0;
  return blocks;
}
// Calls visit(rank whose block it is, its description), the own first.
template <class Visit>
void for_each_block(const Launch& op, const AttentionShape& shape, const Blocks& blocks,
                    const Visit& visit) {
  const auto runs = [&](int rank) {
    const PositionRuns positions = positions_of(op.shape, rank);
    return TokenRuns{positions.runs, {positions.begin[0], positions.begin[1]}};
  };
  for (int step = blocks.first; step < blocks.end; ++step) {
    const int rank = (blocks.own - step + blocks.ranks) % blocks.ranks;
    visit(rank, AttentionBlock{shape, runs(blocks.own), runs(rank), blocks.stride, step == 0});
  }
}

void fused_forward(const Launch& op) {
  const AttentionShape shape = op.attention_of(0);
  const bool own_only = op.count() == 4;
  const std::size_t out = op.count() - 3;
  const Blocks blocks = blocks_of(op, shape, own_only ? 0 : 1);
  const float* keys_values = own_only ? op.f32(0) + shape.H * shape.D : op.f32(1);
  float *context = op.f32(out), *lse = op.f32(out + 1), *row_sum = op.f32(out + 2);
  float* scratch = row_sum + shape.B * shape.H * shape.T;
  for_each_block(op, shape, blocks, [&](int rank, const AttentionBlock& block) {
    op.device.block_attention_forward(context, lse, row_sum, scratch, op.f32(0),
                                      keys_values + rank * blocks.each, block);
  });
  if (blocks.last()) op.device.block_attention_finish(context, lse, row_sum, shape);
}

void fused_input_grad(const Launch& op) {
  const AttentionShape shape = op.attention_of(1);
  const bool own_only = op.count() == 6;
  const std::size_t context = own_only ? 2 : 3;
  const Blocks blocks = blocks_of(op, shape, own_only ? 0 : 2);
  float* dqkv = op.f32(context + 2);
  const std::size_t adds = own_only ? context + 2 : context + 3;
  if (op.operands[adds].access == Access::kWrite)
    op.device.zero(op.bytes(adds), op.operands[adds].count * size_of(DataType::kF32));
  const float* keys_values = own_only ? op.f32(1) + shape.H * shape.D : op.f32(2);
  float* dkeys_values = own_only ? dqkv + shape.H * shape.D : op.f32(adds);
  float* scratch = op.f32(op.count() - 1) + shape.B * shape.H * shape.T;
  for_each_block(op, shape, blocks, [&](int rank, const AttentionBlock& block) {
    op.device.block_attention_backward(dqkv, dkeys_values + rank * blocks.each, scratch, op.f32(0),
                                       op.f32(1), keys_values + rank * blocks.each, op.f32(context),
                                       op.f32(context + 1), block);
  });
  // With CP, when the gradient is whole.
  const bool whole = blocks.ranks == 1 && op.tensor(1) == Tensor::kQkvOut;
  if (whole && !op.shape.learned_positions) turn(op, dqkv, Turn::kBack);
}

// Where the rank's own part of all ranks' keys and values (or of their gradient) begins.
float* own_block(const Launch& op, std::size_t index) {
  const std::int64_t each = op.N() * 2 * op.shape.K * op.shape.D;
  return op.f32(index) + (op.operands[index].count > each ? op.program.at.cp * each : 0);
}
// Ulysses: columns of the heads that each rank works on, to or from [CP, N, columns of one].
struct HeadColumns {
  std::int64_t local = 0, exchanged = 0, width = 0;  // first columns
  bool repeated = false;                             // others take the same
};
std::vector<HeadColumns> columns_of(const Shape& shape, bool qkv, std::int64_t ranks,
                                    std::int64_t rank) {
  const std::int64_t queries = shape.H / ranks * shape.D;
  std::vector<HeadColumns> columns = {{rank * queries, 0, queries, false}};
  if (!qkv) return columns;
  const bool repeated = shape.K < ranks;
  const std::int64_t width = repeated ? shape.D : shape.K / ranks * shape.D;
  const std::int64_t from = repeated ? rank / (ranks / shape.K) * shape.D : rank * width;
  columns.push_back({shape.H * shape.D + from, queries, width, repeated});
  columns.push_back({(shape.H + shape.K) * shape.D + from, queries + width, width, repeated});
  return columns;
}

void exchange_layout(const Launch& op, bool packs) {
  const Shape& shape = op.shape;
  const std::int64_t ranks = shape.sequence / shape.T;
  const std::size_t local = packs ? 0 : 1, exchanged = packs ? 1 : 0;
  const std::int64_t local_width = op.operands[local].count / op.N();
  const std::int64_t width = op.operands[exchanged].count / op.N() / ranks;
  const bool qkv = op.tensor(packs ? 1 : 0) == Tensor::kHeadsInput;
  if (!packs && qkv)
    op.device.zero(op.bytes(local), op.operands[local].count * size_of(DataType::kF32));
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    for (const HeadColumns& part : columns_of(shape, qkv, ranks, rank)) {
      float* here = op.f32(local) + part.local;
      float* there = op.f32(exchanged) + rank * op.N() * width + part.exchanged;
      if (packs) {
        op.device.copy_rows(there, width, here, local_width, op.N(), part.width);
      } else if (!part.repeated) {
        op.device.copy_rows(here, local_width, there, width, op.N(), part.width);
      } else {
        for (std::int64_t n = 0; n < op.N(); ++n)
          op.device.accumulate(here + n * local_width, there + n * width, part.width);
      }
    }
  }
  if (!packs && qkv && !shape.learned_positions) turn(op, op.f32(local), Turn::kBack);
}

// [CP,B,T,..] to [B,CP,T,..], or back.
void reorder_sequences(const Launch& op, bool to_sequences) {
  const std::int64_t ranks = op.shape.sequence / op.shape.T, sequences = op.shape.B;
  const std::int64_t run = op.operands[0].count / ranks / sequences;
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    for (std::int64_t b = 0; b < sequences; ++b) {
      const std::int64_t by_rank = (rank * sequences + b) * run;
      const std::int64_t by_sequence = (b * ranks + rank) * run;
      const std::int64_t from = to_sequences ? by_rank : by_sequence;
      const std::int64_t to = to_sequences ? by_sequence : by_rank;
      op.device.copy(op.bytes(1) + to * 4, op.bytes(0) + from * 4, run * 4);
    }
}

void pack_keys_values(const Launch& op) {
  const Shape& shape = op.shape;
  const std::int64_t width = 2 * shape.K * shape.D, queries = shape.H * shape.D;
  op.device.copy_rows(own_block(op, 1), width, op.f32(0) + queries, queries + width, op.N(), width);
}
void unpack_keys_values(const Launch& op) {
  const Shape& shape = op.shape;
  const std::int64_t width = 2 * shape.K * shape.D, queries = shape.H * shape.D;
  float* to = op.f32(1) + queries;
  const float* from = own_block(op, 0);
  if (op.operands[0].count == op.N() * width) {
    // A ring brings others' parts; the own is there.
    for (std::int64_t n = 0; n < op.N(); ++n)
      op.device.accumulate(to + n * (queries + width), from + n * width, width);
  } else {
    op.device.copy_rows(to, queries + width, from, width, op.N(), width);
  }
  if (!shape.learned_positions) turn(op, op.f32(1), Turn::kBack);
}

// Copies between layouts around attention; the tensors tell which.
void permute(const Launch& op) {
  const Tensor from = op.tensor(0), to = op.tensor(1);
  const auto exchanged = [](Tensor tensor) {
    return tensor == Tensor::kHeadsInput || tensor == Tensor::kHeadsContext;
  };
  if (to == Tensor::kKeysValues) return pack_keys_values(op);
  if (from == Tensor::kGradKeysValues) return unpack_keys_values(op);
  if (!exchanged(from) || !exchanged(to)) return exchange_layout(op, exchanged(to));
  // What comes in is by rank at first, what goes out by sequence.
  reorder_sequences(op, (to == Tensor::kHeadsInput) == (op.phase == Phase::kForward));
}

void attention_forward(const Launch& op) {
  if (op.count() > 3) return fused_forward(op);
  op.device.attention_forward(op.f32(2), op.f32(1), op.f32(0), op.attention_of(0));
}

void attention_input_grad(const Launch& op) {
  if (op.count() > 5) return fused_input_grad(op);
  op.device.attention_backward(op.f32(3), op.f32(4), op.f32(0), op.f32(1), op.f32(2),
                               op.attention_of(1));
  if (op.tensor(1) == Tensor::kQkvOut && !op.shape.learned_positions)
    turn(op, op.f32(3), Turn::kBack);
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
    Entry{Piece::kAttention, kF, 3, 5, attention_forward},
    Entry{Piece::kAttention, kI, 5, 8, attention_input_grad},
    Entry{Piece::kPermute, kF, 2, 2, permute},
    Entry{Piece::kPermute, kI, 2, 2, permute},
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
  entry->launch(Launch{device, shape, program, operands, arena, scalars, op.block, phase});
  return {};
}

}  // namespace parallelarium
