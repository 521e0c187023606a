// SPDX-License-Identifier: Apache-2.0
// The arithmetic around CUDA kernels that needs no GPU.
#include "kernels/base/launch.h"

#include <gtest/gtest.h>

#include "kernels/products/matmul_layout.h"
#include "tests/kernels/reference.h"

namespace parallelarium {
namespace {

TEST(Launch, BlocksCoverEveryElementAndAreNeverZero) {
  EXPECT_EQ(blocks_for(0, 256, 1024), 1U);
  EXPECT_EQ(blocks_for(1, 256, 1024), 1U);
  EXPECT_EQ(blocks_for(256, 256, 1024), 1U);
  EXPECT_EQ(blocks_for(257, 256, 1024), 2U);
  EXPECT_EQ(blocks_for(std::size_t{1} << 40, 256, 1024), 1024U);
}

TEST(Launch, RowsGetWholeWarps) {
  EXPECT_EQ(threads_for_row(1, 1, 256), 32U);
  EXPECT_EQ(threads_for_row(33, 1, 256), 64U);
  EXPECT_EQ(threads_for_row(768, 8, 256), 96U);
  EXPECT_EQ(threads_for_row(768, 4, 256), 192U);
  EXPECT_EQ(threads_for_row(50257, 8, 512), 512U);
}

TEST(Launch, BlocksOfRowsHaveHardlyAnIdleThread) {
  for (const std::size_t width : {1, 4, 8})
    for (std::size_t columns = 1; columns < 20'000; columns += 1 + columns / 64) {
      const RowBlocks blocks = row_blocks(columns, width, 256);
      const std::size_t packs = divide_up(columns, width);
      EXPECT_GE(blocks.lanes * blocks.parts, packs) << columns;
      EXPECT_LT((blocks.lanes - 1) * blocks.parts, packs) << columns << ": lanes to spare";
      EXPECT_EQ(blocks.threads % 32, 0U);
      EXPECT_LE(blocks.threads, 256U);
      EXPECT_EQ(blocks.threads / blocks.lanes, blocks.rows) << "as the kernels count them";
      EXPECT_LT(blocks.threads - blocks.lanes * blocks.rows, 32U);
      EXPECT_GT(blocks.lanes * blocks.rows, 128U) << "no small blocks";
    }
  EXPECT_EQ(row_blocks(768, 8, 256).lanes, 96U);
  EXPECT_EQ(row_blocks(768, 8, 256).rows, 2U);
  EXPECT_EQ(row_blocks(3072, 8, 256).parts, 2U);
  EXPECT_EQ(row_blocks(3072, 8, 256).threads, 192U);
}

TEST(Launch, RowsAreWideOnlyWhereEachStartsAt16Bytes) {
  alignas(16) const float values[8] = {};
  EXPECT_TRUE(rows_are_wide(values, 4, sizeof(float)));
  EXPECT_FALSE(rows_are_wide(values, 6, sizeof(float)));
  EXPECT_FALSE(rows_are_wide(values + 1, 4, sizeof(float)));
  EXPECT_TRUE(rows_are_wide(nullptr, 4, sizeof(float)));  // an absent operand is no obstacle
  EXPECT_FALSE(is_wide(values + 3));
}

TEST(Launch, PartsCoverTheRowsAndFitTheWorkspace) {
  for (const std::size_t rows : {1, 31, 32, 33, 8192, 8193, 100'000}) {
    EXPECT_GE(column_parts(rows) * rows_of_part(rows), rows);
    EXPECT_LT((column_parts(rows) - 1) * rows_of_part(rows), rows) << "an empty part";
    EXPECT_LE(column_parts(rows), kColumnParts);
    EXPECT_EQ(column_sums_workspace(rows, 7), column_parts(rows) * 7 * 2 * 4);
  }
}

// A column-major library, by definition.
double at(const std::vector<double>& memory, const ColumnMajor& m, std::int64_t row,
          std::int64_t column) {
  if (m.transposed) std::swap(row, column);
  EXPECT_LT(row, m.rows);
  EXPECT_LT(column, m.columns);
  EXPECT_LE(m.rows, m.leading);
  return memory[static_cast<std::size_t>(column * m.leading + row)];
}

TEST(MatmulLayout, AColumnMajorLibraryComputesTheRowMajorProduct) {
  constexpr std::int64_t m = 3, n = 4, k = 5;
  for (const Transpose ta : {Transpose::kNo, Transpose::kYes})
    for (const Transpose tb : {Transpose::kNo, Transpose::kYes}) {
      const bool a_turned = ta == Transpose::kYes;
      const bool b_turned = tb == Transpose::kYes;
      MatmulShape shape{ta, tb, m, n, k, a_turned ? m + 2 : k + 2, b_turned ? k + 1 : n + 1, n + 3};
      const auto a = reference::doubles(reference::random_floats(64, 1));
      const auto b = reference::doubles(reference::random_floats(64, 2));
      std::vector<double> c(64);
      const MatmulLayout layout = layout_of(shape);
      for (std::int64_t row = 0; row < layout.result.rows; ++row)
        for (std::int64_t column = 0; column < layout.result.columns; ++column)
          for (std::int64_t inner = 0; inner < k; ++inner)
            c[static_cast<std::size_t>(column * layout.result.leading + row)] +=
                at(b, layout.first, row, inner) * at(a, layout.second, inner, column);
      for (std::int64_t row = 0; row < m; ++row)
        for (std::int64_t column = 0; column < n; ++column) {
          double sum = 0;
          for (std::int64_t inner = 0; inner < k; ++inner)
            sum += a[static_cast<std::size_t>(a_turned ? inner * shape.lda + row
                                                       : row * shape.lda + inner)] *
                   b[static_cast<std::size_t>(b_turned ? column * shape.ldb + inner
                                                       : inner * shape.ldb + column)];
          EXPECT_DOUBLE_EQ(c[static_cast<std::size_t>(row * shape.ldc + column)], sum);
        }
    }
}

TEST(MatmulLayout, AlignmentIsTheLargestPowerOfTwoUpTo256) {
  EXPECT_EQ(alignment_of(0), 256U);
  EXPECT_EQ(alignment_of(0x1000), 256U);
  EXPECT_EQ(alignment_of(0x1080), 128U);
  EXPECT_EQ(alignment_of(0x1006), 2U);
  EXPECT_EQ(alignment_of(0x1001), 1U);
}

TEST(Launch, PartsCoverAllOnceInOrder) {
  for (const std::int64_t all : {0, 1, 6, 7, 8, 65536})
    for (const std::int64_t most : {1, 7, 65535}) {
      std::int64_t next = 0;
      for_parts(all, most, [&](std::int64_t first, std::int64_t count) {
        EXPECT_EQ(first, next);
        EXPECT_GE(count, 1);
        EXPECT_LE(count, most);
        next = first + count;
      });
      EXPECT_EQ(next, all);
    }
}

}  // namespace
}  // namespace parallelarium
