// SPDX-License-Identifier: Apache-2.0
// A limit of every GPU. It has a header of its own because the emulation replaces it.
#pragma once

#include <cstdint>

namespace parallelarium {

// The most blocks that a grid has in its second dimension.
inline constexpr std::int64_t kMostGridRows = 65535;

}  // namespace parallelarium
