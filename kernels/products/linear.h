// SPDX-License-Identifier: Apache-2.0
// A linear layer y = x w^T + b and its two gradients.
// Legend: N tokens, M outputs, K inputs; x [N,K], w [M,K] row-major as in PyTorch, b [M], y [N,M],
// the rows of y and dy `y_pitch` apart (pitch.h).
#pragma once

#include <cstdint>

namespace parallelarium {

// y = x w^T + b. bias may be null. 2 N M K FLOPs.
void linear_forward_cpu(float* y, const float* x, const float* w, const float* bias, std::int64_t N,
                        std::int64_t M, std::int64_t K, std::int64_t y_pitch = 0);

// dx = dy w; overwrites dx [N,K]. 2 N M K FLOPs.
void linear_input_grad_cpu(float* dx, const float* dy, const float* w, std::int64_t N,
                           std::int64_t M, std::int64_t K, std::int64_t y_pitch = 0);

// dw += dy^T x, db += sum of dy over the tokens. db may be null. 2 N M K FLOPs.
void linear_weight_grad_cpu(float* dw, float* db, const float* dy, const float* x, std::int64_t N,
                            std::int64_t M, std::int64_t K, std::int64_t y_pitch = 0);

}  // namespace parallelarium
