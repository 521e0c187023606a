// SPDX-License-Identifier: Apache-2.0
#include "kernels/norms/norm.h"

#include <cmath>

#include "kernels/base/vector.h"

namespace parallelarium {

PARALLELARIUM_VECTOR
void layer_norm_forward_cpu(float* __restrict__ y, float* __restrict__ stats,
                            const float* __restrict__ x, const float* __restrict__ gain,
                            const float* __restrict__ bias, std::int64_t N, std::int64_t C) {
  const auto channels = static_cast<float>(C);
  for (std::int64_t n = 0; n < N; ++n) {
    const float* row = x + n * C;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t c = 0; c < C; ++c) sum += row[c];
    const float mean = sum / channels;
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (std::int64_t c = 0; c < C; ++c) squares += (row[c] - mean) * (row[c] - mean);
    const float rstd = 1.0F / std::sqrt(squares / channels + kNormEpsilon);
    float* out = y + n * C;
    if (bias != nullptr)
      for (std::int64_t c = 0; c < C; ++c) out[c] = (row[c] - mean) * rstd * gain[c] + bias[c];
    else
      for (std::int64_t c = 0; c < C; ++c) out[c] = (row[c] - mean) * rstd * gain[c];
    stats[n] = mean;
    stats[N + n] = rstd;
  }
}

PARALLELARIUM_VECTOR
void rms_norm_forward_cpu(float* __restrict__ y, float* __restrict__ stats,
                          const float* __restrict__ x, const float* __restrict__ gain,
                          std::int64_t N, std::int64_t C) {
  for (std::int64_t n = 0; n < N; ++n) {
    const float* row = x + n * C;
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (std::int64_t c = 0; c < C; ++c) squares += row[c] * row[c];
    const float rstd = 1.0F / std::sqrt(squares / static_cast<float>(C) + kNormEpsilon);
    for (std::int64_t c = 0; c < C; ++c) y[n * C + c] = row[c] * rstd * gain[c];
    stats[n] = 0;
    stats[N + n] = rstd;
  }
}

// With h = (x - mean) rstd and d = dy gain: dx = rstd (d - mean(d) - h mean(d h)).
PARALLELARIUM_VECTOR
void layer_norm_input_grad_cpu(float* __restrict__ dx, const float* __restrict__ dy,
                               const float* __restrict__ x, const float* __restrict__ gain,
                               const float* __restrict__ stats, bool accumulate, std::int64_t N,
                               std::int64_t C) {
  const auto channels = static_cast<float>(C);
  for (std::int64_t n = 0; n < N; ++n) {
    const float mean = stats[n];
    const float rstd = stats[N + n];
    const float* row = x + n * C;
    const float* grad = dy + n * C;
    float* out = dx + n * C;
    float sum = 0;
    float dot = 0;
#pragma omp simd reduction(+ : sum, dot)
    for (std::int64_t c = 0; c < C; ++c) {
      const float d = grad[c] * gain[c];
      sum += d;
      dot += d * (row[c] - mean);
    }
    const float mean_d = sum / channels;
    const float mean_dh = dot * rstd / channels;
    if (accumulate)
      for (std::int64_t c = 0; c < C; ++c)
        out[c] += rstd * (grad[c] * gain[c] - mean_d - (row[c] - mean) * rstd * mean_dh);
    else
      for (std::int64_t c = 0; c < C; ++c)
        out[c] = rstd * (grad[c] * gain[c] - mean_d - (row[c] - mean) * rstd * mean_dh);
  }
}

PARALLELARIUM_VECTOR
void rms_norm_input_grad_cpu(float* __restrict__ dx, const float* __restrict__ dy,
                             const float* __restrict__ x, const float* __restrict__ gain,
                             const float* __restrict__ stats, bool accumulate, std::int64_t N,
                             std::int64_t C) {
  for (std::int64_t n = 0; n < N; ++n) {
    const float rstd = stats[N + n];
    const float* row = x + n * C;
    const float* grad = dy + n * C;
    float* out = dx + n * C;
    float dot = 0;
#pragma omp simd reduction(+ : dot)
    for (std::int64_t c = 0; c < C; ++c) dot += grad[c] * gain[c] * row[c];
    const float factor = dot * rstd * rstd / static_cast<float>(C);
    if (accumulate)
      for (std::int64_t c = 0; c < C; ++c) out[c] += rstd * (grad[c] * gain[c] - row[c] * factor);
    else
      for (std::int64_t c = 0; c < C; ++c) out[c] = rstd * (grad[c] * gain[c] - row[c] * factor);
  }
}

PARALLELARIUM_VECTOR
void norm_weight_grad_cpu(float* __restrict__ dgain, float* __restrict__ dbias,
                          const float* __restrict__ dy, const float* __restrict__ x,
                          const float* __restrict__ stats, std::int64_t N, std::int64_t C) {
  for (std::int64_t n = 0; n < N; ++n) {
    const float mean = stats[n];
    const float rstd = stats[N + n];
    for (std::int64_t c = 0; c < C; ++c) dgain[c] += dy[n * C + c] * ((x[n * C + c] - mean) * rstd);
    if (dbias != nullptr)
      for (std::int64_t c = 0; c < C; ++c) dbias[c] += dy[n * C + c];
  }
}

}  // namespace parallelarium
