// SPDX-License-Identifier: Apache-2.0
#include "kernels/block_attention/block_attention.h"

#include <algorithm>
#include <cmath>

#include "kernels/base/vector.h"
#include "kernels/products/matmul.h"

namespace parallelarium {
namespace {

constexpr std::int64_t kRows = 128;  // queries of one product

// A block of query rows against one run of keys: row r sees the first seen + r keys, at most all.
struct Tile {
  std::int64_t rows, keys;  // a rectangle of scores, row-major without gaps
  std::int64_t seen;
  std::int64_t number = 0;  // of the first score in dropout; rows are `sequence` apart
};

// Multiplies row r of a tile by its factors.
void drop_row(float* row, const AttentionDropout& dropout, const Tile& tile, std::int64_t r) {
  const std::int64_t first = tile.number + r * dropout.sequence;
  const std::int64_t seen = std::min(tile.seen + r, tile.keys);
  for (std::int64_t j = 0; j < seen; ++j) row[j] *= dropout.dropout.factor(first + j);
}

PARALLELARIUM_VECTOR
void join_rows(float* __restrict__ scores, float* __restrict__ context, std::int64_t context_stride,
               float* __restrict__ row_max, float* __restrict__ row_sum, const Tile& tile,
               std::int64_t D) {
  for (std::int64_t r = 0; r < tile.rows; ++r) {
    float* row = scores + r * tile.keys;
    const std::int64_t seen = tile.seen + r < tile.keys ? tile.seen + r : tile.keys;
    float largest = row_max[r];
#pragma omp simd reduction(max : largest)
    for (std::int64_t j = 0; j < seen; ++j) largest = row[j] > largest ? row[j] : largest;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t j = 0; j < seen; ++j) {
      const float e = fast_exp(row[j] - largest);
      row[j] = e;
      sum += e;
    }
    for (std::int64_t j = seen; j < tile.keys; ++j) row[j] = 0;
    const float kept = row_sum[r] > 0 ? fast_exp(row_max[r] - largest) : 0.0F;
    row_sum[r] = row_sum[r] * kept + sum;
    row_max[r] = largest;
    float* out = context + r * context_stride;
    for (std::int64_t d = 0; d < D; ++d) out[d] *= kept;
  }
}

// Scores become probabilities, their gradients those of scores.
PARALLELARIUM_VECTOR
void rows_grad(float* __restrict__ scores, float* __restrict__ dscores,
               const float* __restrict__ dcontext, const float* __restrict__ context,
               std::int64_t context_stride, const float* __restrict__ lse, const Tile& tile,
               float scale, std::int64_t D) {
  for (std::int64_t r = 0; r < tile.rows; ++r) {
    float* p = scores + r * tile.keys;
    float* d = dscores + r * tile.keys;
    const float* out = context + r * context_stride;
    const float* dout = dcontext + r * context_stride;
    float delta = 0;
#pragma omp simd reduction(+ : delta)
    for (std::int64_t i = 0; i < D; ++i) delta += out[i] * dout[i];
    const float log_sum = lse[r];
    const std::int64_t seen = tile.seen + r < tile.keys ? tile.seen + r : tile.keys;
    for (std::int64_t j = 0; j < seen; ++j) {
      p[j] = fast_exp(p[j] - log_sum);
      d[j] = p[j] * (d[j] - delta) * scale;
    }
    for (std::int64_t j = seen; j < tile.keys; ++j) p[j] = d[j] = 0;
  }
}

// Calls `visit(b, h, first query row, first key row, tile)` for every block of queries and run of
// keys that any of them sees.
template <class Visit>
void for_each_tile(const AttentionBlock& block, const Visit& visit) {
  const auto [B, T, H, K, D] = block.shape;
  const std::int64_t query_run = T / block.queries.runs, key_run = T / block.keys.runs;
  for (std::int64_t head = 0; head < B * H; ++head) {
    for (int q = 0; q < block.queries.runs; ++q) {
      for (std::int64_t i = 0; i < query_run; i += kRows) {
        const std::int64_t rows = std::min(kRows, query_run - i);
        const std::int64_t position = block.queries.begin[q] + i;  // of the first query
        for (int k = 0; k < block.keys.runs; ++k) {
          const std::int64_t seen = position + 1 - block.keys.begin[k];
          const std::int64_t keys = std::min(key_run, seen + rows - 1);
          if (keys <= 0) continue;
          const std::int64_t number =
              block.dropout.row(head / H, head % H, position) + block.keys.begin[k];
          visit(head / H, head % H, q * query_run + i, k * key_run, Tile{rows, keys, seen, number});
        }
      }
    }
  }
}

}  // namespace

