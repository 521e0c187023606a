// SPDX-License-Identifier: Apache-2.0
// A Machine with round numbers that is no preset and was never calibrated.
#pragma once

#include "engine/plan/machine/machine.h"

namespace parallelarium {

inline Machine machine() {
  Machine result;
  result.devices_per_node = 8;
  result.nodes = 4;
  result.fp32_flops_per_second.value = 1e12;
  result.half_flops_per_second.value = 8e12;
  result.matmul_efficiency.value = 0.5;
  result.memory_bytes_per_second.value = 1e11;
  result.launch_seconds.value = 1e-6;
  result.intra_node = {{2e-6}, {1e10}};
  result.inter_node = {{5e-6}, {1e9}};
  return result;
}

}  // namespace parallelarium
