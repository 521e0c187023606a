// SPDX-License-Identifier: Apache-2.0
// The products, norms and copies of latent attention, which stand for one piece, its queries, keys
// and values.
#include "engine/passes/writers/piece_writer.h"

namespace parallelarium {

void PieceWriter::split_latent(const LinearNames& n) {
  const LatentAttention& latent = model_.latent;
  if (n.piece != Piece::kQkv || latent.kv_rank == 0) return;
  const Work whole = work();
  std::vector<Work>& works = drafts().back().work;
  works.clear();
  const bool up_alone = whole.phase == Phase::kRecompute && keeps_latent();
  const auto add_product = [&](std::int64_t in, std::int64_t out) {
    if (up_alone && in == s_.C) return;
    works.push_back(whole);
    works.back().elements = works.size() == 1 ? whole.elements : 0;
    if (whole.phase == Phase::kWeightGrad)
      product(out, in, z_.N);
    else if (whole.phase == Phase::kInputGrad)
      product(z_.N, in, out);
    else
      product(z_.N, out, in);
  };
  const std::int64_t queries = s_.H * (latent.nope_dim + latent.rope_dim);
  if (latent.q_rank > 0) {
    add_product(s_.C, latent.q_rank);
    add_product(latent.q_rank, queries);
  } else {
    add_product(s_.C, queries);
  }
  add_product(s_.C, latent.kv_rank + latent.rope_dim);
  add_product(latent.kv_rank, s_.H * (latent.nope_dim + latent.value_dim));
  // The bytes go with the weights.
  double weights = 0;
  for (const Work& each : works) weights += each.flops;
  for (Work& each : works)
    each.bytes = static_cast<std::int64_t>(static_cast<double>(whole.bytes) * each.flops / weights);
  if (whole.phase == Phase::kWeightGrad) return;
  if (latent.q_rank > 0) works.push_back(latent_norm(whole.phase, latent.q_rank));
  works.push_back(latent_norm(whole.phase, latent.kv_rank));
  works.push_back(joined_heads(whole.phase));
}

// Both low ranks have a norm before their up-projection. Source: DeepSeek-V3 (arXiv 2412.19437),
// section 4.2; Megatron-LM, multi_latent_attention.py, q_layernorm and kv_layernorm.
Work PieceWriter::latent_norm(Phase phase, std::int64_t rank) const {
  Work work{Piece::kQkv, phase};
  work.bytes = (phase == Phase::kInputGrad ? 3 : 2) * z_.N * rank * size_of(z_.type);
  return work;
}

// What every head gets is written side by side: its query and key of a part with and a part
// without a position, where all heads share the key's, and its value; or the gradients are taken
// apart. Source: Megatron-LM, megatron/core/transformer/multi_latent_attention.py.
Work PieceWriter::joined_heads(Phase phase) const {
  const LatentAttention& latent = model_.latent;
  const std::int64_t key = latent.nope_dim + latent.rope_dim;
  Work work{Piece::kQkv, phase};
  work.bytes =
      z_.N * s_.H * (2 * key + latent.nope_dim + key + 2 * latent.value_dim) * size_of(z_.type);
  return work;
}

}  // namespace parallelarium
