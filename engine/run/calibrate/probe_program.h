// SPDX-License-Identifier: Apache-2.0
// Hand-made Programs of small ops, messages and collectives. Calibration runs them to measure what
// only an executor's step can show.
#pragma once

#include <vector>

#include "engine/plan/program/program.h"
#include "engine/plan/program/timeline.h"
#include "engine/run/stop.h"
#include "engine/run/train/launch.h"

namespace parallelarium {

// Work ahead of the measured ops, for devices that work faster than hosts launch: clears a buffer
// of `bytes` several times. Ranks on cores need none.
struct ProbeLead {
  std::int64_t bytes = 0;
  int times = 0;
};

// All ranks are one group and hold one buffer of `bytes`. An op waits for the op before it,
// whatever their lanes.
class ProbeProgram {
 public:
  ProbeProgram(int ranks, std::int64_t bytes);
  // 16 additions.
  void compute(int rank);
  void lead(int rank, const ProbeLead& lead);  // requires: the buffer is as large
  void transfer(int from, int to, std::int64_t bytes);
  // A collective of all ranks in their compute lanes; reductions are fp32 sums.
  void collective(CollectiveKind kind, std::int64_t bytes);

  const Program& program() const { return program_; }
  int ops_of(int rank) const {
    return static_cast<int>(program_.ranks[static_cast<std::size_t>(rank)].ops.size());
  }

 private:
  void add(int rank_index, Op op, const std::vector<Operand>& operands);

  Program program_;
};

// The spans of every op: [repeat][rank][op]. There are fewer repeats if the run was stopped; `stop`
// has the reason. run_probe stops it after `limit_seconds`.
using ProbeSpans = std::vector<std::vector<std::vector<Span>>>;
ProbeSpans run_probe(const Program& program, int repeats, Stop& stop,
                     const LaunchOptions& options = {}, double limit_seconds = 60);

// Seconds from the first beginning to the last end of ops [first, last] of one rank, at a quantile
// of the repeats. The lower quartile is the default, since other processes can only add time. 0: no
// repeats. The quantile must be below 1.
double probe_seconds(const ProbeSpans& spans, int rank, int first, int last,
                     double quantile = 0.25);

}  // namespace parallelarium
