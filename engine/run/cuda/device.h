// SPDX-License-Identifier: Apache-2.0
// A stream of a GPU for one lane of one rank.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "engine/train/device.h"

namespace parallelarium {

// Never null. If making it fails, allocate() and finish() say why.
std::unique_ptr<Device> make_cuda_device(int gpu, int rank, Lane lane);

// Of such a device.
cudaStream_t stream_of(const DeviceStream& device);
int gpu_of(const DeviceStream& device);

}  // namespace parallelarium
