// SPDX-License-Identifier: Apache-2.0
#include "kernels/vocabulary/embedding.h"

#include <algorithm>

#include "kernels/elementwise/accumulate.h"
#include "kernels/elementwise/residual.h"

namespace parallelarium {

void embedding_forward_cpu(float* x, const std::int32_t* tokens, const float* table,
                           const float* positions, std::int64_t N, std::int64_t T, std::int64_t C) {
  const auto channels = static_cast<std::size_t>(C);
  for (std::int64_t n = 0; n < N; ++n) {
    if (tokens[n] < 0) {
      if (positions != nullptr)
        std::copy_n(positions + n % T * C, channels, x + n * C);
      else
        std::fill_n(x + n * C, channels, 0.0F);
      continue;
    }
    const float* row = table + tokens[n] * C;
    if (positions != nullptr)
      residual_add_cpu(x + n * C, row, positions + n % T * C, channels);
    else
      std::copy_n(row, channels, x + n * C);
  }
}

void embedding_grad_cpu(float* dtable, float* dpositions, const float* dx,
                        const std::int32_t* tokens, std::int64_t N, std::int64_t T,
                        std::int64_t C) {
  const auto channels = static_cast<std::size_t>(C);
  for (std::int64_t n = 0; n < N; ++n) {
    if (tokens[n] >= 0) accumulate_cpu(dtable + tokens[n] * C, dx + n * C, channels);
    if (dpositions != nullptr) accumulate_cpu(dpositions + n % T * C, dx + n * C, channels);
  }
}

}  // namespace parallelarium
