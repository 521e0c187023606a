// SPDX-License-Identifier: Apache-2.0
// NVIDIA driver, GPUs and NCCL, found by loading their libraries at run time: nothing here needs
// CUDA to build or to start.
#pragma once

#include <vector>

#include "engine/cli/computer/probe.h"

namespace parallelarium {

struct CudaFacts {
  std::vector<Gpu> gpus;
  std::vector<Fact> facts;  // driver, GPUs, NCCL
};
CudaFacts probe_cuda();

}  // namespace parallelarium
