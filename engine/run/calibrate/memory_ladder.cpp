// SPDX-License-Identifier: Apache-2.0
#include "engine/run/calibrate/memory_ladder.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "engine/run/calibrate/bench.h"

namespace parallelarium {
namespace {

constexpr std::int64_t kLine = 64;            // bytes of a cache line
constexpr std::int64_t kSmallest = 16 << 10;  // inside every first cache

// Where nothing keeps what was computed, it would be left out.
template <class Value>
void keep(const Value& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

// Seconds of one call, repeated for at least so long; the best of three rounds.
template <class Call>
double best_seconds(double least, const Call& call) {
  using ClockOfCalls = std::chrono::steady_clock;
  double best = 1e30;
  for (int round = 0; round < 3; ++round) {
    std::int64_t calls = 0;
    const auto begin = ClockOfCalls::now();
    double seconds = 0;
    do {
      call();
      ++calls;
      seconds = std::chrono::duration<double>(ClockOfCalls::now() - begin).count();
    } while (seconds < least);
    best = std::min(best, seconds / static_cast<double>(calls));
  }
  return best;
}

std::vector<CacheLevel> caches_of_core() {
  std::vector<CacheLevel> levels;
  for (int index = 0; index < 8; ++index) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::string level, type, size;
    std::ifstream(folder + "level") >> level;
    std::ifstream(folder + "type") >> type;
    std::ifstream(folder + "size") >> size;
    if (level.empty() || type == "Instruction" || size.empty()) continue;
    std::int64_t bytes = std::atoll(size.c_str());
    if (size.back() == 'K') bytes <<= 10;
    if (size.back() == 'M') bytes <<= 20;
    levels.push_back({"L" + level, bytes});
  }
  return levels;
}

ChaseTime chase(std::int64_t bytes, double least) {
  struct alignas(kLine) Step {
    Step* next = nullptr;
  };
  std::vector<Step> steps(static_cast<std::size_t>(bytes / kLine));
  std::vector<std::uint32_t> order(steps.size());
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  for (std::size_t at = 0; at < order.size(); ++at)
    steps[order[at]].next = &steps[order[(at + 1) % order.size()]];
  constexpr int kLoads = 1 << 12;
  const Step* step = steps.data();
  for (std::size_t at = 0; at < steps.size(); ++at) step = step->next;  // into the caches
  const double seconds = best_seconds(least, [&] {
    for (int load = 0; load < kLoads; ++load) step = step->next;
    keep(step);
  });
  return {bytes, seconds / kLoads};
}

CopyRate copy(std::int64_t bytes, std::int64_t stride_bytes, double least) {
  const auto count = static_cast<std::size_t>(bytes / 2 / 4);
  const auto stride = static_cast<std::size_t>(stride_bytes / 4);
  std::vector<float> source(count, 1.0F), target(count, 2.0F);
  const double seconds = best_seconds(least, [&] {
    if (stride == 1)
      std::memcpy(target.data(), source.data(), count * sizeof(float));
    else
      for (std::size_t at = 0; at < count; at += stride) target[at] = source[at];
    keep(target.data());
  });
  const auto copied = static_cast<double>((count + stride - 1) / stride);
  return {bytes, stride_bytes, 2 * 4 * copied / seconds};
}

// c += a b of one tile.
void add_tile(const float* a, const float* b, float* c, std::size_t n, std::size_t rows,
              std::size_t inner, std::size_t columns) {
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < inner; ++k) {
      const float factor = a[i * n + k];
      const float* __restrict from = b + k * n;
      float* __restrict to = c + i * n;
      for (std::size_t j = 0; j < columns; ++j) to[j] += factor * from[j];
    }
}

TileRate product(std::int64_t size, std::int64_t tile, double least) {
  const auto n = static_cast<std::size_t>(size), t = static_cast<std::size_t>(tile);
  std::vector<float> a(n * n, 0.5F), b(n * n, 0.25F), c(n * n, 0.0F);
  const auto length = [&](std::size_t begin) { return std::min(t, n - begin); };
  const double seconds = best_seconds(least, [&] {
    for (std::size_t i = 0; i < n; i += t)
      for (std::size_t k = 0; k < n; k += t)
        for (std::size_t j = 0; j < n; j += t)
          add_tile(&a[i * n + k], &b[k * n + j], &c[i * n + j], n, length(i), length(k), length(j));
    keep(c.data());
  });
  return {size, tile, seconds};
}

}  // namespace

