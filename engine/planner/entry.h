// SPDX-License-Identifier: Apache-2.0
// What a search knows of a candidate that has no class yet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/planner/bounds/bound.h"
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
  bool out = false;                          // it is refused or does not fit
  std::int64_t nanoseconds = 0, bytes = 0;   // lower bounds
  static constexpr std::uint8_t kWalks = 3;  // of walked_, alone_ and laned_bound()
  bool walked() const { return walks >= kWalks; }
  // Keeps the larger bounds. `capacity`: of a device; none: ranks share their memory, so that no
  // rank alone tells what fits.
  void raise(const Bound& bound, const std::optional<std::int64_t>& capacity) {
    nanoseconds = std::max(nanoseconds, bound.nanoseconds);
    if (!capacity) return;
    bytes = std::max(bytes, bound.bytes);
    out = bound.bytes > *capacity;
  }
};

inline std::int64_t actions_of(const Entry& entry, const Space& space) {
  return std::int64_t{space.stages_of_candidate(entry.candidate)} * entry.candidate.microbatches;
}
// The most actions of a plan that is simulated though it cannot be among the best: one of more may
// need minutes and gigabytes.
inline constexpr std::int64_t kMostFrontActions = 50'000;
Message too_long(std::int64_t actions);
// It takes at least so long, and the best plan less.
Message too_slow(std::int64_t nanoseconds, const std::vector<Plan>& best);

// What simulating a candidate tells. Its memory is exact.
struct Trial {
  Tried tried;
  std::int64_t at_least = 0;  // nanoseconds, where that was known before all of its time was
  bool stopped = false;       // by then it was not wanted, or did not fit: it has no time
};

// What the next look at it tells; neither where the search was cancelled.
struct Look {
  std::optional<Result<Bound>> bound;
  std::optional<Result<Trial>> trial;
};

// A prediction of the Setup, which stops where `wanted` says no of what it takes at least. Figures
// beside time and memory are there only where it says yes of a plan that fits.
using Wanted = std::function<bool(std::int64_t nanoseconds, std::int64_t bytes)>;
Result<Trial> try_candidate(const Setup& setup, const Machine& machine, const Wanted& wanted);

}  // namespace parallelarium
