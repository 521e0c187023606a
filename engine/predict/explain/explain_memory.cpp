// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include "engine/plan/text/describe_op.h"
#include "engine/predict/explain/explain.h"

namespace parallelarium {

MemoryPeak memory_peak(const Program& program, const Timeline& timeline, int rank) {
  const RankProgram& ops = program.ranks[static_cast<std::size_t>(rank)];
  struct Change {
    std::int32_t op;
    bool closes;
    std::int64_t bytes;
  };
  std::vector<Change> changes;
  std::int64_t held = 0;
  for (const Buffer& buffer : ops.buffers) {
    if (buffer.opened_by < 0) {
      held += buffer.bytes;
      continue;
    }
    changes.push_back({buffer.opened_by, false, buffer.bytes});
    changes.push_back({buffer.closed_by, true, -buffer.bytes});
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::tie(a.op, a.closes) < std::tie(b.op, b.closes);
  });
  MemoryPeak peak;
  peak.bytes = held;
  for (const Change& change : changes) {
    held += change.bytes;
    if (held <= peak.bytes) continue;
    peak.bytes = held;
    peak.op = change.op;
  }
  if (peak.op < 0) {
    peak.when = message("peak-always", "for the whole step (stage {})", ops.stage);
    return peak;
  }
  const Op& op = ops.ops[static_cast<std::size_t>(peak.op)];
  peak.time =
      timeline.ranks[static_cast<std::size_t>(rank)].spans[static_cast<std::size_t>(peak.op)].begin;
  peak.when = message("peak-at", "at {} (stage {})", describe(op), ops.stage);
  return peak;
}

}  // namespace parallelarium
