// SPDX-License-Identifier: Apache-2.0
// A collective as the Collectives view and lessons choose it, and everything that follows from the
// choice before anything runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/collectives/collective.h"
#include "engine/collectives/symbolic.h"
#include "engine/plan/machine/machine.h"
#include "engine/predict/formulas/collective_formulas.h"
#include "engine/predict/network/network.h"

namespace parallelarium {

inline constexpr int kMostShownRanks = 16;  // the view has a column for each rank

// Figures of the links that somebody has set. Those that are not set are Network's own.
struct LinkFigures {
  std::optional<double> latency_seconds, bytes_per_second;
  std::optional<double> node_latency_seconds, node_bytes_per_second;  // two-level: between nodes
  bool operator==(const LinkFigures&) const = default;
};

// The choice: the collective, and what is between its ranks. kMemory is this computer, where ranks
// can run it.
struct CollectiveChoice {
  CollectiveSpec spec;
  Topology topology = Topology::kMemory;
  LinkFigures links = {};  // unused for kMemory, whose figures are measured
  int gpus = 0;            // GPUs of this computer that the ranks would have; 0: its cores
  bool operator==(const CollectiveChoice&) const = default;
};

// The collective of a choice and its costs.
struct CollectivePlan {
  CollectiveChoice choice;
  Collective collective;
  std::vector<Holding> holdings;  // before the first step, then after each
  Network network;
  std::string word;  // prediction_word of the Machine that has these rates, or "assumed"
  CollectiveCost cost;
  std::vector<Formula> formulas;

  int ranks() const { return collective.spec.ranks; }
  int steps() const { return int(collective.steps.size()); }
  // Whether nothing is combined: any chunk has at most one rank's contribution.
  bool is_copying() const { return !reduces(collective.spec.kind); }
};

// This computer's cores, or `gpus` of its GPUs, as calibrated. If that file is missing or damaged,
// the rates are assumed; prediction_word says which.
Machine this_computer(int gpus = 0);
// The links of a choice: for kMemory those of `local`, else those that are set or assumed.
// `node_size` is the algorithm's; below 1: it has no nodes or rows.
Network network_for(const CollectiveChoice& choice, int node_size, const Machine& local);
// Error: the sentence of make_collective, or a number of ranks that the view cannot show.
Result<CollectivePlan> plan_collective(const CollectiveChoice& choice, const Machine& local);

}  // namespace parallelarium