void block_attention_forward_cpu(float* context, float* row_max, float* row_sum, float* scratch,
                                 const float* qkv, const float* keys_values,
                                 const AttentionBlock& block) {
  // Not a structured binding: clang takes those into lambdas from version 16 on only.
  const std::int64_t T = block.shape.T, H = block.shape.H, K = block.shape.K, D = block.shape.D;
  const std::int64_t A = (H + 2 * K) * D, out_stride = H * D, B = block.shape.B;
  const float scale = 1.0F / std::sqrt(static_cast<float>(D));
  if (block.first) {
    std::fill_n(row_max, B * H * T, -3.0e38F);
    std::fill_n(row_sum, B * H * T, 0.0F);
    std::fill_n(context, B * T * out_stride, 0.0F);
  }
  for_each_tile(
      block, [&](std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j, const Tile& tile) {
        const float* keys = keys_values + (b * T + j) * block.stride + h / (H / K) * D;
        float* out = context + (b * T + i) * out_stride + h * D;
        const std::int64_t row = (b * H + h) * T + i;
        matmul_cpu(Transpose::kNo, Transpose::kYes, tile.rows, tile.keys, D, scale,
                   qkv + (b * T + i) * A + h * D, A, keys, block.stride, 0.0F, scratch, tile.keys);
        join_rows(scratch, out, out_stride, row_max + row, row_sum + row, tile, D);
        for (std::int64_t r = 0; block.dropout.dropout.drops() && r < tile.rows; ++r)
          drop_row(scratch + r * tile.keys, block.dropout, tile, r);
        matmul_cpu(Transpose::kNo, Transpose::kNo, tile.rows, D, tile.keys, 1.0F, scratch,
                   tile.keys, keys + K * D, block.stride, 1.0F, out, out_stride);
      });
}

void block_attention_finish_cpu(float* context, float* row_max, const float* row_sum,
                                const AttentionShape& shape) {
  const auto [B, T, H, K, D] = shape;
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t h = 0; h < H; ++h)
      for (std::int64_t t = 0; t < T; ++t) {
        const std::int64_t row = (b * H + h) * T + t;
        const float inverse = 1.0F / row_sum[row];
        float* out = context + (b * T + t) * H * D + h * D;
        for (std::int64_t d = 0; d < D; ++d) out[d] *= inverse;
        row_max[row] += std::log(row_sum[row]);
      }
}

void block_attention_backward_cpu(float* dqkv, float* dkeys_values, float* scratch,
                                  const float* dcontext, const float* qkv, const float* keys_values,
                                  const float* context, const float* lse,
                                  const AttentionBlock& block) {
  // Not a structured binding: clang takes those into lambdas from version 16 on only.
  const std::int64_t T = block.shape.T, H = block.shape.H, K = block.shape.K, D = block.shape.D;
  const std::int64_t A = (H + 2 * K) * D, out_stride = H * D, B = block.shape.B;
  const float scale = 1.0F / std::sqrt(static_cast<float>(D));
  if (block.first)
    for (std::int64_t n = 0; n < B * T; ++n) std::fill_n(dqkv + n * A, H * D, 0.0F);
  for_each_tile(
      block, [&](std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j, const Tile& tile) {
        const std::int64_t key_at = (b * T + j) * block.stride + h / (H / K) * D;
        const float* keys = keys_values + key_at;
        const float* values = keys + K * D;
        float* dkeys = dkeys_values + key_at;
        const std::int64_t query_at = (b * T + i) * A + h * D;
        const std::int64_t out_at = (b * T + i) * out_stride + h * D;
        float* dscores = scratch + tile.rows * tile.keys;
        matmul_cpu(Transpose::kNo, Transpose::kYes, tile.rows, tile.keys, D, scale, qkv + query_at,
                   A, keys, block.stride, 0.0F, scratch, tile.keys);
        matmul_cpu(Transpose::kNo, Transpose::kYes, tile.rows, tile.keys, D, 1.0F,
                   dcontext + out_at, out_stride, values, block.stride, 0.0F, dscores, tile.keys);
        for (std::int64_t r = 0; block.dropout.dropout.drops() && r < tile.rows; ++r)
          drop_row(dscores + r * tile.keys, block.dropout, tile, r);
        rows_grad(scratch, dscores, dcontext + out_at, context + out_at, out_stride,
                  lse + (b * H + h) * T + i, tile, scale, D);
        for (std::int64_t r = 0; block.dropout.dropout.drops() && r < tile.rows; ++r)
          drop_row(scratch + r * tile.keys, block.dropout, tile, r);
        matmul_cpu(Transpose::kNo, Transpose::kNo, tile.rows, D, tile.keys, 1.0F, dscores,
                   tile.keys, keys, block.stride, 1.0F, dqkv + query_at, A);
        matmul_cpu(Transpose::kYes, Transpose::kNo, tile.keys, D, tile.rows, 1.0F, dscores,
                   tile.keys, qkv + query_at, A, 1.0F, dkeys, block.stride);
        matmul_cpu(Transpose::kYes, Transpose::kNo, tile.keys, D, tile.rows, 1.0F, scratch,
                   tile.keys, dcontext + out_at, out_stride, 1.0F, dkeys + K * D, block.stride);
      });
}

}  // namespace parallelarium
