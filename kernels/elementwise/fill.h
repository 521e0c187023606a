// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace parallelarium {

// values[i] = value for i in [0, count).
void fill_cpu(float* values, float value, std::size_t count);

}  // namespace parallelarium
