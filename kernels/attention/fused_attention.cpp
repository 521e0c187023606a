// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention/fused_attention.h"

#include <algorithm>
#include <cmath>

#include "kernels/base/vector.h"
#include "kernels/products/matmul.h"

namespace parallelarium {
namespace {

// Where one query head and the key/value head that it uses lie in qkv.
struct Head {
  std::int64_t q, k, v;  // offsets of token 0
  std::int64_t out;      // offset of token 0 in the context
};
Head head_at(std::int64_t head, const AttentionShape& shape) {
  const auto [B, T, H, K, D] = shape;
  const std::int64_t A = (H + 2 * K) * D;
  const std::int64_t b = head / H;
  const std::int64_t h = head % H;
  const std::int64_t k = b * T * A + (H + h / (H / K)) * D;
  return {b * T * A + h * D, k, k + K * D, b * T * H * D + h * D};
}

// Row r of scores belongs to token begin + r; its first begin + r + 1 scores become probabilities,
// the rest of its `width` columns zero.
PARALLELARIUM_VECTOR
void softmax_rows(float* __restrict__ scores, float* __restrict__ lse, std::int64_t begin,
                  std::int64_t rows, std::int64_t width) {
  for (std::int64_t r = 0; r < rows; ++r) {
    float* row = scores + r * width;
    const std::int64_t seen = begin + r + 1;
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
    for (std::int64_t j = seen; j < width; ++j) row[j] = 0;
    lse[begin + r] = largest + std::log(sum);
  }
}

// Scores become probabilities, dP becomes dS; both zero right of the diagonal.
PARALLELARIUM_VECTOR
void softmax_rows_grad(float* __restrict__ scores, float* __restrict__ dp,
                       const float* __restrict__ lse, const float* __restrict__ delta, float scale,
                       std::int64_t begin, std::int64_t rows, std::int64_t width) {
  for (std::int64_t r = 0; r < rows; ++r) {
    float* p = scores + r * width;
    float* d = dp + r * width;
    const float log_sum = lse[begin + r];
    const float product = delta[begin + r];
    const std::int64_t seen = begin + r + 1;
    for (std::int64_t j = 0; j < seen; ++j) {
      p[j] = fast_exp(p[j] - log_sum);
      d[j] = p[j] * (d[j] - product) * scale;
    }
    for (std::int64_t j = seen; j < width; ++j) p[j] = d[j] = 0;
  }
}

}  // namespace

void fused_attention_forward_cpu(float* context, float* lse, float* scratch, const float* qkv,
                                 const AttentionShape& shape) {
  const auto [B, T, H, K, D] = shape;
  const std::int64_t A = (H + 2 * K) * D;
  const float scale = 1.0F / std::sqrt(static_cast<float>(D));
  for (std::int64_t head = 0; head < B * H; ++head) {
    const Head at = head_at(head, shape);
    for (std::int64_t i = 0; i < T; i += kFusedBlock) {
      const std::int64_t end = std::min(i + kFusedBlock, T);
      matmul_cpu(Transpose::kNo, Transpose::kYes, end - i, end, D, scale, qkv + at.q + i * A, A,
                 qkv + at.k, A, 0.0F, scratch, end);
      softmax_rows(scratch, lse + head * T, i, end - i, end);
      matmul_cpu(Transpose::kNo, Transpose::kNo, end - i, D, end, 1.0F, scratch, end, qkv + at.v, A,
                 0.0F, context + at.out + i * H * D, H * D);
    }
  }
}

void fused_attention_backward_cpu(float* dqkv, float* scratch, const float* dcontext,
                                  const float* qkv, const float* context, const float* lse,
                                  const AttentionShape& shape) {
  const auto [B, T, H, K, D] = shape;
  const std::int64_t A = (H + 2 * K) * D;
  const float scale = 1.0F / std::sqrt(static_cast<float>(D));
  float* delta = scratch;  // [B,H,T]
  float* p = delta + B * H * T;
  float* dp = p + kFusedBlock * T;
  for (std::int64_t head = 0; head < B * H; ++head) {
    const Head at = head_at(head, shape);
    for (std::int64_t t = 0; t < T; ++t) {
      float sum = 0;
      for (std::int64_t d = 0; d < D; ++d)
        sum += dcontext[at.out + t * H * D + d] * context[at.out + t * H * D + d];
      delta[head * T + t] = sum;
    }
    if (head % (H / K) == 0)  // the first of the heads that share a key/value head
      for (std::int64_t t = 0; t < T; ++t) {
        std::fill_n(dqkv + at.k + t * A, D, 0.0F);
        std::fill_n(dqkv + at.v + t * A, D, 0.0F);
      }
    for (std::int64_t i = 0; i < T; i += kFusedBlock) {
      const std::int64_t end = std::min(i + kFusedBlock, T);
      const std::int64_t rows = end - i;
      const float* q = qkv + at.q + i * A;
      const float* dout = dcontext + at.out + i * H * D;
      matmul_cpu(Transpose::kNo, Transpose::kYes, rows, end, D, scale, q, A, qkv + at.k, A, 0.0F, p,
                 end);
      matmul_cpu(Transpose::kNo, Transpose::kYes, rows, end, D, 1.0F, dout, H * D, qkv + at.v, A,
                 0.0F, dp, end);
      softmax_rows_grad(p, dp, lse + head * T, delta + head * T, scale, i, rows, end);
      matmul_cpu(Transpose::kNo, Transpose::kNo, rows, D, end, 1.0F, dp, end, qkv + at.k, A, 0.0F,
                 dqkv + at.q + i * A, A);
      matmul_cpu(Transpose::kYes, Transpose::kNo, end, D, rows, 1.0F, dp, end, q, A, 1.0F,
                 dqkv + at.k, A);
      matmul_cpu(Transpose::kYes, Transpose::kNo, end, D, rows, 1.0F, p, end, dout, H * D, 1.0F,
                 dqkv + at.v, A);
    }
  }
}

}  // namespace parallelarium
