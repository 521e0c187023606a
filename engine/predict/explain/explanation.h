// SPDX-License-Identifier: Apache-2.0
// Explains a whole timeline at once. `predict` and `run` print this.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/predict/explain/explain.h"

namespace parallelarium {

// Consecutive ops of the critical path that belong to one action of one rank.
struct PathStep {
  int rank = 0, stage = 0;  // the global rank
  bool computes = true;     // false: a message or collective
  std::string what;         // "forward of micro-batch 2", "receiving gradients ... from rank 3"
  Span span;
};

// A built rank within the step.
struct RankExplanation {
  int rank = 0, stage = 0;
  IdleShares shares;       // of this rank's step
  std::string waits_most;  // "waits for the gradient from stage 3"; empty if it never idles
  double waits_most_seconds = 0;
  MemoryPeak peak;
};

struct Explanation {
  IdleShares shares;           // of all ranks together
  std::vector<PathStep> path;  // the critical path, first to last
  double path_compute_seconds = 0, path_transfer_seconds = 0;
  std::vector<RankExplanation> ranks;  // folded: one entry for all replicas that are alike
};

// Explains a predicted or observed Timeline. Cost: linear in ops, except for sorting.
Explanation explain(const Program& program, const Timeline& timeline);

// {"idle_shares": {...}, "critical_path": {"seconds", "compute_seconds", "transfer_seconds",
// "steps": [...]}, "ranks": [{"rank", "stage", "idle_shares", "waits_most", "waits_most_seconds",
// "memory_peak": {"bytes", "seconds", "when"}}]}; times in seconds from the start of the step.
nlohmann::json to_json(const Explanation& explanation);

}  // namespace parallelarium
