// SPDX-License-Identifier: Apache-2.0
// Recompute::kSecondProducts. What the backward reads of the products that are not computed again
// waits: queries before they are turned, values, SwiGLU's gate. Under sequence parallelism so does
// what a reduce-scatter has given, and with it the sum behind the projection. Source: torchtitan
// 004b314, torchtitan/parallelisms/parallelize_llama.py, _save_list and
// _apply_ac_to_transformer_block, which counts the products of a layer.
#include "engine/passes/writers/piece_writer.h"

namespace parallelarium {

namespace {

constexpr std::int16_t kQueriesValues = 2;  // part of kQkvOut that waits
constexpr std::int16_t kUp = 2;             // part of kMlpInOut that does not

// One copy of queries and values, to or from where they wait.
Work copy_of(Phase phase, std::int64_t count, DataType type) {
  Work copy{Piece::kPermute, phase};
  copy.elements = count;
  copy.bytes = 2 * count * size_of(type);
  return copy;
}

}  // namespace

void PieceWriter::write_queries_keys_values(int layer) {
  const std::int64_t count = z_.N * (s_.H + s_.K) * s_.D;
  const std::int64_t product_bytes = work().bytes;
  write(Tensor::kQkvOut, layer, count);
  part(kQueriesValues);
  write(Tensor::kQkvOut, layer, z_.N * z_.A);
  work().bytes = product_bytes + z_.N * z_.A * size_of(z_.type);
  drafts().back().work.push_back(copy_of(phase_, count, z_.type));
}

void PieceWriter::keys_again(int layer) {
  const LinearNames n = qkv();
  const std::int64_t count = z_.N * (s_.H + s_.K) * s_.D, keys = s_.K * s_.D;
  begin(n.piece, Phase::kRecompute, layer, z_.N * n.out_width);
  product(z_.N, keys, n.in_width);
  read_linear(n, layer);
  read(n.out, layer, count);
  part(kQueriesValues);
  write(n.out, layer, z_.N * n.out_width);
  work().bytes = (z_.N * n.in_width + keys * n.in_width + z_.N * keys) * size_of(z_.type);
  drafts().back().work.push_back(copy_of(Phase::kRecompute, count, z_.type));
}

void PieceWriter::halves_forward(int layer) {
  up_again(layer);
  Draft& draft = drafts().back();
  draft.op.phase = draft.work.back().phase = phase_;
  // The gate stands before up.
  DraftOperand up = draft.operands.back();
  draft.operands.back().part = 0;
  draft.operands.push_back(up);
  draft.work.push_back(draft.work.back());
}

void PieceWriter::up_again(int layer) {
  const LinearNames n = mlp_in(false);
  begin(n.piece, Phase::kRecompute, layer, z_.N * s_.F);
  product(z_.N, s_.F, n.in_width);
  read_linear(n, layer);
  write(n.out, layer, z_.N * s_.F);
  part(kUp);
  work().bytes = (z_.N * n.in_width + s_.F * n.in_width + z_.N * s_.F) * size_of(z_.type);
}

void PieceWriter::read_halves(int layer) {
  read(Tensor::kMlpInOut, layer, z_.N * s_.F);
  read(Tensor::kMlpInOut, layer, z_.N * s_.F);
  part(kUp);
}

}  // namespace parallelarium
