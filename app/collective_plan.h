// SPDX-License-Identifier: GPL-3.0-or-later
// A collective as the Collectives view shows it: what is chosen, all that follows from it before
// anything runs, and what a run was seen to do.
#pragma once

#include <QString>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "engine/collectives/collective.h"
#include "engine/collectives/observation.h"
#include "engine/collectives/symbolic.h"
#include "engine/plan/machine.h"
#include "engine/predict/collective_formulas.h"
#include "engine/predict/network.h"

namespace parallelarium {

inline constexpr int kMostShownRanks = 16;  // with a column for each rank

// What is set: the collective, and what lies between its ranks. Memory: this computer, whose ranks
// can run it.
struct CollectiveChoice {
  CollectiveSpec spec;
  Topology topology = Topology::kMemory;
  bool operator==(const CollectiveChoice&) const = default;
};
// The spec's keys and "topology".
nlohmann::json to_json(const CollectiveChoice& choice);
Result<CollectiveChoice> collective_choice_from_json(const nlohmann::json& json);

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

// As calibrated, or with assumed rates where that file is missing or damaged; prediction_word says
// which.
Machine this_computer();
// The links of a choice: those of `local` for kMemory, else the Network's assumed ones.
Network network_for(const CollectiveChoice& choice, const Collective& collective,
                    const Machine& local);
// Error: the sentence of make_collective, or a number of ranks that the view cannot show.
Result<CollectivePlan> plan_collective(const CollectiveChoice& choice, const Machine& local);

// A run and the plan of exactly its spec.
struct CollectiveRun {
  std::shared_ptr<const CollectivePlan> plan;
  CollectiveObservation seen;
};

// One measured size of one algorithm, for the plot.
struct SweepPoint {
  CollectiveSpec spec;
  Source source = Source::kMeasured;
  double seconds = 0, bus_bandwidth = 0;
};

// "All-reduce", "Ring", "sum": as controls and titles name them.
QString title_of(CollectiveKind kind);
QString title_of(Topology topology);
QString algorithm_title(const CollectiveSpec& spec);
// "4 ranks · 4 MiB of float32", with what is summed and where the root is.
QString collective_title(const CollectiveSpec& spec);

}  // namespace parallelarium
