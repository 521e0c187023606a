// SPDX-License-Identifier: Apache-2.0
// Device::combine in host memory.
#pragma once

#include <cstdint>
#include <span>

#include "engine/plan/program/program.h"

namespace parallelarium {

void combine_on_cpu(DataType type, Reduction reduction, std::byte* target,
                    std::span<const std::byte* const> parts, int divisor, std::int64_t count);

}  // namespace parallelarium
