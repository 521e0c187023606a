// SPDX-License-Identifier: Apache-2.0
// Explains why each rank idles, what the critical path is, and when memory peaks. It reads only a
// Program and a Timeline (predicted or observed).
#pragma once

#include <span>
#include <vector>

#include "engine/plan/program/program.h"
#include "engine/plan/program/timeline.h"

namespace parallelarium {

enum class IdleKind : std::uint8_t { kWarmUp, kWait, kTransfer, kDrain };

// A time within the step in which a rank's compute lane did nothing.
struct IdleGap {
  Span span;
  IdleKind kind = IdleKind::kWait;
  // What ended the gap: of the ops that the next op needed, the one that finished last before the
  // gap's end, "waits for the gradient of micro-batch 0 from stage 3". Id "idle-wait": its argument
  // is what. If several collectives go by in idle time, there is one gap for each.
  Message why;
};
std::vector<IdleGap> idle_gaps(const Program& program, const Timeline& timeline, int rank);
std::vector<std::vector<IdleGap>> all_idle_gaps(const Program& program, const Timeline& timeline);

// The op after which `op` started: the last to end among its lane predecessor, its `after` edges
// and, for communication, its peers' readiness. -1, -1 at the start.
struct OpRef {
  int rank = -1, op = -1;
  bool operator==(const OpRef&) const = default;
};
OpRef waited_for(const Program& program, const Timeline& timeline, OpRef op);
// source_of: the compute op whose result `op` needed; transfers are followed back to the sender
// ("who did I wait for?"). enabled_by: the ops of other ranks or lanes that `op` enables.
OpRef source_of(const Program& program, const Timeline& timeline, OpRef op);
std::vector<OpRef> enabled_by(const Program& program, OpRef op);

// The ops from the first to the last, each of which waited for the one before.
std::vector<OpRef> critical_path(const Program& program, const Timeline& timeline);

// Shares of the compute lanes' total time (ranks x step): they sum to 1.
struct IdleShares {
  double busy = 0, warm_up = 0, wait = 0, transfer = 0, drain = 0;
};
IdleShares idle_shares(const Program& program, const Timeline& timeline);
// The same from gaps that were found before, one list per rank, in a step of `duration`.
IdleShares idle_shares(std::span<const std::vector<IdleGap>> gaps, Nanoseconds duration);

struct MemoryPeak {
  Nanoseconds time{0};
  std::int64_t bytes = 0;
  int op = -1;   // the op that opened the last buffer
  Message when;  // "at the forward of micro-batch 3 (stage 0)"
};
MemoryPeak memory_peak(const Program& program, const Timeline& timeline, int rank);

}  // namespace parallelarium
