// SPDX-License-Identifier: Apache-2.0
// Operations on stretches of time.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/plan/program/timeline.h"

namespace parallelarium {

// Joins spans that overlap. The result is sorted and disjoint.
inline std::vector<Span> merged(std::vector<Span> spans) {
  // The spans of one lane are in order.
  if (!std::ranges::is_sorted(spans, {}, &Span::begin)) std::ranges::sort(spans, {}, &Span::begin);
  std::vector<Span> result;
  for (const Span& span : spans) {
    if (span.end <= span.begin) continue;
    if (result.empty() || span.begin > result.back().end) {
      result.push_back(span);
    } else {
      result.back().end = std::max(result.back().end, span.end);
    }
  }
  return result;
}

inline Nanoseconds length_of(const std::vector<Span>& spans) {
  Nanoseconds length{0};
  for (const Span& span : spans) length += span.end - span.begin;
  return length;
}

// merged() must have made both.
inline Nanoseconds overlap_of(const std::vector<Span>& a, const std::vector<Span>& b) {
  Nanoseconds overlap{0};
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Nanoseconds begin = std::max(a[i].begin, b[j].begin), end = std::min(a[i].end, b[j].end);
    if (end > begin) overlap += end - begin;
    (a[i].end < b[j].end ? i : j)++;
  }
  return overlap;
}

}  // namespace parallelarium
