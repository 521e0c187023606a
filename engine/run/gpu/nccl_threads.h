// SPDX-License-Identifier: Apache-2.0
// NCCL between the rank threads of one process, each on a GPU of its own.
#pragma once

#include <functional>
#include <memory>

#include "engine/run/gpu/nccl_transport.h"
#include "engine/run/launch.h"

namespace parallelarium {

// For LaunchOptions::make_transport of one run. `nccl` outlives the run.
std::function<std::unique_ptr<Transport>(TransportParts)> nccl_between_threads(Nccl& nccl,
                                                                               NcclWait wait = {});

}  // namespace parallelarium
