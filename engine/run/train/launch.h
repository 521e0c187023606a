// SPDX-License-Identifier: Apache-2.0
// The local launcher, which tests can use: run() is launch() with the defaults.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/run/gpu/memory.h"
#include "engine/run/stop.h"
#include "engine/run/train/run.h"
#include "engine/run/transport.h"
#include "engine/train/device.h"

namespace parallelarium {

class Nccl;  // gpu/nccl.h

// The parts that a rank's Transport is made from.
struct TransportParts {
  const Program& program;
  const RankProgram& rank;
  Stop& stop;
  DeviceStream& device;             // of the compute lane
  std::unique_ptr<Transport> host;  // meets the other ranks in shared memory
};

struct LaunchOptions {
  // The Device of one lane of one rank; a test wraps it to fail, hang or count.
  std::function<std::unique_ptr<Device>(int rank, Lane lane)> make_device = [](int, Lane) {
    return make_cpu_device();
  };
  // If absent, ranks meet in shared memory, of the host or of one GPU.
  std::function<std::unique_ptr<Transport>(TransportParts)> make_transport;
  std::string transport = "shared memory";  // its name in the report
  Nccl* nccl = nullptr;                     // set if ranks meet through it
  // For ranks on GPUs: the GPU of each, and what the driver says of a GPU.
  std::vector<int> gpus;
  std::function<GpuBytes(int gpu)> gpu_bytes;
  // Bytes that such a rank needs there beside its arena; absent: not known.
  std::function<std::int64_t(const Program& program, const RankProgram& rank)> gpu_extra;
  // If set, every rank is a process, and this one runs world->rank() alone. Only rank 0's result
  // then holds anything.
  World* world = nullptr;
  // Fill every buffer with not-a-number after its last use.
  bool poison = false;
  // Run a Program that check() refuses, to see it hang.
  bool unchecked = false;
};

// Makes the options for `ranks` ranks where the choice puts them, for one run, since NCCL's id is
// made once. `world` as in LaunchOptions; it outlives them. Errors: "cuda-missing", "nccl-missing".
Result<LaunchOptions> launch_options(const BackendChoice& choice, std::size_t ranks,
                                     World* world = nullptr);

// See run().
Result<RunResult> launch(const Setup& setup, const Program& program, const BackendChoice& choice,
                         const RunControl& control, const RunWishes& wishes,
                         const LaunchOptions& options);

}  // namespace parallelarium
