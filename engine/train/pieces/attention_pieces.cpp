// SPDX-License-Identifier: Apache-2.0
// Attention on whole scores or block by block, and the copies between its layouts.
#include <algorithm>
#include <array>

#include "engine/train/pieces/launch.h"

namespace parallelarium {
namespace {

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
  blocks.ranks = op.shape.key_blocks;
  // Ulysses has whole sequences, which begin where the first rank's tokens do.
  blocks.own = shape.T < op.shape.sequence ? op.program.at.cp : 0;
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
    const int rank = step == 0 ? blocks.own : (blocks.own - step + blocks.ranks) % blocks.ranks;
    visit(rank, AttentionBlock{shape, runs(blocks.own), runs(rank), blocks.stride, step == 0,
                               op.attention_dropout(shape)});
  }
}

// Whether one call of the kernel of whole sequences does it, which drops nothing.
bool is_whole(const Launch& op, const AttentionShape& shape, const Blocks& blocks) {
  return op.device.fuses(op.operands[0].type, shape.D) && blocks.ranks == 1 &&
         !op.attention_dropout(shape).dropout.drops();
}

void fused_forward(const Launch& op) {
  const AttentionShape shape = op.attention_of(0);
  const bool own_only = op.count() == 4;
  const std::size_t out = op.count() - 3;
  const Blocks blocks = blocks_of(op, shape, own_only ? 0 : 1);
  const Values context = op.values(out);
  float *lse = op.f32(out + 1), *row_sum = op.f32(out + 2);
  if (is_whole(op, shape, blocks))
    return op.device.fused_attention_forward(context, lse, row_sum, op.values(0), shape);
  const Values keys_values = own_only ? op.values(0) + shape.H * shape.D : op.values(1);
  float* scratch = row_sum + shape.B * shape.H * shape.T;
  for_each_block(op, shape, blocks, [&](int rank, const AttentionBlock& block) {
    op.device.block_attention_forward(context, lse, row_sum, scratch, op.values(0),
                                      keys_values + rank * blocks.each, block);
  });
  if (blocks.last()) op.device.block_attention_finish(context, lse, row_sum, shape);
}

void fused_input_grad(const Launch& op) {
  const AttentionShape shape = op.attention_of(1);
  const bool own_only = op.count() == 6;
  const std::size_t context = own_only ? 2 : 3;
  const Blocks blocks = blocks_of(op, shape, own_only ? 0 : 2);
  const Values dqkv = op.values(context + 2);
  float* scratch = op.f32(op.count() - 1);
  if (is_whole(op, shape, blocks)) {
    op.device.fused_attention_backward(dqkv, scratch, op.values(0), op.values(1),
                                       op.values(context), op.f32(context + 1), shape);
  } else {
    const std::size_t adds = own_only ? context + 2 : context + 3;
    if (op.operands[adds].access == Access::kWrite)
      op.device.zero(op.bytes(adds), op.operands[adds].count * size_of(op.operands[adds].type));
    const Values keys_values = own_only ? op.values(1) + shape.H * shape.D : op.values(2);
    const Values dkeys_values = own_only ? dqkv + shape.H * shape.D : op.values(adds);
    for_each_block(op, shape, blocks, [&](int rank, const AttentionBlock& block) {
      op.device.block_attention_backward(dqkv, dkeys_values + rank * blocks.each,
                                         scratch + shape.B * shape.H * shape.T, op.values(0),
                                         op.values(1), keys_values + rank * blocks.each,
                                         op.values(context), op.f32(context + 1), block);
    });
  }
  // Where other ranks add to the gradient, when it is whole.
  const bool whole = blocks.ranks == 1 && op.tensor(1) == Tensor::kQkvOut;
  if (whole && !op.shape.learned_positions) turn(op, dqkv, Turn::kBack);
}

// Where the rank's own part of all ranks' keys and values (or of their gradient) begins.
Values own_block(const Launch& op, std::size_t index) {
  const std::int64_t each = op.N() * 2 * op.shape.K * op.shape.D;
  return op.values(index) + (op.operands[index].count > each ? op.program.at.cp * each : 0);
}
// Ulysses: columns of the heads that each rank works on, to or from [CP, N, columns of one].
struct HeadColumns {
  std::int64_t local = 0, exchanged = 0, width = 0;  // first columns
  bool repeated = false;                             // others take the same
};
// Of queries (or outputs), keys and values; the latter of width 0 where there are none.
std::array<HeadColumns, 3> columns_of(const Shape& shape, bool qkv, std::int64_t ranks,
                                      std::int64_t rank) {
  const std::int64_t queries = shape.H / ranks * shape.D;
  const HeadColumns own{rank * queries, 0, queries, false};
  if (!qkv) return {own};
  const bool repeated = shape.K < ranks;
  const std::int64_t width = repeated ? shape.D : shape.K / ranks * shape.D;
  const std::int64_t from = repeated ? rank / (ranks / shape.K) * shape.D : rank * width;
  return {own,
          {shape.H * shape.D + from, queries, width, repeated},
          {(shape.H + shape.K) * shape.D + from, queries + width, width, repeated}};
}

