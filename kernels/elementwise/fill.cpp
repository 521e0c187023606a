// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise/fill.h"

#include <algorithm>

namespace parallelarium {

void fill_cpu(float* values, float value, std::size_t count) { std::fill_n(values, count, value); }

}  // namespace parallelarium
