// SPDX-License-Identifier: Apache-2.0
// A limit of every GPU, apart from launch.h because the emulation has a twin of it.
#pragma once

#include <cstdint>

namespace parallelarium {

// The most blocks of a grid in its second direction.
inline constexpr std::int64_t kMostGridRows = 65535;

}  // namespace parallelarium
