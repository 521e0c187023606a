// SPDX-License-Identifier: Apache-2.0
// Context parallelism: each rank holds a stretch of the sequence, and attention needs the keys and
// values of all stretches: gathered (or passed round a ring, the same volume) before the forward
// and again before the backward, whose key and value gradients go back by reduce-scatter. Ulysses
// exchanges heads for sequence instead, by all-to-all before and after.
// The transfers stand in the compute lane: overlap with attention is not credited.
// Source: Liu et al. 2023 (ring attention); Dubey et al. 2024, section 3.3.2; Jacobs et al. 2023.
#include "engine/passes/pieces.h"

namespace parallelarium {

std::vector<Draft> context_pass(const Setup& setup, const LocalSizes& sizes,
                                std::vector<Draft> drafts) {
  const std::int64_t cp = setup.mesh.cp;
  if (cp == 1) return drafts;
  const std::int64_t element = size_of(sizes.type);
  const std::int64_t keys_values =
      2 * sizes.shape.B * sizes.T_full * sizes.shape.K * sizes.shape.D * element;
  const std::int64_t in_bytes = sizes.N * sizes.A * element;
  const std::int64_t out_bytes = sizes.N * sizes.value_width * element;
  const bool ulysses = setup.context_parallel == ContextParallel::kUlysses;
  std::vector<Draft> result;
  result.reserve(drafts.size() + drafts.size() / 4);
  for (Draft& draft : drafts) {
    if (draft.op.piece != Piece::kAttention) {
      result.push_back(std::move(draft));
      continue;
    }
    const bool forward = draft.op.phase != Phase::kInputGrad;
    const auto collective = [&](CollectiveKind kind, std::int64_t bytes) {
      return collective_draft(kind, Axis::kCp, Purpose::kKeysValues, bytes, sizes.type, draft);
    };
    const Draft before = ulysses
                             ? collective(CollectiveKind::kAllToAll, forward ? in_bytes : out_bytes)
                             : collective(CollectiveKind::kAllGather, keys_values);
    const Draft after = ulysses
                            ? collective(CollectiveKind::kAllToAll, forward ? out_bytes : in_bytes)
                            : collective(CollectiveKind::kReduceScatter, keys_values);
    result.push_back(before);
    result.push_back(std::move(draft));
    if (ulysses || !forward) result.push_back(after);
  }
  return result;
}

}  // namespace parallelarium
