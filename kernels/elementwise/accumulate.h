// SPDX-License-Identifier: Apache-2.0
// The "reduce" of every reduction between ranks: it adds a received array to the local one.
// On the GPU: gpu.h.
#pragma once

#include <cstddef>

namespace parallelarium {

// sum[i] += part[i] for i in [0, count). The reference for tests and the body of CPU ranks.
// sum, part: float[count], not overlapping. Traffic: 12 bytes per element.
void accumulate_cpu(float* sum, const float* part, std::size_t count);

// The same for the double-precision scalars of a step (loss, sum of squares).
void accumulate_cpu(double* sum, const double* part, std::size_t count);

}  // namespace parallelarium
