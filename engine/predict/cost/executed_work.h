// SPDX-License-Identifier: Apache-2.0
// What kernels execute of a Work entry, where that is not what it says.
#pragma once

#include <algorithm>

#include "engine/plan/program/kernels_of_pieces.h"
#include "engine/plan/program/program.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// Whether its products are in FP8.
inline bool is_fp8(const Work& work, ProductType products) {
  return products == ProductType::kFp8 && multiplies_fp8(work.piece);
}

// FLOPs of fused attention that are executed: of the blocks on and below the diagonal, and
// backward five products where the forward has two, since the scores are computed again. Source:
// Dao 2023, FlashAttention-2 (arXiv 2307.08691), sections 2.2 and 3.1. Of all else those it says.
inline double executed_flops(const Work& work, const Shape& shape) {
  if (work.piece != Piece::kAttention || !shape.fused) return work.flops;
  constexpr double kBlock = 128;
  const std::int64_t keys = shape.local ? shape.T : shape.sequence;
  const double rows = static_cast<double>(std::max<std::int64_t>(keys, 1));
  const double causal = std::min(1.0, 0.5 * (1 + kBlock / rows));
  return work.flops * causal * (work.phase == Phase::kInputGrad ? 1.25 : 1);
}

// FLOPs of an entry that is no product: the additions, subtractions, multiplications, divisions and
// exponentials for each of its elements, as kernels/norms, kernels/elementwise and kernels/experts
// write them; what a whole row needs once, such as a square root, is left out. 0 of products and of
// copies. No duration stands on them: memory bounds these pieces.
double element_flops(const Work& work, const Shape& shape);

}  // namespace parallelarium
