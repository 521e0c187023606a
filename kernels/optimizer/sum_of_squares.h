// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace parallelarium {

// sum[0] += sum of values[i]^2, accumulated in double precision.
void sum_of_squares_cpu(double* sum, const float* values, std::size_t count);

}  // namespace parallelarium
