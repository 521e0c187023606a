// SPDX-License-Identifier: Apache-2.0
// GPUs that the tests of placement put into computers.
#pragma once

#include <vector>

#include "engine/plan/placement/placement.h"

namespace parallelarium {

using Gpus = std::vector<int>;

inline ComputerGpu gpu(const char* name) {
  ComputerGpu gpu;
  gpu.name = name;
  return gpu;
}
inline ComputerGpu h100() { return gpu("H100"); }
inline ComputerGpu v100() {
  ComputerGpu old = gpu("V100");
  old.bf16 = false;
  return old;
}
inline ComputerGpu display() {
  ComputerGpu shows = h100();
  shows.display = true;
  return shows;
}
inline ComputerGpu broken() {
  ComputerGpu failed = h100();
  failed.unusable = message("gpu-failed", "GPU 0 failed its check: one product is wrong.");
  return failed;
}

inline GpusApart apart(const Gpus& gpus) {
  return {gpus, message("gpu-check-failed", "GPUs {} do not meet.", gpus.front())};
}

}  // namespace parallelarium
