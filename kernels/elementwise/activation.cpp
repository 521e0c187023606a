// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise/activation.h"

#include "kernels/base/pitch.h"
#include "kernels/base/vector.h"

namespace parallelarium {
namespace {

constexpr float kTwice = 2.0F * 0.7978845608028654F;  // 2 sqrt(2 / pi)
constexpr float kCubic = 0.044715F;

}  // namespace

PARALLELARIUM_VECTOR
void gelu_forward_cpu(float* __restrict__ g, const float* __restrict__ u, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const float x = u[i];
    g[i] = x * fast_sigmoid(kTwice * (x + kCubic * x * x * x));
  }
}

PARALLELARIUM_VECTOR
void gelu_backward_cpu(float* __restrict__ du, const float* __restrict__ dg,
                       const float* __restrict__ u, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const float x = u[i];
    const float s = fast_sigmoid(kTwice * (x + kCubic * x * x * x));
    const float slope = kTwice * (1.0F + 3.0F * kCubic * x * x);
    du[i] = dg[i] * (s + x * s * (1.0F - s) * slope);
  }
}

PARALLELARIUM_VECTOR
void swiglu_forward_cpu(float* __restrict__ g, const float* __restrict__ gate,
                        const float* __restrict__ up, std::int64_t N, std::int64_t F,
                        std::int64_t pitch) {
  const std::int64_t apart = pitch_of(F, pitch);
  for (std::int64_t n = 0; n < N; ++n)
    for (std::int64_t f = 0; f < F; ++f) {
      const float u = gate[n * apart + f];
      g[n * F + f] = u * fast_sigmoid(u) * up[n * apart + f];
    }
}

PARALLELARIUM_VECTOR
void swiglu_backward_cpu(float* __restrict__ du, const float* __restrict__ dg,
                         const float* __restrict__ gate, const float* __restrict__ up,
                         std::int64_t N, std::int64_t F, std::int64_t pitch) {
  const std::int64_t apart = pitch_of(F, pitch);
  for (std::int64_t n = 0; n < N; ++n)
    for (std::int64_t f = 0; f < F; ++f) {
      const float u = gate[n * apart + f];
      const float s = fast_sigmoid(u);
      const float d = dg[n * F + f];
      du[n * 2 * F + f] = d * up[n * apart + f] * (s + u * s * (1.0F - s));
      du[n * 2 * F + F + f] = d * u * s;
    }
}

}  // namespace parallelarium
