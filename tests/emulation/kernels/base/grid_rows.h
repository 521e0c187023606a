// SPDX-License-Identifier: Apache-2.0
// The twin of kernels/base/grid_rows.h for the emulation: what has to be cut into several grids is
// cut at sizes that take seconds.
#pragma once

#include <cstdint>

namespace parallelarium {

inline constexpr std::int64_t kMostGridRows = 128;

}  // namespace parallelarium
