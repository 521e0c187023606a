// SPDX-License-Identifier: Apache-2.0
#include "kernels/optimizer/adamw.h"

#include <cmath>

#include "kernels/base/vector.h"

namespace parallelarium {
namespace {

PARALLELARIUM_VECTOR
void update(float* __restrict__ p, const float* __restrict__ g, float* __restrict__ m,
            float* __restrict__ v, float scale, float beta1, float beta2, float kept,
            float step_size, float root_correction, float epsilon, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = g[i] * scale;
    m[i] = beta1 * m[i] + (1.0F - beta1) * gradient;
    v[i] = beta2 * v[i] + (1.0F - beta2) * gradient * gradient;
    p[i] = p[i] * kept - step_size * m[i] / (std::sqrt(v[i]) / root_correction + epsilon);
  }
}

}  // namespace

void adamw_cpu(float* parameters, const float* gradients, float* first_moment, float* second_moment,
               const double* sum_of_squares, float clip, const AdamW& settings, std::size_t count) {
  double scale = 1.0;
  if (clip > 0) {
    const double norm = std::sqrt(sum_of_squares[0]);
    if (norm > double{clip}) scale = double{clip} / norm;
  }
  const auto steps = static_cast<double>(settings.step);
  const double correction1 = 1.0 - std::pow(double{settings.beta1}, steps);
  const double correction2 = 1.0 - std::pow(double{settings.beta2}, steps);
  update(parameters, gradients, first_moment, second_moment, static_cast<float>(scale),
         settings.beta1, settings.beta2, 1.0F - settings.learning_rate * settings.weight_decay,
         static_cast<float>(settings.learning_rate / correction1),
         static_cast<float>(std::sqrt(correction2)), settings.epsilon, count);
}

}  // namespace parallelarium
