// SPDX-License-Identifier: Apache-2.0
#include "engine/run/calibrate/memory_ladder.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/run/calibrate/bench.h"

namespace parallelarium {
namespace {

std::vector<std::int64_t> doubled(std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = first; bytes <= last; bytes *= 2) sizes.push_back(bytes);
  return sizes;
}

// Which of the working sets tells of a cache behind one of `before` bytes: the last that fits.
template <class Set>
const Set* last_between(const std::vector<Set>& sets, std::int64_t before, std::int64_t most) {
  const Set* found = nullptr;
  for (const Set& set : sets)
    if (set.bytes > before && set.bytes <= most) found = &set;
  return found;
}
template <class Set>
const Set* first_from(const std::vector<Set>& sets, std::int64_t least) {
  const auto found =
      std::find_if(sets.begin(), sets.end(), [&](const Set& set) { return set.bytes >= least; });
  return found == sets.end() ? nullptr : &*found;
}

nlohmann::json to_json(const StepTime& step) {
  nlohmann::json json = {{"seconds", step.seconds}};
  if (step.cycles > 0) json["cycles"] = step.cycles;
  return json;
}

nlohmann::json to_json(const CacheLevel& level) {
  return {{"name", level.name}, {"bytes", level.bytes}};
}

}  // namespace

double TileRate::flops() const {
  const auto n = static_cast<double>(size);
  return 2 * n * n * n;
}

LadderSizes core_ladder_sizes() {
  return {16 << 10, 256 << 20, 16 << 10, {4, 64, 4096}, 768, {4, 8, 16, 32, 64, 128, 256, 768}};
}

// Smaller copies end before all of a GPU has begun.
LadderSizes gpu_ladder_sizes() {
  return {4 << 10, 1 << 30, 1 << 20, {4, 8, 16, 32, 64, 128, 256}, 2048, {1, 4, 8, 16, 32}};
}

Result<MemoryLadder> measure_memory(
    MemoryProbe& probe, const LadderSizes& sizes,
    const std::function<bool(double share, const std::string&)>& go_on) {
  MemoryLadder ladder;
  ladder.device = probe.device();
  ladder.caches = probe.caches();
  ladder.shared = probe.shared();
  ladder.origin = measured_here(today());
  const std::vector<std::int64_t> loaded = doubled(sizes.least_bytes, sizes.most_bytes);
  const std::vector<std::int64_t> copied = doubled(sizes.least_copied, sizes.most_bytes);
  const double all = static_cast<double>(1 + (ladder.shared.bytes > 0 ? 1 : 0) + loaded.size() +
                                         sizes.strides.size() * copied.size() + sizes.tiles.size());
  double done = 0;
  const auto next = [&](const std::string& what) { return go_on(done++ / all, what); };
  const Message stopped = message("cancelled.calibrate", "The calibration was cancelled.");

  if (!next("registers")) return stopped;
  const Result<StepTime> step = probe.multiply_add();
  if (!step) return step.error();
  ladder.multiply_add = *step;
  if (ladder.shared.bytes > 0) {
    if (!next("shared memory")) return stopped;
    const Result<StepTime> load = probe.load_shared();
    if (!load) return load.error();
    ladder.shared_load = *load;
  }
  for (const std::int64_t bytes : loaded) {
    if (!next("latency")) return stopped;
    const Result<StepTime> load = probe.load(bytes);
    if (!load) return load.error();
    ladder.chases.push_back({bytes, *load});
  }
  for (const std::int64_t stride : sizes.strides)
    for (const std::int64_t bytes : copied) {
      if (!next("copies")) return stopped;
      const Result<double> seconds = probe.copy(bytes, stride);
      if (!seconds) return seconds.error();
      const std::int64_t floats = (bytes / 2 + stride - 1) / stride;
      ladder.copies.push_back({bytes, stride, 2 * 4 * static_cast<double>(floats) / *seconds});
    }
  for (const std::int64_t tile : sizes.tiles) {
    if (!next("products by tile")) return stopped;
    const Result<double> seconds = probe.product(sizes.matrix, tile);
    if (!seconds) return seconds.error();
    ladder.tiles.push_back({sizes.matrix, tile, *seconds, probe.product_bytes(sizes.matrix, tile)});
  }
  return ladder;
}

