// SPDX-License-Identifier: Apache-2.0
// NCCL tells a profiler which algorithm, protocol and channels it chose for its collectives.
//
// NCCL loads a profiler plugin, a library with the symbol ncclProfiler_v4 (2.27 and newer), and
// calls it on every communicator and collective. This is that plugin, and it only takes notes; the
// CUDA module exports it (cuda/nccl_library.cpp). The first rank of a communicator tells for all
// its ranks. So if ranks are processes, rank 0 knows only the communicators that it is in. Source:
// NVIDIA/nccl, ext-profiler/README.md and profiler_v4.h, whose binary interface the structs below
// repeat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "engine/plan/program/report.h"

namespace parallelarium {

// Thread-safe: NCCL reports a collective on the thread that launches it, or on one of its own
// threads.
class NcclChoices {
 public:
  // Names are NCCL's: "AllReduce", "ncclFloat32", "RING", "LL128"; null if it does not know.
  void add(const char* function, const char* type, std::int64_t count, int ranks,
           const char* algorithm, const char* protocol, int channels);
  // All since the last call.
  std::vector<LibraryChoice> take();

 private:
  std::mutex mutex_;
  std::map<std::tuple<std::string, int, std::string, std::string, int>, LibraryChoice> made_;
};
// The plugin of this library writes here.
NcclChoices& nccl_choices();

// ncclProfilerEventDescr_v4_t, as far as a collective fills it.
struct NcclProfilerEvent {
  std::uint8_t type;
  void* parent;
  int rank;  // of the communicator
  struct Collective {
    std::uint64_t sequence;
    const char* function;
    const void* from;
    void* to;
    std::size_t count;
    int root;
    const char* type;
    std::uint8_t channels, warps;
    const char* algorithm;
    const char* protocol;
  } collective;
};
static_assert(offsetof(NcclProfilerEvent, rank) == 16);
static_assert(offsetof(NcclProfilerEvent, collective) == 24);
inline constexpr int kNcclGroupEvent = 1 << 0, kNcclCollectiveEvent = 1 << 1;

// ncclProfiler_v4_t. All return 0, ncclSuccess.
struct NcclProfiler {
  const char* name;
  int (*init)(void** context, int* events, const char* name, std::uint64_t hash, int nodes,
              int ranks, int rank, void* log);
  int (*start)(void* context, void** handle, NcclProfilerEvent* event);
  int (*stop)(void* handle);
  int (*record)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};
NcclProfiler nccl_profiler();

}  // namespace parallelarium
