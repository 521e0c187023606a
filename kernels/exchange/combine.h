// SPDX-License-Identifier: Apache-2.0
// How a collective combines the ranks' contributions: element by element, in the given order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/base/bf16.h"

namespace parallelarium {

// Has the names and the order of Reduction (engine/plan/program/program.h). kAverage divides the
// sum by `divisor`.
enum class Combine : std::uint8_t { kCopy, kSum, kLargest, kProduct, kSmallest, kAverage };

// target[i] = parts[0][i] op parts[1][i] op ... for i in [0, count), from the first part to the
// last. target may be one of the parts; otherwise it overlaps none. bf16 is widened and rounded
// once at the end. int32 wraps around, and its average is cut towards zero. kCopy takes one part.
// There must be a part or more, and the divisor must be 1 or more.
void combine_cpu(float* target, const float* const* parts, std::size_t parts_count, Combine how,
                 int divisor, std::size_t count);
void combine_cpu(double* target, const double* const* parts, std::size_t parts_count, Combine how,
                 int divisor, std::size_t count);
void combine_cpu(Bf16* target, const Bf16* const* parts, std::size_t parts_count, Combine how,
                 int divisor, std::size_t count);
void combine_cpu(std::int32_t* target, const std::int32_t* const* parts, std::size_t parts_count,
                 Combine how, int divisor, std::size_t count);

}  // namespace parallelarium
