// SPDX-License-Identifier: Apache-2.0
// The arithmetic of launching CUDA kernels: how many blocks, how much workspace, wide or not. It is
// plain C++, so tests need no GPU.
//
// Everything here depends on sizes alone, never on the GPU. So every GPU cuts a sum into the same
// parts and gets the same bits if its arithmetic is of the same kind.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/base/grid_rows.h"

namespace parallelarium {

constexpr std::size_t divide_up(std::size_t count, std::size_t by) { return (count + by - 1) / by; }

// How many blocks a grid-stride loop gets: enough for `count` elements at `per_block` each, but at
// most `most`, and at least 1, since a launch of no blocks is an error.
constexpr unsigned blocks_for(std::size_t count, std::size_t per_block, std::size_t most) {
  return static_cast<unsigned>(std::clamp<std::size_t>(divide_up(count, per_block), 1, most));
}

// How many threads work on one row of `columns` if each takes `width` of them: whole warps.
constexpr unsigned threads_for_row(std::size_t columns, std::size_t width, unsigned most) {
  return static_cast<unsigned>(
      std::clamp<std::size_t>(divide_up(divide_up(columns, width), 32) * 32, 32, most));
}

// How rows that do not depend on each other are given to blocks, if a thread takes `width` columns.
// A block takes as many short rows as it has threads for, with `lanes` threads for each. A long row
// is cut evenly into `parts`. At most 31 threads of a block have no row, since blocks have whole
// warps.
struct RowBlocks {
  unsigned lanes, rows, threads, parts;
};
// There must be a column or more, the width must be 1 or more, and `most` a multiple of 32.
constexpr RowBlocks row_blocks(std::size_t columns, std::size_t width, unsigned most) {
  const std::size_t packs = divide_up(columns, width);
  const unsigned parts = blocks_for(packs, most, 4096);  // the loop over the grid covers the rest
  const auto lanes = static_cast<unsigned>(std::min<std::size_t>(divide_up(packs, parts), most));
  const unsigned rows = most / lanes;
  return {lanes, rows, (lanes * rows + 31) / 32 * 32, parts};
}

// Calls visit(first, count) for each part of [0, all) in turn; a part has at most `most` elements.
template <class Visit>
void for_parts(std::int64_t all, std::int64_t most, const Visit& visit) {
  for (std::int64_t first = 0; first < all; first += most)
    visit(first, std::min(all - first, most));
}

// Whether every row of an array of `columns` columns starts at a multiple of 16 bytes.
inline bool rows_are_wide(const void* array, std::size_t columns, std::size_t element_bytes) {
  return reinterpret_cast<std::uintptr_t>(array) % 16 == 0 && columns * element_bytes % 16 == 0;
}
inline bool is_wide(const void* array) { return reinterpret_cast<std::uintptr_t>(array) % 16 == 0; }

// Columns are summed in parts of rows: at most kColumnParts of at least kRowsOfPart rows.
inline constexpr std::size_t kColumnParts = 256;
inline constexpr std::size_t kRowsOfPart = 32;
constexpr std::size_t rows_of_part(std::size_t rows) {
  return std::max(kRowsOfPart, divide_up(rows, kColumnParts));
}
constexpr std::size_t column_parts(std::size_t rows) { return divide_up(rows, rows_of_part(rows)); }

// The blocks of one grid share a long sum; then their sums are added in order.
inline constexpr std::size_t kSumBlocks = 1024;
inline constexpr std::size_t kSumThreads = 256;

// How many bytes of workspace the launchers of these names need.
constexpr std::size_t column_sums_workspace(std::size_t rows, std::size_t columns) {
  return 2 * column_parts(rows) * columns * sizeof(float);  // norm_weight_grad, column_sums
}
constexpr std::size_t sum_of_squares_workspace() { return kSumBlocks * sizeof(double); }
constexpr std::size_t embedding_grad_workspace(std::size_t tokens) {
  return 2 * tokens * sizeof(std::uint64_t);
}
constexpr std::size_t route_workspace(std::size_t tokens, std::size_t experts) {
  return (tokens * experts + tokens) * sizeof(float);
}

}  // namespace parallelarium
