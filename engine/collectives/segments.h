// SPDX-License-Identifier: Apache-2.0
// Values of a symbolic run: runs of cells, each with the contributions that are combined in it.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace parallelarium {

// Element `at + shift` of rank `rank`'s array, for every `at` of a segment.
struct Contribution {
  std::int32_t rank = 0;
  std::int64_t shift = 0;
  auto operator<=>(const Contribution&) const = default;
};

// A run of cells whose values are combined from the same ranks.
struct Segment {
  std::int64_t begin = 0, end = 0;
  std::vector<Contribution> from;  // sorted; a contribution that is in twice stands here twice
  bool averaged = false;
};
using Segments = std::vector<Segment>;  // ascending, without overlap; gaps hold nothing

// Those within [begin, end), counted from `begin`.
Segments cut(const Segments& all, std::int64_t begin, std::int64_t end);
// Adds `part`, counted from 0, behind what `all` holds before `offset`.
void append(Segments& all, Segments part, std::int64_t offset);
// Puts `part`, counted from 0, into [offset, offset + count) of `all`.
void put(Segments& all, Segments part, std::int64_t offset, std::int64_t count);
// Whether every cell of [0, count) holds something.
bool covers(const Segments& all, std::int64_t count);
// Both combined, cell by cell. Requires: both cover the same cells.
Segments merge(const Segments& a, const Segments& b);

}  // namespace parallelarium
