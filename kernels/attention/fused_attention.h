// SPDX-License-Identifier: Apache-2.0
// Causal attention that stores no score matrix: the forward goes by blocks and keeps one number per
// row, the log of the sum of exponentials, from which the backward recomputes the probabilities:
//
//   lse_i = log sum_j exp(S_ij),  P_ij = exp(S_ij - lse_i),
//   dS_ij = P_ij (dP_ij - delta_i),  delta_i = sum_d dcontext_id context_id
//
// Legend and operands: attention.h; lse [B,H,T].
// Source: Dao, "FlashAttention-2", 2023, algorithms 1 and 2.
#pragma once

#include <cstdint>

#include "kernels/attention/attention.h"

namespace parallelarium {

inline constexpr std::int64_t kFusedBlock = 128;  // query rows of one block on the CPU

// Floats of scratch that either direction needs on either kind of device.
constexpr std::int64_t fused_attention_scratch(const AttentionShape& shape) {
  return shape.B * shape.H * shape.T + 2 * kFusedBlock * shape.T;
}

// K must divide H.
void fused_attention_forward_cpu(float* context, float* lse, float* scratch, const float* qkv,
                                 const AttentionShape& shape);

// Overwrites dqkv. context and lse: as the forward wrote them.
void fused_attention_backward_cpu(float* dqkv, float* scratch, const float* dcontext,
                                  const float* qkv, const float* context, const float* lse,
                                  const AttentionShape& shape);

}  // namespace parallelarium
