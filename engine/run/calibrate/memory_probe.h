// SPDX-License-Identifier: Apache-2.0
// One device whose memories are measured: a core of this computer, or a GPU. The ladder
// (memory_ladder.h) says what it asks of each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

// A cache, or another memory of a fixed size.
struct CacheLevel {
  std::string name;  // of kMemoryLevels
  std::int64_t bytes = 0;
};

// From one operation to the next that needs its result.
struct StepTime {
  double seconds = 0;
  double cycles = 0;  // of the device's clock; 0: it does not tell
};

class MemoryProbe {
 public:
  virtual ~MemoryProbe() = default;
  virtual std::string device() const = 0;  // its name
  // Through which loads of one thread go, ascending; empty: not known.
  virtual std::vector<CacheLevel> caches() const = 0;
  // Memory that a program fills itself; 0 bytes: it has none.
  virtual CacheLevel shared() const = 0;

  // A multiplication and sum whose factor is the last one's result.
  virtual Result<StepTime> multiply_add() = 0;
  // A load where the last one said; so many bytes are gone through, in an order that looks random.
  // `bytes` must be a power of 2.
  virtual Result<StepTime> load(std::int64_t bytes) = 0;
  virtual Result<StepTime> load_shared() = 0;  // requires shared().bytes > 0
  // Seconds of copying the floats that lie `stride_bytes` apart; source and target take `bytes`.
  virtual Result<double> copy(std::int64_t bytes, std::int64_t stride_bytes) = 0;
  // Seconds of a product of matrices of `size` floats a side, tile by tile; and what it loads and
  // stores of the memories behind the tiles.
  virtual Result<double> product(std::int64_t size, std::int64_t tile) = 0;
  virtual double product_bytes(std::int64_t size, std::int64_t tile) const = 0;
};

// One core, which should have nothing else to do. Repeats everything for at least so long.
// Errors: "memory-short".
std::unique_ptr<MemoryProbe> make_core_probe(double least_seconds = 0.02);

}  // namespace parallelarium
