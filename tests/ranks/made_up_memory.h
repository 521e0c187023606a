// SPDX-License-Identifier: Apache-2.0
// A device whose memories take as long as is written here, in place of one that is measured.
#pragma once

#include <string>
#include <vector>

#include "engine/run/calibrate/memory_probe.h"

namespace parallelarium {

class MadeUpMemory final : public MemoryProbe {
 public:
  struct Level {
    CacheLevel cache;
    double seconds = 0, bytes_per_second = 0;
  };
  double register_seconds = 2e-9, shared_seconds = 13e-9;
  std::vector<Level> levels = {{{"L1", 64 << 10}, 20e-9, 9e12}, {{"L2", 4 << 20}, 150e-9, 5e12}};
  Level behind = {{"memory", 0}, 600e-9, 3e12};
  std::string name = "Made up";
  CacheLevel own = {"shared", 64 << 10};

  std::string device() const override { return name; }
  std::vector<CacheLevel> caches() const override {
    std::vector<CacheLevel> caches;
    for (const Level& level : levels) caches.push_back(level.cache);
    return caches;
  }
  CacheLevel shared() const override { return own; }
  Result<StepTime> multiply_add() override { return StepTime{register_seconds, 4}; }
  Result<StepTime> load_shared() override { return StepTime{shared_seconds, 23}; }
  Result<StepTime> load(std::int64_t bytes) override {
    return StepTime{level_of(bytes).seconds, 0};
  }
  // A line of 32 bytes moves, whatever is needed of it.
  Result<double> copy(std::int64_t bytes, std::int64_t stride_bytes) override {
    const auto lines = static_cast<double>(bytes) / (stride_bytes < 32 ? 32.0 : stride_bytes);
    return lines * 32 / level_of(bytes).bytes_per_second;
  }
  Result<double> product(std::int64_t size, std::int64_t tile) override {
    return product_bytes(size, tile) / behind.bytes_per_second;
  }
  double product_bytes(std::int64_t size, std::int64_t tile) const override {
    const auto n = static_cast<double>(size);
    return 8 * n * n * n / static_cast<double>(tile);
  }

 private:
  const Level& level_of(std::int64_t bytes) const {
    for (const Level& level : levels)
      if (bytes <= level.cache.bytes) return level;
    return behind;
  }
};

}  // namespace parallelarium
