// SPDX-License-Identifier: Apache-2.0
// Prints a calibration of this computer and how long it took. Usage: calibrate_bench
#include <fmt/format.h>

#include <algorithm>

#include "engine/run/train/run.h"

int main() {
  using namespace parallelarium;
  const auto begin = std::chrono::steady_clock::now();
  const Result<Machine> machine = calibrate({});
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!machine) {
    fmt::print(stderr, "{}\n", machine.error().text);
    return 1;
  }
  fmt::print("{} cores, {:.2f} s\n", machine->cores, seconds);
  for (const MatmulPoint& point : machine->matmuls) {
    fmt::print("product {:5} {:5} {:5} {:8.1f} GFLOP/s\n", point.m, point.n, point.k,
               point.flops_per_second.value / 1e9);
  }
  for (const KernelRate& rate : machine->kernels) {
    fmt::print("{:15} {:8.3f} G elements/s\n", rate.kernel, rate.elements_per_second.value / 1e9);
  }
  fmt::print("copy {:.1f} GB/s, op {:.2f} us, message {:.1f} us + {:.2f} GB/s\n",
             machine->memory_bytes_per_second.value / 1e9, machine->launch_seconds.value * 1e6,
             machine->intra_node.latency_seconds.value * 1e6,
             machine->intra_node.bytes_per_second.value / 1e9);
  return 0;
}
