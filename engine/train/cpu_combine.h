// SPDX-License-Identifier: Apache-2.0
// Device::reduce and Device::combine in host memory.
#pragma once

#include <cstdint>
#include <span>

#include "engine/plan/program.h"

namespace parallelarium {

void reduce_on_cpu(DataType type, std::byte* target, std::span<const std::byte* const> parts,
                   bool largest, bool adds, std::int64_t count);
void combine_on_cpu(DataType type, Reduction reduction, std::byte* target,
                    std::span<const std::byte* const> parts, int divisor, std::int64_t count);

}  // namespace parallelarium
