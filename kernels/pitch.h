// SPDX-License-Identifier: Apache-2.0
// Rows of an array that do not follow one another without a gap.
#pragma once

#include <cstdint>

namespace parallelarium {

// Elements from the beginning of one row to that of the next. A function's `pitch` of 0 stands for
// rows of so many columns without gaps. What lies in a gap is never made use of, and may change.
constexpr std::int64_t pitch_of(std::int64_t columns, std::int64_t pitch) {
  return pitch > 0 ? pitch : columns;
}

}  // namespace parallelarium
