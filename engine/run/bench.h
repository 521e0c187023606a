// SPDX-License-Identifier: Apache-2.0
// What calibration measures on every core at once: matrix products and kernels.
#pragma once

#include <string>
#include <vector>

#include "engine/plan/machine.h"
#include "engine/run/stop.h"
#include "engine/train/device.h"

namespace parallelarium {

// Measured seconds of one thread, in the order of the lists below.
struct ProductTime {
  std::int64_t m = 0, n = 0, k = 0;
  double seconds = 0;
};
struct KernelTime {
  std::string kernel;
  double elements = 0;
  double seconds = 0;
};

// The three products of linear layers as transformers use them, from small to large: tokens 64 to
// 512, hidden 32 to 1024. Ends early at `deadline` or when the run is stopped, without the largest.
std::vector<ProductTime> measure_products(Device& device, TimePoint deadline, const Stop& stop);

// Every kernel of kernels_of_pieces.h, each at several sizes.
std::vector<KernelTime> measure_kernels(Device& device, const Stop& stop);

// Bytes read and written per second by a copy that no cache holds.
double measure_copy(Device& device);

}  // namespace parallelarium
