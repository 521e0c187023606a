// SPDX-License-Identifier: Apache-2.0
// Finds which communication ops of different ranks meet. The k-th send from a to b in a group meets
// the k-th receive, and the k-th collective of a group meets on each of its ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan/program/program.h"

namespace parallelarium {

// The place of an op: index in Program::ranks, and index in that rank's ops.
struct Place {
  std::int32_t rank = -1, op = -1;
  bool operator==(const Place&) const = default;
};

// Ops that meet. A transfer waits for two ops. A collective waits for every built rank of its
// group; ranks that are not built are not waited for, since each does the same as its
// representative at the same time.
struct Meeting {
  std::int32_t expected = 0;          // ops that must arrive
  std::int32_t first = 0, count = 0;  // those found, in Matching::members
};

struct Matching {
  // The first op of each rank in the flat numbering of all ops; one more entry for the end.
  std::vector<std::int32_t> base;
  std::vector<std::int32_t> meeting_of;  // by flat number; -1 for Compute
  std::vector<Meeting> meetings;
  std::vector<Place> members;

  std::int32_t flat(Place place) const {
    return base[static_cast<std::size_t>(place.rank)] + place.op;
  }
};

// Peers, groups and lanes of all communication ops must exist (check() tells).
// Cost: some tens of nanoseconds per op.
Matching match(const Program& program);

// For each global rank its index among the built ranks, or -1.
std::vector<std::int32_t> built_ranks(const Program& program);

}  // namespace parallelarium
