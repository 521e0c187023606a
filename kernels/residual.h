// SPDX-License-Identifier: Apache-2.0
// The residual connection: a branch's output joins the stream that went round it. Its gradient is
// the identity on both sides, so there is no backward kernel.
#pragma once

#include <cstddef>

namespace parallelarium {

// out[i] = stream[i] + branch[i]. Traffic: 12 bytes per element.
void residual_add_cpu(float* out, const float* stream, const float* branch, std::size_t count);

}  // namespace parallelarium
