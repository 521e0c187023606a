// SPDX-License-Identifier: Apache-2.0
#include "kernels/optimizer/sum_of_squares.h"

#include "kernels/base/vector.h"

namespace parallelarium {

PARALLELARIUM_VECTOR
void sum_of_squares_cpu(double* sum, const float* values, std::size_t count) {
  double squares = 0;
#pragma omp simd reduction(+ : squares)
  for (std::size_t i = 0; i < count; ++i) squares += double{values[i]} * double{values[i]};
  sum[0] += squares;
}

}  // namespace parallelarium
