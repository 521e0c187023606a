// SPDX-License-Identifier: Apache-2.0
// Measures the memories of a GPU with the kernels of kernels/memory.
#pragma once

#include <memory>
#include <string>

#include "engine/run/calibrate/memory_probe.h"

namespace parallelarium {

// How long and how often to measure. A test asks for less.
struct GpuProbeEffort {
  // Measured with these and with twice as many: the difference counts.
  std::int64_t loads = 1 << 15;
  double warm_seconds = 0.3;    // work before the first measurement, until clocks are high
  double copy_seconds = 0.002;  // time to repeat a copy
};

// Everything is measured twice, the second time twice as long. The difference contains no launch,
// and no load that the caches did not have yet. Errors: "memory-short", "cuda-failed";
// "chain-broken" if loads do not end where they must.
std::unique_ptr<MemoryProbe> make_cuda_memory_probe(int gpu, const std::string& name,
                                                    const GpuProbeEffort& effort);

}  // namespace parallelarium
