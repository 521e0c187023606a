// SPDX-License-Identifier: Apache-2.0
// Each head is a handful of matrix products over strided rows of qkv. They go by blocks of query
// rows, so that the keys to the right of a block, which the causal mask hides, cost nothing.
#include "kernels/attention/attention.h"

#include <algorithm>
#include <cmath>

#include "kernels/base/vector.h"
#include "kernels/products/matmul.h"

namespace parallelarium {
namespace {

constexpr std::int64_t kQueryRows = 128;  // query rows of one product

// Rows [begin, end) of scores become probabilities: softmax over j <= i, zero to the right.
PARALLELARIUM_VECTOR
void causal_softmax(float* scores, std::int64_t begin, std::int64_t end, std::int64_t T) {
  for (std::int64_t i = begin; i < end; ++i) {
    float* row = scores + i * T;
    const std::int64_t seen = i + 1;
    float largest = row[0];
#pragma omp simd reduction(max : largest)
    for (std::int64_t j = 0; j < seen; ++j) largest = row[j] > largest ? row[j] : largest;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t j = 0; j < seen; ++j) {
      const float e = fast_exp(row[j] - largest);
      row[j] = e;
      sum += e;
    }
    const float inverse = 1.0F / sum;
    for (std::int64_t j = 0; j < seen; ++j) row[j] *= inverse;
    std::fill(row + seen, row + T, 0.0F);
  }
}

// Rows [begin, end) of grad, which hold dP in columns [0, end), become dS = P (dP - sum P dP) scale
// for j <= i, and zero in the rest of those columns.
PARALLELARIUM_VECTOR
void causal_softmax_grad(float* __restrict__ grad, const float* __restrict__ probabilities,
                         float scale, std::int64_t begin, std::int64_t end, std::int64_t T) {
  for (std::int64_t i = begin; i < end; ++i) {
    float* g = grad + i * T;
    const float* p = probabilities + i * T;
    float dot = 0;
#pragma omp simd reduction(+ : dot)
    for (std::int64_t j = 0; j <= i; ++j) dot += g[j] * p[j];
    for (std::int64_t j = 0; j <= i; ++j) g[j] = p[j] * (g[j] - dot) * scale;
    for (std::int64_t j = i + 1; j < end; ++j) g[j] = 0;
  }
}

// Rows [begin, end) of one head.
void drop_rows(const DroppedProbabilities<float>& dropout, std::int64_t b, std::int64_t h,
               const float* probabilities, std::int64_t begin, std::int64_t end,
               const AttentionShape& shape) {
  const Dropout& how = dropout.of.dropout;
  const std::int64_t T = shape.T;
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t row = ((b * shape.H + h) * T + i) * T, first = dropout.of.row(b, h, i);
    std::uint8_t* mask = dropout.mask + row;
    float* dropped = dropout.dropped + row;
    const float* p = probabilities + i * T;
    for (std::int64_t j = 0; j <= i; ++j) mask[j] = how.keeps(first + j) ? 1 : 0;
    for (std::int64_t j = 0; j <= i; ++j) dropped[j] = mask[j] != 0 ? p[j] * how.scale : 0.0F;
    std::fill(mask + i + 1, mask + T, std::uint8_t{0});
    std::fill(dropped + i + 1, dropped + T, 0.0F);
  }
}

}  // namespace

void attention_forward_cpu(float* context, float* probabilities, const float* qkv,
                           const AttentionShape& shape,
                           const DroppedProbabilities<float>& dropout) {
  const auto [B, T, H, K, D] = shape;
  const std::int64_t A = (H + 2 * K) * D;
  const float scale = 1.0F / std::sqrt(static_cast<float>(D));
  for (std::int64_t head = 0; head < B * H; ++head) {
    const std::int64_t b = head / H;
    const std::int64_t h = head % H;
    const std::int64_t shared = h / (H / K);
    const float* q = qkv + b * T * A + h * D;
    const float* k = qkv + b * T * A + (H + shared) * D;
    const float* v = k + K * D;
    float* p = probabilities + head * T * T;
    float* out = context + b * T * H * D + h * D;
    for (std::int64_t i = 0; i < T; i += kQueryRows) {
      const std::int64_t end = std::min(i + kQueryRows, T);
      matmul_cpu(Transpose::kNo, Transpose::kYes, end - i, end, D, scale, q + i * A, A, k, A, 0.0F,
                 p + i * T, T);
      causal_softmax(p, i, end, T);
      const float* weights = p;
      if (dropout.mask != nullptr) {
        drop_rows(dropout, b, h, p, i, end, shape);
        weights = dropout.dropped + head * T * T;
      }
      matmul_cpu(Transpose::kNo, Transpose::kNo, end - i, D, end, 1.0F, weights + i * T, T, v, A,
                 0.0F, out + i * H * D, H * D);
    }
  }
}

void attention_backward_cpu(float* dqkv, float* scratch, const float* dcontext, const float* qkv,
                            const float* probabilities, const AttentionShape& shape,
                            const DroppedProbabilities<float>& dropout) {
  const auto [B, T, H, K, D] = shape;
  const std::int64_t A = (H + 2 * K) * D;
  const std::int64_t queries_per_key = H / K;
  const float scale = 1.0F / std::sqrt(static_cast<float>(D));
  for (std::int64_t head = 0; head < B * H; ++head) {
    const std::int64_t b = head / H;
    const std::int64_t h = head % H;
    const std::int64_t q_at = b * T * A + h * D;
    const std::int64_t k_at = b * T * A + (H + h / queries_per_key) * D;
    const std::int64_t v_at = k_at + K * D;
    const float* p = probabilities + head * T * T;
    const float* weights = dropout.mask != nullptr ? dropout.dropped + head * T * T : p;
    const float* dout = dcontext + b * T * H * D + h * D;
    for (std::int64_t i = 0; i < T; i += kQueryRows) {
      const std::int64_t end = std::min(i + kQueryRows, T);
      matmul_cpu(Transpose::kNo, Transpose::kYes, end - i, end, D, 1.0F, dout + i * H * D, H * D,
                 qkv + v_at, A, 0.0F, scratch + i * T, T);
      for (std::int64_t row = i; dropout.mask != nullptr && row < end; ++row)
        dropout_grad_cpu(scratch + row * T, scratch + row * T, dropout.mask + (head * T + row) * T,
                         dropout.of.dropout.scale, static_cast<std::size_t>(row + 1));
      causal_softmax_grad(scratch, p, scale, i, end, T);
      matmul_cpu(Transpose::kNo, Transpose::kNo, end - i, D, end, 1.0F, scratch + i * T, T,
                 qkv + k_at, A, 0.0F, dqkv + q_at + i * A, A);
    }
    // A key's gradient gathers the queries at and after it, of every head that shares it.
    const float kept = h % queries_per_key == 0 ? 0.0F : 1.0F;
    for (std::int64_t j = 0; j < T; j += kQueryRows) {
      const std::int64_t keys = std::min(kQueryRows, T - j);
      const std::int64_t corner = j * T + j;
      matmul_cpu(Transpose::kYes, Transpose::kNo, keys, D, T - j, 1.0F, scratch + corner, T,
                 qkv + q_at + j * A, A, kept, dqkv + k_at + j * A, A);
      matmul_cpu(Transpose::kYes, Transpose::kNo, keys, D, T - j, 1.0F, weights + corner, T,
                 dout + j * H * D, H * D, kept, dqkv + v_at + j * A, A);
    }
  }
}

}  // namespace parallelarium
