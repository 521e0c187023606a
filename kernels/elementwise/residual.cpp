// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise/residual.h"

#include "kernels/base/vector.h"

namespace parallelarium {

PARALLELARIUM_VECTOR
void residual_add_cpu(float* __restrict__ out, const float* __restrict__ stream,
                      const float* __restrict__ branch, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = stream[i] + branch[i];
}

PARALLELARIUM_VECTOR
void residual_bias_add_cpu(float* __restrict__ out, const float* __restrict__ stream,
                           const float* __restrict__ branch, const float* __restrict__ bias,
                           std::int64_t N, std::int64_t C) {
  for (std::int64_t n = 0; n < N; ++n)
    for (std::int64_t c = 0; c < C; ++c)
      out[n * C + c] = stream[n * C + c] + (branch[n * C + c] + bias[c]);
}

}  // namespace parallelarium
