// SPDX-License-Identifier: Apache-2.0
// The values of a symbolic run: stretches of cells and the contributions that are combined in them.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace parallelarium {

// Stands for element `at + shift` of rank `rank`'s array, for every `at` of a segment.
struct Contribution {
  std::int32_t rank = 0;
  std::int64_t shift = 0;
  auto operator<=>(const Contribution&) const = default;
};

// Cells in a row that combine values of the same ranks.
struct Segment {
  std::int64_t begin = 0, end = 0;
  std::vector<Contribution> from;  // sorted; a contribution that was added twice stands here twice
  bool averaged = false;
};
using Segments = std::vector<Segment>;  // ascending, without overlap; gaps hold nothing

// The segments within [begin, end), counted from `begin`.
Segments cut(const Segments& all, std::int64_t begin, std::int64_t end);
// Appends `part`, counted from 0, at `offset`. `all` must end at or before `offset`.
void append(Segments& all, Segments part, std::int64_t offset);
// Puts `part`, counted from 0, into [offset, offset + count) of `all`.
void put(Segments& all, Segments part, std::int64_t offset, std::int64_t count);
// Whether every cell of [0, count) holds something.
bool covers(const Segments& all, std::int64_t count);
// Combines both, cell by cell. Both must cover the same cells.
Segments merge(const Segments& a, const Segments& b);

}  // namespace parallelarium
