// SPDX-License-Identifier: Apache-2.0
// The GPU side of accumulate.h; compiled where CUDA is found.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace parallelarium {

// sum[i] += part[i] for i in [0, count).
//
// sum, part: device pointers to float[count] on the stream's device; must not
// overlap; caller owns them and keeps them alive until the stream gets here.
// Returns the launch status; faults inside the kernel surface at the next sync.
// Traffic: 12 bytes per element (read sum, read part, write sum).
[[nodiscard]] cudaError_t accumulate(float* sum, const float* part, std::size_t count,
                                     cudaStream_t stream);

}  // namespace parallelarium
