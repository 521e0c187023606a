// SPDX-License-Identifier: Apache-2.0
// Causal attention with several heads, unfused: the probabilities are stored for the backward.
//
//   S = Q K^T / sqrt(D),  P = softmax over keys j <= i,  context = P V
//
// Legend: B sequences, T tokens of each, H query heads, K key/value heads (H/K queries share one:
// grouped-query attention, Ainslie et al. 2023), D head size, A = (H + 2K) D.
// qkv, dqkv [B*T, A]: H heads of Q, K of keys, K of values; context [B*T, H*D];
// probabilities [B,H,T,T], zero above the diagonal.
// Source: Vaswani et al. 2017, eq. (1).
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/elementwise/dropout.h"

namespace parallelarium {

struct AttentionShape {
  std::int64_t B = 0, T = 0, H = 0, K = 0, D = 0;
};

// How many key/value heads an unfused backward on a GPU takes at once: as many as 128 MiB of scores
// hold. One head does not fill a GPU, and each costs five launches.
constexpr std::int64_t heads_at_once(const AttentionShape& shape, std::int64_t element_bytes) {
  constexpr std::int64_t kMostScores = std::int64_t{128} << 20;
  const std::int64_t each = std::max<std::int64_t>(shape.T * shape.T * element_bytes, 1);
  return std::clamp<std::int64_t>(kMostScores / each, 1, std::max<std::int64_t>(shape.K, 1));
}

// Dropout of the probabilities, if any: context = dropped V. Both [B,H,T,T]; zero above the
// diagonal.
template <class T>
struct DroppedProbabilities {
  std::uint8_t* mask = nullptr;  // 1: kept. Null: no dropout
  T* dropped = nullptr;          // probabilities * mask * scale
  AttentionDropout of;
};

// K must divide H.
void attention_forward_cpu(float* context, float* probabilities, const float* qkv,
                           const AttentionShape& shape,
                           const DroppedProbabilities<float>& dropout = {});

// Overwrites dqkv. scratch: float[T*T].
void attention_backward_cpu(float* dqkv, float* scratch, const float* dcontext, const float* qkv,
                            const float* probabilities, const AttentionShape& shape,
                            const DroppedProbabilities<float>& dropout = {});

}  // namespace parallelarium
