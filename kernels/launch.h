// SPDX-License-Identifier: Apache-2.0
// The arithmetic of launching CUDA kernels: how many blocks, how much workspace, wide or not. Plain
// C++, so that it is tested without a GPU.
//
// Everything here depends on sizes alone, never on the GPU: sums are cut into the same parts, and
// so have the same bits, on every GPU of one kind of arithmetic.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/grid_rows.h"

namespace parallelarium {

constexpr std::size_t divide_up(std::size_t count, std::size_t by) { return (count + by - 1) / by; }

// Blocks of a loop that strides over the grid: enough to cover `count` elements at `per_block`, at
// most `most`; at least 1, since a launch of no blocks is an error.
constexpr unsigned blocks_for(std::size_t count, std::size_t per_block, std::size_t most) {
  return static_cast<unsigned>(std::clamp<std::size_t>(divide_up(count, per_block), 1, most));
}

// Threads of a block that works on one row of `columns`, `width` of them at a time: whole warps.
constexpr unsigned threads_for_row(std::size_t columns, std::size_t width, unsigned most) {
  return static_cast<unsigned>(
      std::clamp<std::size_t>(divide_up(divide_up(columns, width), 32) * 32, 32, most));
}

// Blocks of rows of `columns`, `width` of them at a time, where rows need nothing of each other: a
// block takes as many short rows as it has threads for, with `lanes` threads for each; a long row
// is cut evenly into `parts`. Of whole warps, at most 31 threads of a block have no row.
struct RowBlocks {
  unsigned lanes, rows, threads, parts;
};
// Requires: columns, width >= 1; most: a multiple of 32.
constexpr RowBlocks row_blocks(std::size_t columns, std::size_t width, unsigned most) {
  const std::size_t packs = divide_up(columns, width);
  const unsigned parts = blocks_for(packs, most, 4096);  // the loop over the grid covers the rest
  const auto lanes = static_cast<unsigned>(std::min<std::size_t>(divide_up(packs, parts), most));
  const unsigned rows = most / lanes;
  return {lanes, rows, (lanes * rows + 31) / 32 * 32, parts};
}

// Calls visit(first, count) for one part of [0, all) after another, each of at most `most`.
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

// A long sum is cut over the blocks of one grid, then the blocks' sums are added in order.
inline constexpr std::size_t kSumBlocks = 1024;
inline constexpr std::size_t kSumThreads = 256;

// What the launchers named so need of a workspace, in bytes.
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
