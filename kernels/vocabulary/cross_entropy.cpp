// SPDX-License-Identifier: Apache-2.0
#include "kernels/vocabulary/cross_entropy.h"

#include <cmath>

#include "kernels/base/pitch.h"
#include "kernels/base/vector.h"

namespace parallelarium {

PARALLELARIUM_VECTOR
void loss_max_cpu(float* __restrict__ row_max, const float* __restrict__ logits, std::int64_t N,
                  std::int64_t V, std::int64_t pitch) {
  pitch = pitch_of(V, pitch);
  for (std::int64_t n = 0; n < N; ++n) {
    const float* row = logits + n * pitch;
    float largest = row[0];
#pragma omp simd reduction(max : largest)
    for (std::int64_t v = 0; v < V; ++v) largest = row[v] > largest ? row[v] : largest;
    row_max[n] = largest;
  }
}

PARALLELARIUM_VECTOR
void loss_sum_cpu(float* __restrict__ sum_exp, float* __restrict__ target_logit,
                  const float* __restrict__ logits, const float* __restrict__ row_max,
                  const std::int32_t* __restrict__ targets, std::int64_t N, std::int64_t V,
                  std::int64_t first, std::int64_t pitch) {
  pitch = pitch_of(V, pitch);
  for (std::int64_t n = 0; n < N; ++n) {
    const float* row = logits + n * pitch;
    const float largest = row_max[n];
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t v = 0; v < V; ++v) sum += fast_exp(row[v] - largest);
    sum_exp[n] = sum;
    const std::int64_t target = targets[n] - first;
    target_logit[n] = target >= 0 && target < V ? row[target] : 0.0F;
  }
}

// Row by row, so that the second reading comes from the cache.
void loss_max_sum_cpu(float* row_max, float* sum_exp, float* target_logit, const float* logits,
                      const std::int32_t* targets, std::int64_t N, std::int64_t V,
                      std::int64_t pitch) {
  pitch = pitch_of(V, pitch);
  for (std::int64_t n = 0; n < N; ++n) {
    loss_max_cpu(row_max + n, logits + n * pitch, 1, V);
    loss_sum_cpu(sum_exp + n, target_logit + n, logits + n * pitch, row_max + n, targets + n, 1, V);
  }
}

void loss_cpu(double* loss, const float* row_max, const float* sum_exp, const float* target_logit,
              std::int64_t N) {
  double sum = 0;
  for (std::int64_t n = 0; n < N; ++n)
    sum += std::log(double{sum_exp[n]}) + double{row_max[n]} - double{target_logit[n]};
  loss[0] += sum;
}

PARALLELARIUM_VECTOR
void loss_grad_cpu(float* __restrict__ logits, const float* __restrict__ row_max,
                   const float* __restrict__ sum_exp, const std::int32_t* __restrict__ targets,
                   float scale, std::int64_t N, std::int64_t V, std::int64_t first,
                   std::int64_t pitch) {
  pitch = pitch_of(V, pitch);
  for (std::int64_t n = 0; n < N; ++n) {
    float* row = logits + n * pitch;
    const float largest = row_max[n];
    const float factor = scale / sum_exp[n];
    for (std::int64_t v = 0; v < V; ++v) row[v] = fast_exp(row[v] - largest) * factor;
    const std::int64_t target = targets == nullptr ? -1 : targets[n] - first;
    if (target >= 0 && target < V) row[target] -= scale;
  }
}

}  // namespace parallelarium