double TileRate::flops() const {
  const auto n = static_cast<double>(size);
  return 2 * n * n * n;
}

double TileRate::bytes() const {
  // For each of (n/t)^3 products of tiles: both factors, and the sum read and written.
  const auto n = static_cast<double>(size), t = static_cast<double>(tile);
  return 4 * 4 * n * n * n / t;
}

Result<MemoryLadder> measure_memory(
    const LadderSizes& sizes, const std::function<bool(double share, const std::string&)>& go_on) {
  MemoryLadder ladder;
  ladder.caches = caches_of_core();
  ladder.origin = "measured on this computer on " + today();
  std::vector<std::int64_t> sets;
  for (std::int64_t bytes = kSmallest; bytes <= sizes.most_bytes; bytes *= 2) sets.push_back(bytes);
  std::vector<std::int64_t> tiles;
  for (const std::int64_t tile : {4, 8, 16, 32, 64, 128, 256})
    if (tile < sizes.matrix) tiles.push_back(tile);
  tiles.push_back(sizes.matrix);
  const std::int64_t strides[] = {4, 64, 4096};
  const double all = static_cast<double>(4 * sets.size() + tiles.size());
  double done = 0;
  const auto next = [&](const std::string& what) { return go_on(done++ / all, what); };
  const Message stopped = message("cancelled.calibrate", "The calibration was cancelled.");
  try {
    for (const std::int64_t bytes : sets) {
      if (!next("latency")) return stopped;
      ladder.chases.push_back(chase(bytes, sizes.least_seconds));
    }
    for (const std::int64_t stride : strides)
      for (const std::int64_t bytes : sets) {
        if (!next("copies")) return stopped;
        ladder.copies.push_back(copy(bytes, stride, sizes.least_seconds));
      }
    for (const std::int64_t tile : tiles) {
      if (!next("products by tile")) return stopped;
      ladder.tiles.push_back(product(sizes.matrix, tile, sizes.least_seconds));
    }
  } catch (const std::bad_alloc&) {
    return message("memory-short", "There is no room for a working set of {} MiB; free memory.",
                   sizes.most_bytes >> 20);
  }
  return ladder;
}

nlohmann::json to_json(const MemoryLadder& ladder) {
  nlohmann::json caches = nlohmann::json::array(), latencies = caches, copies = caches,
                 ceilings = caches, points = caches;
  for (const CacheLevel& cache : ladder.caches)
    caches.push_back({{"name", cache.name}, {"bytes", cache.bytes}});
  for (const ChaseTime& time : ladder.chases)
    latencies.push_back({{"bytes", time.bytes}, {"seconds", time.seconds}});
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
                          {"origin", ladder.origin}});
  }
  ceilings.push_back({{"name", "plain product of floats"},
                      {"flops_per_second", most_flops},
                      {"origin", ladder.origin}});
  for (const TileRate& tile : ladder.tiles)
    points.push_back({{"piece", "product"},
                      {"tile", tile.tile},
                      {"size", tile.size},
                      {"flops", tile.flops()},
                      {"bytes", tile.bytes()},
                      {"intensity", tile.flops() / tile.bytes()},
                      {"seconds", tile.seconds}});
  return {{"caches", std::move(caches)}, {"latencies", std::move(latencies)},
          {"copies", std::move(copies)}, {"ceilings", std::move(ceilings)},
          {"points", std::move(points)}, {"origin", ladder.origin}};
}

}  // namespace parallelarium
