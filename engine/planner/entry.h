// SPDX-License-Identifier: Apache-2.0
// What a search knows of a candidate that has no class yet.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/planner/bounds/bound.h"
#include "engine/planner/parallel.h"
#include "engine/planner/search.h"

namespace parallelarium {

// What the stages of a candidate are known by: numbers of BoundTables.
struct Footing {
  std::int32_t family = 0, layout = 0;
  bool operator==(const Footing&) const = default;
};

// A candidate that is not refused and may still be among the best.
struct Entry {
  Candidate candidate;
  Footing footing;
  std::int32_t end = 0;
  std::uint8_t walks = 0;                    // kWalks: it is simulated next
  std::int64_t nanoseconds = 0, bytes = 0;   // lower bounds
  static constexpr std::uint8_t kWalks = 2;  // of walked_bound(), of laned_bound()
  bool walked() const { return walks >= kWalks; }
};

// What the next look at it tells; neither where the search was cancelled.
struct Look {
  std::optional<Result<Bound>> bound;
  std::optional<Result<Tried>> tried;
};

// try_setup() with its figures only where `wanted` says so of a plan that fits: else it has time
// and memory alone.
using Wanted = std::function<bool(Nanoseconds time, std::int64_t bytes)>;
Result<Tried> try_setup(const Setup& setup, const Machine& machine, const Wanted& wanted);

// Those that are looked at ahead. Simulations are few: one may spare the others.
struct Coming {
  static constexpr std::size_t kMost = 16;
  std::vector<std::size_t> items;
  std::size_t simulated = 0;
  bool takes(const Entry& entry) const {
    return items.size() < kMost && (!entry.walked() || simulated < 2 * parallel_bodies());
  }
  void add(std::size_t at, const Entry& entry) {
    items.push_back(at);
    simulated += entry.walked() ? 1 : 0;
  }
};

}  // namespace parallelarium