std::vector<MemoryRung> rungs_of(const MemoryLadder& ladder) {
  std::vector<CopyRate> rows;  // in a row, as a stride would tell of lines
  for (const CopyRate& rate : ladder.copies)
    if (rate.stride_bytes == 4) rows.push_back(rate);
  std::vector<MemoryRung> rungs;
  const auto add = [&](const std::string& level, std::int64_t bytes, double seconds, double rate) {
    if (seconds <= 0 && rate <= 0) return;
    MemoryRung& rung = rungs.emplace_back(MemoryRung{level, bytes});
    if (seconds > 0) rung.latency_seconds = {seconds, ladder.origin};
    if (rate > 0) rung.bytes_per_second = {rate, ladder.origin};
  };
  add("registers", 0, ladder.multiply_add.seconds, 0);
  add("shared", ladder.shared.bytes, ladder.shared_load.seconds, 0);
  std::int64_t before = 0;
  for (const CacheLevel& cache : ladder.caches) {
    const ChaseTime* chase = last_between(ladder.chases, before, cache.bytes / 2);
    const CopyRate* copy = last_between(rows, before, cache.bytes / 2);
    if (std::find(std::begin(kMemoryLevels), std::end(kMemoryLevels), cache.name) !=
        std::end(kMemoryLevels))
      add(cache.name, cache.bytes, chase ? chase->load.seconds : 0,
          copy ? copy->bytes_per_second : 0);
    before = cache.bytes;
  }
  if (before == 0) return rungs;  // where the caches end is not known
  const ChaseTime* chase = first_from(ladder.chases, 4 * before);
  const CopyRate* copy = first_from(rows, 4 * before);
  add("memory", 0, chase ? chase->load.seconds : 0, copy ? copy->bytes_per_second : 0);
  return rungs;
}

nlohmann::json to_json(const MemoryLadder& ladder) {
  nlohmann::json caches = nlohmann::json::array(), latencies = caches, copies = caches,
                 ceilings = caches, points = caches, rungs = caches;
  for (const CacheLevel& cache : ladder.caches) caches.push_back(to_json(cache));
  for (const ChaseTime& time : ladder.chases) {
    latencies.push_back(to_json(time.load));
    latencies.back()["bytes"] = time.bytes;
  }
  double most_flops = 0;
  for (const TileRate& tile : ladder.tiles)
    most_flops = std::max(most_flops, tile.flops() / tile.seconds);
  for (const CopyRate& rate : ladder.copies) {
    copies.push_back({{"bytes", rate.bytes},
                      {"stride_bytes", rate.stride_bytes},
                      {"bytes_per_second", rate.bytes_per_second}});
    if (rate.stride_bytes == 4)
      ceilings.push_back({{"name", fmt::format("copy of {} KiB", rate.bytes >> 10)},
                          {"bytes_per_second", rate.bytes_per_second},
                          {"origin", text_of(ladder.origin)}});
  }
  ceilings.push_back({{"name", "plain product of floats"},
                      {"flops_per_second", most_flops},
                      {"origin", text_of(ladder.origin)}});
  double most_bytes = 0;
  for (const CopyRate& rate : ladder.copies)
    most_bytes = std::max(most_bytes, rate.bytes_per_second);
  for (const TileRate& tile : ladder.tiles)
    points.push_back(
        {{"piece", "product"},
         {"phase", name_of(Phase::kForward)},
         // As `roofline` names them.
         {"bound", tile.bytes * most_flops > tile.flops() * most_bytes ? "memory" : "compute"},
         {"tile", tile.tile},
         {"size", tile.size},
         {"flops", tile.flops()},
         {"bytes", tile.bytes},
         {"intensity", tile.flops() / tile.bytes},
         {"seconds", tile.seconds}});
  for (const MemoryRung& rung : rungs_of(ladder)) rungs.push_back(to_json(rung));
  nlohmann::json json = {
      {"device", ladder.device},         {"registers", to_json(ladder.multiply_add)},
      {"caches", std::move(caches)},     {"latencies", std::move(latencies)},
      {"copies", std::move(copies)},     {"ceilings", std::move(ceilings)},
      {"points", std::move(points)},     {"ladder", std::move(rungs)},
      {"origin", text_of(ladder.origin)}};
  if (ladder.shared.bytes > 0) {
    json["shared"] = to_json(ladder.shared_load);
    json["shared"]["bytes"] = ladder.shared.bytes;
  }
  return json;
}

}  // namespace parallelarium
