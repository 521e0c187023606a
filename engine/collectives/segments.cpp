// SPDX-License-Identifier: Apache-2.0
#include "engine/collectives/segments.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace parallelarium {

Segments cut(const Segments& all, std::int64_t begin, std::int64_t end) {
  Segments part;
  auto first = std::partition_point(all.begin(), all.end(),
                                    [&](const Segment& s) { return s.end <= begin; });
  for (; first != all.end() && first->begin < end; ++first) {
    Segment segment = *first;
    segment.begin = std::max(segment.begin, begin) - begin;
    segment.end = std::min(segment.end, end) - begin;
    for (Contribution& one : segment.from) one.shift += begin;
    part.push_back(std::move(segment));
  }
  return part;
}

void append(Segments& all, Segments part, std::int64_t offset) {
  for (Segment& segment : part) {
    segment.begin += offset;
    segment.end += offset;
    for (Contribution& one : segment.from) one.shift -= offset;
    if (!all.empty() && all.back().end == segment.begin && all.back().from == segment.from &&
        all.back().averaged == segment.averaged) {
      all.back().end = segment.end;
    } else {
      all.push_back(std::move(segment));
    }
  }
}

void put(Segments& all, Segments part, std::int64_t offset, std::int64_t count) {
  Segments result;
  append(result, cut(all, 0, offset), 0);
  append(result, std::move(part), offset);
  if (!all.empty() && all.back().end > offset + count)
    append(result, cut(all, offset + count, all.back().end), offset + count);
  all = std::move(result);
}

bool covers(const Segments& all, std::int64_t count) {
  std::int64_t at = 0;
  for (const Segment& segment : all) {
    if (segment.begin != at) return false;
    at = segment.end;
  }
  return at == count;
}

Segments merge(const Segments& a, const Segments& b) {
  Segments result;
  std::size_t i = 0, j = 0;
  std::int64_t at = 0;
  while (i < a.size() && j < b.size()) {
    const std::int64_t end = std::min(a[i].end, b[j].end);
    Segment both{at, end, {}, a[i].averaged || b[j].averaged};
    std::merge(a[i].from.begin(), a[i].from.end(), b[j].from.begin(), b[j].from.end(),
               std::back_inserter(both.from));
    result.push_back(std::move(both));
    at = end;
    if (a[i].end == end) ++i;
    if (j < b.size() && b[j].end == end) ++j;
  }
  return result;
}

}  // namespace parallelarium
