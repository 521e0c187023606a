// SPDX-License-Identifier: Apache-2.0
// Measures this computer's GPUs and makes a Machine from that. The caller gives devices and NCCL,
// so tests use stand-ins.
//
// One GPU of every kind: matrix products by shape, every kernel, copies, and how long a host needs
// to launch each. The Machine has the rates of the slowest kind, since a step waits for it. The
// first GPU: the cost of an op. Between GPUs, through NCCL as in a run: a message back and forth
// for every pair, and each whole collective among two and among all. Marks (CUDA events) give the
// times of devices.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/run/calibrate/bench.h"
#include "engine/run/calibrate/collectives/collective_times.h"
#include "engine/run/gpu/module/module.h"

namespace parallelarium {

struct GpuRig {
  std::vector<GpuFacts> gpus;
  std::function<std::unique_ptr<Device>(int gpu, int rank, Lane lane)> make_device;
  Nccl* nccl = nullptr;  // null: GPUs cannot meet, and nothing is measured between them
  BenchSizes sizes = gpu_bench_sizes();
  std::int64_t small_bytes = 1024, large_bytes = 32 << 20;  // of messages and collectives
  ProbeLead lead = {256 << 20, 10};  // lasts as long as a host needs for some ten NCCL groups
  double limit_seconds = 60;         // for everything between GPUs
};

// The time of a message, from the end of an op on one GPU to the beginning of the op that waits for
// it on the other.
struct PairTime {
  int from = 0, to = 0;  // GPUs
  std::int64_t bytes = 0;
  double seconds = 0;
};

struct GpuMeasurements {
  std::vector<GpuFacts> gpus;
  std::string slowest = {};  // name of the slowest kind; products, kernels and copies are its
  std::vector<ProductTime> products;
  std::vector<KernelTime> kernels;
  std::string half_failure = {};     // why nothing was measured in bf16
  double copy_bytes_per_second = 0;  // read and written
  CallTime empty = {};               // a kernel that has nothing to do
  double read_seconds = 0;           // a host reads a few bytes of an idle device
  double launch_seconds = 0;         // an op that has nothing to do, with its host far ahead
  double host_seconds = 0;           // such an op if its device waits for its host
  double host_message_seconds = 0;   // the same for a collective
  std::vector<PairTime> pairs;
  std::vector<CollectiveTime> collectives;
};

// Takes some 25 seconds, and 20 more for every further kind of GPU. Errors: "cancelled",
// "calibration-hangs", and those of devices and NCCL.
Result<GpuMeasurements> measure_gpus(const GpuRig& rig, const RunControl& control);

// The GPUs that a calibration covers, ascending: all if they are of one kind, else the chosen ones,
// since nobody waits for the others. `chosen`: the GPUs of ranks; none: every GPU that this build
// has code for.
std::vector<int> gpus_to_measure(const std::vector<GpuFacts>& gpus, const std::vector<int>& chosen);

// The Machine "local-gpus". Pure. Rates leave out what every kernel costs, since predictions add
// launch_seconds to each op. Without pairs, links are assumed. Error "calibration-empty".
Result<Machine> machine_of(const GpuMeasurements& measured, const std::string& date,
                           const std::string& host);

// Measures the GPUs of gpus_to_measure() through the CUDA module. Errors: "cuda-missing", "gpu-old"
// and those of measure_gpus().
Result<Machine> calibrate_gpus(const RunControl& control, const std::vector<int>& chosen = {});

}  // namespace parallelarium
