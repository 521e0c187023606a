// SPDX-License-Identifier: Apache-2.0
// Rotary positions: each pair (d, d + D/2) of a query or key head turns by the angle
// position * 10000^(-2d/D). Source: Su et al. 2021, with the pairing of Llama.
#pragma once

#include <cstdint>

#include "kernels/attention/attention.h"

namespace parallelarium {

enum class Turn : bool { kForward, kBack };

// Turns the query and key heads of qkv [B*T, (H+2K) D] in place; values stay. The tokens of each
// sequence have positions first, first + 1, ... kBack undoes the turn. It is also the gradient,
// since a rotation is orthogonal. D must be even.
void rotary_cpu(float* qkv, Turn turn, const AttentionShape& shape, std::int64_t first = 0);

}  // namespace parallelarium
