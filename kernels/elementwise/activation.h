// SPDX-License-Identifier: Apache-2.0
// The nonlinearities inside the MLP.
//
//   GELU(u) = u sigmoid(2 k (u + 0.044715 u^3)), k = sqrt(2/pi): the tanh form of Hendrycks &
//             Gimpel 2016, since 0.5 (1 + tanh z) = sigmoid(2z)
//   SwiGLU(u1, u2) = u1 sigmoid(u1) u2 (Shazeer 2020)
//
// Legend: N tokens, F inner width. SwiGLU's u1 is its gate and u2 its up, [N,F] each, with rows
// `pitch` apart (kernels/base/pitch.h), so that they may be the halves of one [N,2F]; du is [N,2F].
#pragma once

#include <cstddef>
#include <cstdint>

namespace parallelarium {

void gelu_forward_cpu(float* g, const float* u, std::size_t count);
void gelu_backward_cpu(float* du, const float* dg, const float* u, std::size_t count);
void swiglu_forward_cpu(float* g, const float* gate, const float* up, std::int64_t N,
                        std::int64_t F, std::int64_t pitch = 0);
void swiglu_backward_cpu(float* du, const float* dg, const float* gate, const float* up,
                         std::int64_t N, std::int64_t F, std::int64_t pitch = 0);

}  // namespace parallelarium
