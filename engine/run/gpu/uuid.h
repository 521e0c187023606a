// SPDX-License-Identifier: Apache-2.0
// A GPU's name that no other has, as `nvidia-smi -L` writes it. Pure.
#pragma once

#include <array>
#include <string>

namespace parallelarium {

using GpuUuid = std::array<unsigned char, 16>;

// "GPU-6f1c…", or "MIG-…" of a slice, whose own id (`own`) is not its GPU's (`whole`). Empty where
// all bytes are zero: some virtual GPUs have none.
std::string uuid_text(const GpuUuid& whole, const GpuUuid& own);

}  // namespace parallelarium