void exchange_layout(const Launch& op, bool packs) {
  const Shape& shape = op.shape;
  const std::int64_t ranks = shape.sequence / shape.T;
  const std::size_t local = packs ? 0 : 1, exchanged = packs ? 1 : 0;
  const std::int64_t local_width = op.operands[local].count / op.N();
  const std::int64_t width = op.operands[exchanged].count / op.N() / ranks;
  const bool qkv = op.tensor(packs ? 1 : 0) == Tensor::kHeadsInput;
  if (!packs && qkv)
    op.device.zero(op.bytes(local), op.operands[local].count * size_of(op.operands[local].type));
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    for (const HeadColumns& part : columns_of(shape, qkv, ranks, rank)) {
      if (part.width == 0) continue;
      const Values here = op.values(local) + part.local;
      const Values there = op.values(exchanged) + rank * op.N() * width + part.exchanged;
      if (packs) {
        op.device.copy_rows(there, width, here, local_width, op.N(), part.width);
      } else if (!part.repeated) {
        op.device.copy_rows(here, local_width, there, width, op.N(), part.width);
      } else {
        op.device.accumulate_rows(here, local_width, there, width, op.N(), part.width);
      }
    }
  }
  if (!packs && qkv && !shape.learned_positions) turn(op, op.values(local), Turn::kBack);
}

// [CP,B,T,..] to [B,CP,T,..], or back.
void reorder_sequences(const Launch& op, bool to_sequences) {
  const std::int64_t ranks = op.shape.sequence / op.shape.T, sequences = op.shape.B;
  const std::int64_t run = op.operands[0].count / ranks / sequences;
  const std::int64_t size = size_of(op.operands[0].type);
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    for (std::int64_t b = 0; b < sequences; ++b) {
      const std::int64_t by_rank = (rank * sequences + b) * run;
      const std::int64_t by_sequence = (b * ranks + rank) * run;
      const std::int64_t from = to_sequences ? by_rank : by_sequence;
      const std::int64_t to = to_sequences ? by_sequence : by_rank;
      op.device.copy((op.values(1) + to).address(), (op.values(0) + from).address(), run * size);
    }
}

void pack_keys_values(const Launch& op) {
  const Shape& shape = op.shape;
  const std::int64_t width = 2 * shape.K * shape.D, queries = shape.H * shape.D;
  op.device.copy_rows(own_block(op, 1), width, op.values(0) + queries, queries + width, op.N(),
                      width);
}
void unpack_keys_values(const Launch& op) {
  const Shape& shape = op.shape;
  const std::int64_t width = 2 * shape.K * shape.D, queries = shape.H * shape.D;
  const Values to = op.values(1) + queries;
  const Values from = own_block(op, 0);
  if (op.operands[0].count == op.N() * width) {
    // A ring brings others' parts; the own is there.
    op.device.accumulate_rows(to, queries + width, from, width, op.N(), width);
  } else {
    op.device.copy_rows(to, queries + width, from, width, op.N(), width);
  }
  if (!shape.learned_positions) turn(op, op.values(1), Turn::kBack);
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

DroppedValues dropped(const Launch& op, std::size_t mask, const AttentionShape& shape) {
  if (op.count() <= mask) return {};
  return {op.u8(mask), op.values(mask + 1), op.attention_dropout(shape)};
}

void attention_forward(const Launch& op) {
  if (op.tensor(1) != Tensor::kProbabilities) return fused_forward(op);
  const AttentionShape shape = op.attention_of(0);
  op.device.attention_forward(op.values(2), op.values(1), op.values(0), shape,
                              dropped(op, 3, shape));
}

void attention_input_grad(const Launch& op) {
  if (op.tensor(2) != Tensor::kProbabilities) return fused_input_grad(op);
  const AttentionShape shape = op.attention_of(1);
  op.device.attention_backward(op.values(3), op.f32(4), op.values(0), op.values(1), op.values(2),
                               shape, dropped(op, 5, shape));
  if (op.tensor(1) == Tensor::kQkvOut && !op.shape.learned_positions)
    turn(op, op.values(3), Turn::kBack);
}

constexpr LaunchRow kAttentionEntries[] = {
    LaunchRow{Piece::kAttention, kF, 3, 5, attention_forward},
    LaunchRow{Piece::kAttention, kI, 5, 8, attention_input_grad},
    LaunchRow{Piece::kPermute, kF, 2, 2, permute},
    LaunchRow{Piece::kPermute, kI, 2, 2, permute},
};

}  // namespace

void turn(const Launch& op, Values qkv, Turn direction) {
  AttentionShape shape = op.attention();
  if (op.shape.T == op.shape.sequence) return op.device.rotary(qkv, direction, 0, shape);
  const std::int64_t width = (shape.H + 2 * shape.K) * shape.D;
  shape.B = 1;
  op.for_each_run([&](std::int64_t row, std::int64_t position, std::int64_t length) {
    shape.T = length;
    op.device.rotary(qkv + row * width, direction, position, shape);
  });
}

std::span<const LaunchRow> attention_entries() { return kAttentionEntries; }

}  // namespace parallelarium
