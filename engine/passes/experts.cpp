// SPDX-License-Identifier: Apache-2.0
// Expert parallelism: tokens travel to the ranks that hold their experts and back, two all-to-alls
// a layer forward (dispatch, combine) and two backward. Sizes are those of even routing. Source:
// Lepikhin et al. 2020 (GShard), section 3.2.
#include "engine/passes/pieces.h"

namespace parallelarium {

std::vector<Draft> experts_pass(const Setup& setup, const LocalSizes& sizes,
                                std::vector<Draft> drafts) {
  if (setup.mesh.ep == 1) return drafts;
  const std::int64_t bytes =
      sizes.N * setup.model.experts.top_k * sizes.shape.C * size_of(sizes.type);
  std::vector<Draft> result;
  result.reserve(drafts.size() + drafts.size() / 4);
  for (Draft& draft : drafts) {
    const bool exchanges = draft.op.piece == Piece::kExpert && draft.op.phase != Phase::kWeightGrad;
    const Draft exchange = collective_draft(CollectiveKind::kAllToAll, Axis::kEp, Purpose::kTokens,
                                            bytes, sizes.type, draft);
    if (exchanges) result.push_back(exchange);
    result.push_back(std::move(draft));
    if (exchanges) result.push_back(exchange);
  }
  return result;
}

}  // namespace parallelarium
