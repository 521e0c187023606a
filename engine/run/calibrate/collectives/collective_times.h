// SPDX-License-Identifier: Apache-2.0
// Measures whole collectives on ranks that do nothing else, and derives links from that.
#pragma once

#include <string>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/program/program.h"
#include "engine/run/calibrate/probe_program.h"
#include "engine/run/stop.h"
#include "engine/run/train/launch.h"

namespace parallelarium {

struct CollectiveTime {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  int ranks = 0;
  std::int64_t bytes = 0;  // of the whole array
  double seconds = 0;
};

// Measures every collective that training uses among `ranks` ranks, with about `small_bytes` and
// `large_bytes` (equal chunks of whole numbers), each behind `lead`. Empty if the run was stopped.
std::vector<CollectiveTime> measure_collectives(int ranks, std::int64_t small_bytes,
                                                std::int64_t large_bytes, Stop& stop,
                                                const LaunchOptions& options = {},
                                                const ProbeLead& lead = {},
                                                double limit_seconds = 60);

std::vector<CollectiveRate> rates_of(const std::vector<CollectiveTime>& times,
                                     const Origin& origin);

// The link with seconds = latency + bytes / rate through the smallest and the largest point.
struct TimedBytes {
  double bytes = 0, seconds = 0;
};
Link link_through(const std::vector<TimedBytes>& points, const Origin& origin);

}  // namespace parallelarium
