// SPDX-License-Identifier: Apache-2.0
// The unique name of a GPU, as `nvidia-smi -L` writes it. Pure.
#pragma once

#include <array>
#include <string>

namespace parallelarium {

using GpuUuid = std::array<unsigned char, 16>;

// "GPU-6f1c…", or "MIG-…" for a slice, whose id (`own`) differs from its GPU's (`whole`). Empty if
// all bytes are zero: some virtual GPUs have no name.
std::string uuid_text(const GpuUuid& whole, const GpuUuid& own);

}  // namespace parallelarium
