// SPDX-License-Identifier: Apache-2.0
// Hand-made Programs of small ops, messages and collectives, and what their ops take when they run:
// how calibration measures what only an executor's step can show.
#pragma once

#include <vector>

#include "engine/plan/program/program.h"
#include "engine/plan/program/timeline.h"
#include "engine/run/stop.h"
#include "engine/run/train/launch.h"

namespace parallelarium {

// Work ahead of what is measured, where hosts launch more slowly than devices work: a buffer of so
// many bytes is cleared so often. None where ranks are cores.
struct ProbeLead {
  std::int64_t bytes = 0;
  int times = 0;
};

// All ranks are one group and hold one buffer of `bytes`. An op that follows one of another lane
// comes after it.
class ProbeProgram {
 public:
  ProbeProgram(int ranks, std::int64_t bytes);
  // 16 additions.
  void compute(int rank);
  void lead(int rank, const ProbeLead& lead);  // requires: the buffer is as large
  void transfer(int from, int to, std::int64_t bytes);
  // Of all ranks, in their compute lanes; fp32 sums where it reduces.
  void collective(CollectiveKind kind, std::int64_t bytes);

  const Program& program() const { return program_; }
  int ops_of(int rank) const {
    return static_cast<int>(program_.ranks[static_cast<std::size_t>(rank)].ops.size());
  }

 private:
  void add(int rank_index, Op op, const std::vector<Operand>& operands);

  Program program_;
};

// The spans of every op: [repeat][rank][op]. Fewer repeats where the run was stopped, for a reason
// that `stop` has; after `limit` seconds it is stopped here.
using ProbeSpans = std::vector<std::vector<std::vector<Span>>>;
ProbeSpans run_probe(const Program& program, int repeats, Stop& stop,
                     const LaunchOptions& options = {}, double limit_seconds = 60);

// Seconds of ops [first, last] of one rank, from the first beginning to the last end, at a quantile
// of the repeats: the lower quartile where another process on the computer can only add time. 0: no
// repeats. Requires: quantile < 1.
double probe_seconds(const ProbeSpans& spans, int rank, int first, int last,
                     double quantile = 0.25);

}  // namespace parallelarium
