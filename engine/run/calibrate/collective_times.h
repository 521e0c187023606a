// SPDX-License-Identifier: Apache-2.0
// How long whole collectives take on ranks that do nothing else, and the links that follow.
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

// Every collective that training uses among `ranks` ranks, of about so many bytes (equal chunks of
// whole numbers) and of few, each behind `lead`. Empty where the run was stopped.
std::vector<CollectiveTime> measure_collectives(int ranks, std::int64_t small_bytes,
                                                std::int64_t large_bytes, Stop& stop,
                                                const LaunchOptions& options = {},
                                                const ProbeLead& lead = {},
                                                double limit_seconds = 60);

std::vector<CollectiveRate> rates_of(const std::vector<CollectiveTime>& times,
                                     const std::string& origin);

// seconds = latency + bytes / rate through the smallest and the largest.
struct TimedBytes {
  double bytes = 0, seconds = 0;
};
Link link_through(const std::vector<TimedBytes>& points, const std::string& origin);

}  // namespace parallelarium
