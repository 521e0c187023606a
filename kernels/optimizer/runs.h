// SPDX-License-Identifier: Apache-2.0
// Neighbouring stretches of one array, each marked or not: which parameters AdamW decays, which
// gradients a norm counts. One launch takes them all by value, instead of one launch each.
#pragma once

#include <cassert>
#include <cstdint>

namespace parallelarium {

// Together with a kernel's other parameters they fit the 4 KiB that every GPU takes (CUDA C++
// Programming Guide, "__global__ function parameters").
inline constexpr int kMostRuns = 384;

// Run r is [end[r - 1], end[r]); the first begins at 0. No run is empty, and neighbours differ in
// their mark.
struct Runs {
  int count = 0;
  bool marked[kMostRuns] = {};
  std::int64_t end[kMostRuns] = {};

  std::int64_t length() const { return count == 0 ? 0 : end[count - 1]; }
  bool takes(bool mark) const { return count < kMostRuns || marked[count - 1] == mark; }
  // takes(mark) must be true, and the length above 0.
  void add(std::int64_t more, bool mark) {
    assert(takes(mark) && more > 0);
    const std::int64_t until = length() + more;
    if (count == 0 || marked[count - 1] != mark) marked[count++] = mark;
    end[count - 1] = until;
  }
  // Calls visit(begin, length, marked).
  template <class Visit>
  void for_each(const Visit& visit) const {
    std::int64_t begin = 0;
    for (int run = 0; run < count; begin = end[run++]) visit(begin, end[run] - begin, marked[run]);
  }
};

inline Runs one_run(std::int64_t length, bool marked = true) {
  Runs runs;
  if (length > 0) runs.add(length, marked);
  return runs;
}

}  // namespace parallelarium
