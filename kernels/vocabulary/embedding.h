// SPDX-License-Identifier: Apache-2.0
// Token and learned position embedding.
// Legend: N = B*T tokens, T tokens of a sequence, C hidden; table [V,C], positions [T,C], x [N,C].
#pragma once

#include <cstdint>

namespace parallelarium {

// x[n] = table[tokens[n]] + positions[n mod T]; positions may be null. A negative token is in
// another rank's part of the table and counts as a row of zeros.
// Each token must be below the rows of the table.
void embedding_forward_cpu(float* x, const std::int32_t* tokens, const float* table,
                           const float* positions, std::int64_t N, std::int64_t T, std::int64_t C);

// dtable[tokens[n]] += dx[n] (not for negative tokens), dpositions[n mod T] += dx[n], in the order
// of n. dpositions may be null.
void embedding_grad_cpu(float* dtable, float* dpositions, const float* dx,
                        const std::int32_t* tokens, std::int64_t N, std::int64_t T, std::int64_t C);

}  // namespace parallelarium
