// SPDX-License-Identifier: Apache-2.0
#include "kernels/residual.h"

#include "kernels/vector.h"

namespace parallelarium {

PARALLELARIUM_VECTOR
void residual_add_cpu(float* __restrict__ out, const float* __restrict__ stream,
                      const float* __restrict__ branch, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = stream[i] + branch[i];
}

}  // namespace parallelarium
