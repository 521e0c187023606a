// SPDX-License-Identifier: Apache-2.0
#include "kernels/products/linear.h"

#include <algorithm>

#include "kernels/base/pitch.h"
#include "kernels/base/vector.h"
#include "kernels/products/matmul.h"

namespace parallelarium {
namespace {

PARALLELARIUM_VECTOR
void add_column_sums(float* __restrict__ sums, const float* __restrict__ rows, std::int64_t N,
                     std::int64_t M, std::int64_t pitch) {
  for (std::int64_t n = 0; n < N; ++n)
    for (std::int64_t m = 0; m < M; ++m) sums[m] += rows[n * pitch + m];
}

}  // namespace

void linear_forward_cpu(float* y, const float* x, const float* w, const float* bias, std::int64_t N,
                        std::int64_t M, std::int64_t K, std::int64_t y_pitch) {
  const std::int64_t pitch = pitch_of(M, y_pitch);
  if (bias != nullptr)
    for (std::int64_t n = 0; n < N; ++n) std::copy_n(bias, M, y + n * pitch);
  matmul_cpu(Transpose::kNo, Transpose::kYes, N, M, K, 1.0F, x, K, w, K,
             bias != nullptr ? 1.0F : 0.0F, y, pitch);
}

void linear_input_grad_cpu(float* dx, const float* dy, const float* w, std::int64_t N,
                           std::int64_t M, std::int64_t K, std::int64_t y_pitch) {
  matmul_cpu(Transpose::kNo, Transpose::kNo, N, K, M, 1.0F, dy, pitch_of(M, y_pitch), w, K, 0.0F,
             dx, K);
}

void linear_weight_grad_cpu(float* dw, float* db, const float* dy, const float* x, std::int64_t N,
                            std::int64_t M, std::int64_t K, std::int64_t y_pitch) {
  const std::int64_t pitch = pitch_of(M, y_pitch);
  matmul_cpu(Transpose::kYes, Transpose::kNo, M, K, N, 1.0F, dy, pitch, x, K, 1.0F, dw, K);
  if (db != nullptr) add_column_sums(db, dy, N, M, pitch);
}

}  // namespace parallelarium
