// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise/accumulate.h"

#include "kernels/base/vector.h"

namespace parallelarium {

PARALLELARIUM_VECTOR
void accumulate_cpu(float* __restrict__ sum, const float* __restrict__ part, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sum[i] += part[i];
}

void accumulate_cpu(double* sum, const double* part, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sum[i] += part[i];
}

}  // namespace parallelarium
