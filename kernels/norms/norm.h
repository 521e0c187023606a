// SPDX-License-Identifier: Apache-2.0
// Layer normalisation (Ba et al. 2016) and the cheaper RMSNorm (Zhang & Sennrich 2019). Both treat
// each token by itself, over its C channels:
//
//   layer: y = (x - mean) rstd gain + bias,  rstd = 1 / sqrt(variance + 1e-5)
//   RMS:   y = x rstd gain,                  rstd = 1 / sqrt(mean of x^2 + 1e-5)
//
// Legend: N tokens, C channels; x, y, dy, dx [N,C]; gain, bias [C]; stats [2,N]: means, then rstds
// (the means of RMSNorm are written as 0).
#pragma once

#include <cstdint>

namespace parallelarium {

inline constexpr float kNormEpsilon = 1e-5F;

// bias may be null.
void layer_norm_forward_cpu(float* y, float* stats, const float* x, const float* gain,
                            const float* bias, std::int64_t N, std::int64_t C);
void rms_norm_forward_cpu(float* y, float* stats, const float* x, const float* gain, std::int64_t N,
                          std::int64_t C);

// dx = (accumulate ? dx : 0) + gradient. The residual stream's gradient is accumulated in place.
void layer_norm_input_grad_cpu(float* dx, const float* dy, const float* x, const float* gain,
                               const float* stats, bool accumulate, std::int64_t N, std::int64_t C);
void rms_norm_input_grad_cpu(float* dx, const float* dy, const float* x, const float* gain,
                             const float* stats, bool accumulate, std::int64_t N, std::int64_t C);

// dgain += sum over tokens of dy (x - mean) rstd; dbias += sum of dy (dbias may be null). Serves
// both norms, since the means of RMSNorm are 0.
void norm_weight_grad_cpu(float* dgain, float* dbias, const float* dy, const float* x,
                          const float* stats, std::int64_t N, std::int64_t C);

}  // namespace parallelarium
