// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/memory.h"

#include <algorithm>
#include <utility>

namespace parallelarium {

namespace {

std::int64_t megabytes(std::int64_t bytes) { return (bytes + 999'999) / 1'000'000; }

}  // namespace

Result<void> check_gpu_memory(const std::vector<int>& gpus, const std::vector<std::int64_t>& needed,
                              const std::function<GpuBytes(int gpu)>& bytes,
                              const std::vector<std::int64_t>& extra) {
  struct Sum {
    std::int64_t all = 0, extra = 0;
    int ranks = 0;
  };
  std::map<int, Sum> sums;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (needed[i] <= 0) continue;
    Sum& sum = sums[gpus[i]];
    const std::int64_t more = i < extra.size() ? extra[i] : 0;
    sum.all += needed[i] + more;
    sum.extra += more;
    ++sum.ranks;
  }
  for (const auto& [gpu, sum] : sums) {
    const std::int64_t free = bytes(gpu).free;
    if (free < 0 || sum.all <= free) continue;
    const Message need =
        sum.ranks == 1
            ? message("gpu-need", "A rank needs {} MB", megabytes(sum.all))
            : message("gpu-needs", "{} ranks need {} MB together", sum.ranks, megabytes(sum.all));
    if (sum.extra > 0)
      return message("memory-short.gpu-extra",
                     "{} on GPU {} ({} MB of it for products, scratch and communication) and {} MB "
                     "are free; a smaller model, micro-batch or sequence needs less.",
                     need, gpu, megabytes(sum.extra), free / 1'000'000);
    return message("memory-short.gpus",
                   "{} on GPU {} and {} MB are free; a smaller model, micro-batch or sequence "
                   "needs less.",
                   need, gpu, free / 1'000'000);
  }
  return {};
}

GpuMemoryMeter::GpuMemoryMeter(std::function<GpuBytes(int gpu)> bytes) : bytes_(std::move(bytes)) {}

void GpuMemoryMeter::begin(int gpu, int rank) {
  if (!bytes_) return;
  const auto [found, is_new] = gpus_.try_emplace(gpu);
  if (!is_new) return;
  found->second.rank = rank;
  found->second.before = bytes_(gpu);
}

void GpuMemoryMeter::holds(int gpu, std::int64_t arena_bytes, std::int64_t workspace_bytes) {
  if (!bytes_) return;
  gpus_.at(gpu).arenas += arena_bytes;
  gpus_.at(gpu).workspaces += workspace_bytes;
}

void GpuMemoryMeter::end(int gpu) {
  if (!bytes_) return;
  const std::lock_guard lock(mutex_);
  gpus_.at(gpu).at_end = bytes_(gpu);
}

void GpuMemoryMeter::look(Gone part) {
  for (auto& [gpu, seen] : gpus_) seen.without[static_cast<int>(part)] = bytes_(gpu).free;
}

std::vector<GpuMemory> GpuMemoryMeter::result() const {
  std::vector<GpuMemory> rows;
  for (const auto& [gpu, seen] : gpus_) {
    const auto& [no_communicators, no_transports, no_arenas, no_devices] = seen.without;
    if (std::min({seen.before.free, seen.at_end.free, no_communicators, no_transports, no_arenas,
                  no_devices}) < 0)
      continue;
    GpuMemory& row = rows.emplace_back();
    row.gpu = gpu;
    row.rank = seen.rank;
    row.driver_bytes = seen.before.free - seen.at_end.free;
    row.arena_bytes = seen.arenas;
    // What transports stage in goes with them.
    row.workspace_bytes = seen.workspaces + (seen.at_end.pooled - seen.before.pooled) +
                          (no_transports - no_communicators);
    row.communicator_bytes = no_communicators - seen.at_end.free;
    row.context_bytes = seen.before.free - no_devices;
  }
  return rows;
}

}  // namespace parallelarium
