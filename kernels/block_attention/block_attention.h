// SPDX-License-Identifier: Apache-2.0
// Causal attention of a rank's queries to keys and values that come block by block, as in ring
// attention. It keeps the running maximum and sum of each row's exponentials, and the context not
// yet divided by the sum. It stores nothing of size T x T; the backward recomputes the
// probabilities.
//
//   forward, per block:  M = max(m, max_j S_ij), f = exp(m - M), e_ij = exp(S_ij - M),
//                        l = f l + sum_j e_ij, context = f context + e V;  at last context /= l
//   backward, per block: P_ij = exp(S_ij - lse_i), dS = P (dP - delta), lse = m + log l,
//                        delta_i = dcontext_i . context_i
//
// Legend: attention.h; T tokens of each sequence on this rank, in one or two runs of positions.
// row_max, row_sum [B,H,T]. The keys of token n (K heads) stand at keys_values + n * stride, its
// values K * D further.
// Source: Milakov & Gimelshein 2018 (online softmax); Liu et al. 2023 (ring attention); Dao 2023.
#pragma once

#include <cstdint>

#include "kernels/attention/attention.h"

namespace parallelarium {

// The positions that a rank's tokens have in a sequence: `runs` stretches of T / runs each.
struct TokenRuns {
  int runs = 1;
  std::int64_t begin[2] = {0, 0};
};

struct AttentionBlock {
  AttentionShape shape;  // T, the same for queries and keys
  TokenRuns queries, keys;
  std::int64_t stride = 0;  // floats between tokens of keys_values, and of their gradient
  bool first = false;       // starts the sums (forward) or the queries' gradient (backward)
  // The probabilities still sum to one, but context = sum of factor_ij P_ij V_j. Factors are
  // numbered by positions, so none is stored (as in Dao et al. 2022).
  AttentionDropout dropout = {};
};

// Floats of scratch that the functions need.
constexpr std::int64_t block_attention_scratch(const AttentionShape& shape) {
  return 2 * 128 * shape.T;
}

// K must divide H; in the first block every query must see a key.
void block_attention_forward_cpu(float* context, float* row_max, float* row_sum, float* scratch,
                                 const float* qkv, const float* keys_values,
                                 const AttentionBlock& block);
// After the last block: context /= row_sum; row_max becomes lse.
void block_attention_finish_cpu(float* context, float* row_max, const float* row_sum,
                                const AttentionShape& shape);
// Adds to the query columns of dqkv (overwrites them for the first block) and to dkeys_values.
void block_attention_backward_cpu(float* dqkv, float* dkeys_values, float* scratch,
                                  const float* dcontext, const float* qkv, const float* keys_values,
                                  const float* context, const float* lse,
                                  const AttentionBlock& block);

}  // namespace parallelarium
