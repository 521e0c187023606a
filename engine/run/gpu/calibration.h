// SPDX-License-Identifier: Apache-2.0
// Calibration of this computer's GPUs: what is measured, and the Machine that follows from it. The
// devices and NCCL are given, so that all of it runs on stand-ins where there is no GPU.
//
// On one GPU of every kind: matrix products by shape, every kernel, copies, and how long a host
// needs to launch each; a step waits for the slowest kind, so the Machine has that one's rates. On
// the first GPU: the cost of an op. Between GPUs, through NCCL as a run uses it: a message back and
// forth for every pair, each whole collective among two and among all. Times of devices are those
// of marks (CUDA events).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/run/calibrate/bench.h"
#include "engine/run/calibrate/collective_times.h"
#include "engine/run/gpu/module.h"

namespace parallelarium {

struct GpuRig {
  std::vector<GpuFacts> gpus;
  std::function<std::unique_ptr<Device>(int gpu, int rank, Lane lane)> make_device;
  Nccl* nccl = nullptr;  // null: GPUs cannot meet, and nothing is measured between them
  BenchSizes sizes = gpu_bench_sizes();
  std::int64_t small_bytes = 1024, large_bytes = 32 << 20;  // of messages and collectives
  ProbeLead lead = {256 << 20, 10};  // as long as a host needs for some ten groups of NCCL
  double limit_seconds = 60;         // of everything between GPUs
};

// A message, from the end of an op on one GPU to the beginning of the op that waits for it on the
// other.
struct PairTime {
  int from = 0, to = 0;  // GPUs
  std::int64_t bytes = 0;
  double seconds = 0;
};

struct GpuMeasurements {
  std::vector<GpuFacts> gpus;
  std::string slowest = {};  // its name; of this kind are the times up to those of ops
  std::vector<ProductTime> products;
  std::vector<KernelTime> kernels;
  std::string half_failure = {};     // why nothing was measured in bf16
  double copy_bytes_per_second = 0;  // read and written
  CallTime empty = {};               // of a kernel that has nothing to do
  double read_seconds = 0;           // until a host has read a few bytes of an idle device
  double launch_seconds = 0;        // of an op of a step that has nothing to do, its host far ahead
  double host_seconds = 0;          // of one whose device waits for its host
  double host_message_seconds = 0;  // the same of a collective
  std::vector<PairTime> pairs;
  std::vector<CollectiveTime> collectives;
};

// Some 15 seconds, and 10 more for every further kind of GPU. Errors: "cancelled",
// "calibration-hangs", and those of devices and NCCL.
Result<GpuMeasurements> measure_gpus(const GpuRig& rig, const RunControl& control);

// Which GPUs of this computer a calibration is of: all, where they are of one kind; of several
// kinds those that were chosen, ascending, since nobody waits for the others. `chosen`: as of
// ranks, or none: every one that this build has code for.
std::vector<int> gpus_to_measure(const std::vector<GpuFacts>& gpus, const std::vector<int>& chosen);

// The Machine "local-gpus". Pure. Rates leave out what every kernel costs, since predictions add
// launch_seconds to each op. Without pairs, links are assumed. Error "calibration-empty".
Result<Machine> machine_of(const GpuMeasurements& measured, const std::string& date,
                           const std::string& host);

// Those of the CUDA module that gpus_to_measure() says. Errors: "cuda-missing", "gpu-old" and those
// of measure_gpus().
Result<Machine> calibrate_gpus(const RunControl& control, const std::vector<int>& chosen = {});

}  // namespace parallelarium
