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

// What identifies the stages of a candidate: numbers of BoundTables.
struct Footing {
  std::int32_t family = 0, layout = 0;
  bool operator==(const Footing&) const = default;
};

// A candidate that is not refused and may still be among the best.
struct Entry {
  Candidate candidate;
  Footing footing;
  std::int32_t end = 0;
  std::uint8_t walks = 0;                    // walks done; kWalks: it is simulated next
  bool out = false;                          // it is refused or does not fit
  std::int64_t nanoseconds = 0, bytes = 0;   // lower bounds
  static constexpr std::uint8_t kWalks = 3;  // walked_bound(), alone_bound(), laned_bound()
  bool walked() const { return walks >= kWalks; }
  // Keeps the larger bounds. `capacity` is that of a device. None: ranks share their memory, so
  // that a single rank does not tell what fits.
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
// A plan that cannot be among the best is only simulated if it has at most this many actions. A
// plan with more may need minutes and gigabytes.
inline constexpr std::int64_t kMostFrontActions = 50'000;
Message too_long(std::int64_t actions);
// Says that it takes at least this long, and that the best plan takes less.
Message too_slow(std::int64_t nanoseconds, const std::vector<Plan>& best);

// The result of simulating a candidate. Its memory is exact.
struct Trial {
  Tried tried;
  std::int64_t at_least = 0;  // nanoseconds, if known before its whole time was
  bool stopped = false;       // it was not wanted by then, or did not fit: it has no time
};

// The result of the next look at an entry. Both are none if the search was cancelled.
struct Look {
  std::optional<Result<Bound>> bound;
  std::optional<Result<Trial>> trial;
};

// Predicts the Setup. The prediction stops as soon as `wanted` refuses the least time and memory
// known so far. It has figures beside time and memory only if the plan fits and `wanted` accepts
// it.
using Wanted = std::function<bool(std::int64_t nanoseconds, std::int64_t bytes)>;
Result<Trial> try_candidate(const Setup& setup, const Machine& machine, const Wanted& wanted);

}  // namespace parallelarium
