// SPDX-License-Identifier: Apache-2.0
// What kernels execute for a Work entry if that differs from what the entry says.
#pragma once

#include <algorithm>

#include "engine/plan/program/kernels_of_pieces.h"
#include "engine/plan/program/program.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// Whether the entry's products are in FP8.
inline bool is_fp8(const Work& work, ProductType products) {
  return products == ProductType::kFp8 && multiplies_fp8(work.piece);
}

// FLOPs that are executed. Fused attention executes the blocks on and below the diagonal. Its
// backward has five products where the forward has two, since the scores are computed again.
// Everything else executes what the entry says. Source: Dao 2023, FlashAttention-2 (arXiv
// 2307.08691), sections 2.2 and 3.1.
inline double executed_flops(const Work& work, const Shape& shape) {
  if (work.piece != Piece::kAttention || !shape.fused) return work.flops;
  constexpr double kBlock = 128;
  const std::int64_t keys = shape.local ? shape.T : shape.sequence;
  const double rows = static_cast<double>(std::max<std::int64_t>(keys, 1));
  const double causal = std::min(1.0, 0.5 * (1 + kBlock / rows));
  return work.flops * causal * (work.phase == Phase::kInputGrad ? 1.25 : 1);
}

// FLOPs of an entry that is no product. They count the additions, subtractions, multiplications,
// divisions and exponentials for each element, as kernels/norms, kernels/elementwise and
// kernels/experts write them. They leave out what a whole row needs once, such as a square root. 0
// for products and copies. No duration depends on them, since memory bounds these pieces.
double element_flops(const Work& work, const Shape& shape);

}  // namespace parallelarium
