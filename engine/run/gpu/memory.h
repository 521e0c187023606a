// SPDX-License-Identifier: Apache-2.0
// Finds out how much memory a run takes on its GPUs. It reads the driver's free bytes before the
// run, at its end, and after each part has been given back. Memory that other processes take or
// free meanwhile is counted too.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "engine/plan/program/report.h"
#include "engine/plan/result.h"

namespace parallelarium {

// What a driver says about one GPU.
struct GpuBytes {
  std::int64_t free = -1;   // -1: it does not say
  std::int64_t pooled = 0;  // held by this process for memory that streams ask for
};

// Error "memory-short": the ranks on a GPU together need more than is free there. By rank: `gpus`;
// `needed` bytes, 0 for ranks that are not here; `extra` bytes of libraries and scratch, or
// nothing. A GPU that does not say has room.
Result<void> check_gpu_memory(const std::vector<int>& gpus, const std::vector<std::int64_t>& needed,
                              const std::function<GpuBytes(int gpu)>& bytes,
                              const std::vector<std::int64_t>& extra = {});

class GpuMemoryMeter {
 public:
  // Null: there are no GPUs, and nothing is measured.
  explicit GpuMemoryMeter(std::function<GpuBytes(int gpu)> bytes);

  // Call it before anything of the run is on the GPU, once for every rank there.
  void begin(int gpu, int rank);
  // Notes what the run asks for there.
  void holds(int gpu, std::int64_t arena_bytes, std::int64_t workspace_bytes);
  // Call it at the end of the run, before communicators close. From any thread; the last call
  // counts.
  void end(int gpu);
  // Call look() in this order, after each part has gone.
  enum class Gone { kCommunicators, kTransports, kArenas, kDevices };
  void look(Gone part);
  // By GPU, ascending; without those whose driver did not tell everything. All looks must have been
  // taken.
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
