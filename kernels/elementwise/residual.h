// SPDX-License-Identifier: Apache-2.0
// The residual connection adds a branch's output to the stream that went round it. Its gradient is
// the identity on both sides, so there is no backward kernel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace parallelarium {

// out[i] = stream[i] + branch[i]. Traffic: 12 bytes per element.
void residual_add_cpu(float* out, const float* stream, const float* branch, std::size_t count);

// out = stream + branch + bias, with bias [C] for each of the N rows of [N,C]. If ranks sum the
// branch, its bias may join only afterwards; here it costs no pass of its own.
void residual_bias_add_cpu(float* out, const float* stream, const float* branch, const float* bias,
                           std::int64_t N, std::int64_t C);

}  // namespace parallelarium
