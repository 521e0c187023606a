// SPDX-License-Identifier: Apache-2.0
// What a run takes of its GPUs, from the driver's count of free bytes: looked at before the run,
// at its end, and after each of its parts has been given back. Other processes on the GPU are
// counted in where they come or go meanwhile.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "engine/plan/program/report.h"
#include "engine/plan/result.h"

namespace parallelarium {

// Of one GPU, by its driver.
struct GpuBytes {
  std::int64_t free = -1;   // -1: it does not say
  std::int64_t pooled = 0;  // held by this process for memory that streams ask for
};

// Error "memory-short": what the ranks on a GPU need together is more than is free there, in one
// sentence. `gpus`: of each rank; `needed`: its bytes, 0 of ranks that are not here; `extra`: what
// comes to that by libraries and scratch, or nothing. GPUs that do not say are taken to have room.
Result<void> check_gpu_memory(const std::vector<int>& gpus, const std::vector<std::int64_t>& needed,
                              const std::function<GpuBytes(int gpu)>& bytes,
                              const std::vector<std::int64_t>& extra = {});

class GpuMemoryMeter {
 public:
  // Null: there are no GPUs, and nothing is measured.
  explicit GpuMemoryMeter(std::function<GpuBytes(int gpu)> bytes);

  // Before anything of the run is on the GPU; again for other ranks that are on it.
  void begin(int gpu, int rank);
  // What was asked for there.
  void holds(int gpu, std::int64_t arena_bytes, std::int64_t workspace_bytes);
  // At the end of the run, before communicators are closed; from any thread. The last call counts.
  void end(int gpu);
  // In this order, when parts of the run have gone.
  enum class Gone { kCommunicators, kTransports, kArenas, kDevices };
  void look(Gone part);
  // By GPU, ascending; those of which the driver told everything. Requires: all looks.
  std::vector<GpuMemory> result() const;

 private:
  struct Gpu {
    int rank = 0;
    std::int64_t arenas = 0, workspaces = 0;  // asked for
    GpuBytes before, at_end;
    std::int64_t without[4] = {};  // free bytes, by part that has gone
  };
  std::function<GpuBytes(int gpu)> bytes_;
  std::mutex mutex_;  // of ends
  std::map<int, Gpu> gpus_;
};

}  // namespace parallelarium
