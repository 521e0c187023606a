// SPDX-License-Identifier: Apache-2.0
// Device::combine on a stream, for any type.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "engine/plan/program/program.h"

namespace parallelarium {

// The reduction must not be kNone. Error: cudaErrorInvalidValue for more parts than kernels take,
// or for bytes, which have no arithmetic.
[[nodiscard]] cudaError_t combine_values(DataType type, Reduction reduction, std::byte* target,
                                         std::span<const std::byte* const> parts, int divisor,
                                         std::int64_t count, cudaStream_t stream);

}  // namespace parallelarium
