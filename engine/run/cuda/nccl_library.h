// SPDX-License-Identifier: Apache-2.0
// The installed NCCL behind the table of gpu/nccl.h.
#pragma once

#include "engine/plan/result.h"
#include "engine/run/gpu/nccl/nccl.h"

namespace parallelarium {

// Loads NCCL when first called (nccl_files), after setting in the environment what this program
// relies on: NCCL reads it at its first call. Errors: those of open_nccl().
Result<Nccl*> load_nccl();

}  // namespace parallelarium
