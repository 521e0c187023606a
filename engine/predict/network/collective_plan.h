// SPDX-License-Identifier: Apache-2.0
// A collective as the Collectives view and lessons choose it, and all that follows from the choice
// before anything runs.
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

// Figures of the links as somebody has set them; those that are not set are Network's own.
struct LinkFigures {
  std::optional<double> latency_seconds, bytes_per_second;
  std::optional<double> node_latency_seconds, node_bytes_per_second;  // two-level: between nodes
  bool operator==(const LinkFigures&) const = default;
};

// What is set: the collective, and what lies between its ranks. Memory: this computer, whose ranks
// can run it.
struct CollectiveChoice {
  CollectiveSpec spec;
  Topology topology = Topology::kMemory;
  LinkFigures links = {};  // not of kMemory, whose figures are measured
  int gpus = 0;            // of this computer, that the ranks would have; 0: its cores
  bool operator==(const CollectiveChoice&) const = default;
};

// The collective of a choice and its costs.
struct CollectivePlan {
  CollectiveChoice choice;
  Collective collective;
  std::vector<Holding> holdings;  // before the first step, then after each
  Network network;
  std::string word;  // prediction_word of the Machine whose rates these are; "assumed"
  CollectiveCost cost;
  std::vector<Formula> formulas;

  int ranks() const { return collective.spec.ranks; }
  int steps() const { return int(collective.steps.size()); }
  // At most one rank's contribution is in any chunk: nothing is combined.
  bool is_copying() const { return !reduces(collective.spec.kind); }
};

// Its cores, or so many of its GPUs, as calibrated, or with assumed rates where that file is
// missing or damaged; prediction_word says which.
Machine this_computer(int gpus = 0);
// The links of a choice: those of `local` for kMemory, else what is set, or assumed.
// `node_size`: as the algorithm has it; below 1 where it has no nodes or rows of its own.
Network network_for(const CollectiveChoice& choice, int node_size, const Machine& local);
// Error: the sentence of make_collective, or a number of ranks that the view cannot show.
Result<CollectivePlan> plan_collective(const CollectiveChoice& choice, const Machine& local);

}  // namespace parallelarium
