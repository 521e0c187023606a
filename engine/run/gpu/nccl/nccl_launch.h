// SPDX-License-Identifier: Apache-2.0
// NCCL between ranks that have a GPU each: threads of one process, or processes.
#pragma once

#include <functional>
#include <memory>

#include "engine/run/gpu/nccl/nccl_transport.h"
#include "engine/run/train/launch.h"

namespace parallelarium {

// They make LaunchOptions::make_transport for one run. References outlive the run.
std::function<std::unique_ptr<Transport>(TransportParts)> nccl_between_threads(Nccl& nccl,
                                                                               NcclWait wait = {});
// Rank 0 makes NCCL's id and shares it over the world's connections.
std::function<std::unique_ptr<Transport>(TransportParts)> nccl_between_processes(Nccl& nccl,
                                                                                 World& world);

}  // namespace parallelarium
