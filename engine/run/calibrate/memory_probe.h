// SPDX-License-Identifier: Apache-2.0
// A device whose memories are measured: a core of this computer, or a GPU. memory_ladder.h says
// what is measured on each.
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
  // The caches that loads of one thread go through, ascending; empty: not known.
  virtual std::vector<CacheLevel> caches() const = 0;
  // The memory that a program fills itself; 0 bytes: the device has none.
  virtual CacheLevel shared() const = 0;

  // A multiply-add whose factor is the result of the last one.
  virtual Result<StepTime> multiply_add() = 0;
  // A load from the address that the last load gave. The loads go through `bytes` bytes in an order
  // that looks random. `bytes` must be a power of 2.
  virtual Result<StepTime> load(std::int64_t bytes) = 0;
  virtual Result<StepTime> load_shared() = 0;  // requires shared().bytes > 0
  // Seconds to copy floats that lie `stride_bytes` apart. Source and target together take `bytes`.
  virtual Result<double> copy(std::int64_t bytes, std::int64_t stride_bytes) = 0;
  // Seconds of a product of matrices of `size` floats a side, done tile by tile; and the bytes that
  // it loads from and stores to the memories behind the tiles.
  virtual Result<double> product(std::int64_t size, std::int64_t tile) = 0;
  virtual double product_bytes(std::int64_t size, std::int64_t tile) const = 0;
};

// Measures one core, which should have nothing else to do. It repeats everything for at least
// `least_seconds`.
// Errors: "memory-short".
std::unique_ptr<MemoryProbe> make_core_probe(double least_seconds = 0.02);

}  // namespace parallelarium
