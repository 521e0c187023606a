// SPDX-License-Identifier: Apache-2.0
// The installed NCCL behind the table of gpu/nccl.h.
#pragma once

#include "engine/plan/result.h"
#include "engine/run/gpu/nccl.h"

namespace parallelarium {

// Loads libnccl.so.2 when first called, after setting in the environment what this program relies
// on: NCCL reads it at its first call. Error "nccl-missing", also where this build knew no nccl.h.
Result<Nccl*> load_nccl();

}  // namespace parallelarium
