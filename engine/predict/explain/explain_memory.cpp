// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/program/report.h"
#include "engine/plan/text/describe_op.h"
#include "engine/predict/explain/explain.h"

namespace parallelarium {

MemoryPeak memory_peak(const Program& program, const Timeline& timeline, int rank) {
  const RankProgram& ops = program.ranks[static_cast<std::size_t>(rank)];
  MemoryPeak peak;
  for_held_bytes(program, ops, [&](const HeldBytes& held) {
    if (held.sum() <= peak.bytes) return;
    peak.bytes = held.sum();
    peak.op = held.op;
  });
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
