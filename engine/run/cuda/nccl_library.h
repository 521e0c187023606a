// SPDX-License-Identifier: Apache-2.0
// The installed NCCL behind the table of gpu/nccl.h.
#pragma once

#include "engine/plan/result.h"
#include "engine/run/gpu/nccl/library/nccl.h"

namespace parallelarium {

// The first call loads NCCL (nccl_files). Before that it sets the environment that this program
// relies on, which NCCL reads at its first call. Errors: those of open_nccl().
Result<Nccl*> load_nccl();

}  // namespace parallelarium
