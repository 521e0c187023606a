// SPDX-License-Identifier: Apache-2.0
// Rows of an array may have gaps between them.
#pragma once

#include <cstdint>

namespace parallelarium {

// The pitch is the distance between the beginnings of two rows, in elements. A `pitch` of 0 stands
// for rows without gaps. Nobody uses what lies in a gap, and it may change.
constexpr std::int64_t pitch_of(std::int64_t columns, std::int64_t pitch) {
  return pitch > 0 ? pitch : columns;
}

// Elements from the first of the first row to the last of the last: behind them there is no gap.
constexpr std::int64_t extent_of(std::int64_t rows, std::int64_t columns, std::int64_t pitch) {
  return rows > 0 ? (rows - 1) * pitch + columns : 0;
}

}  // namespace parallelarium
