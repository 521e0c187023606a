// SPDX-License-Identifier: GPL-3.0-or-later
// A collective as the Collectives view shows it: what a run did beside its plan, and the words for
// both.
#pragma once

#include <QString>
#include <memory>

#include "engine/collectives/observation.h"
#include "engine/predict/network/collective_plan.h"

namespace parallelarium {

// A run and the plan of exactly its spec.
struct CollectiveRun {
  std::shared_ptr<const CollectivePlan> plan;
  CollectiveObservation seen;
};

// The run of `spec` that was observed. Error: its Program is not that of the spec (an engine of
// another version), or the spec cannot be planned.
Result<CollectiveRun> make_collective_run(const CollectiveSpec& spec, CollectiveObservation seen);

// One measured size of one algorithm, for the plot.
struct MeasuredPoint {
  CollectiveSpec spec;
  Source source = Source::kMeasured;
  double seconds = 0, bus_bandwidth = 0;
  bool on_gpus = false;
};

// The algorithm's title inside a sentence, as in_sentence().
QString algorithm_in_sentence(CollectiveKind kind, const std::string& algorithm);

// "All-reduce", "Ring", "sum": the names in controls and titles.
QString title_of(CollectiveKind kind);
QString title_of(Topology topology);
QString algorithm_title(CollectiveKind kind, const std::string& algorithm);
QString algorithm_title(const CollectiveSpec& spec);
// "4 ranks · 4 MiB of float32", with the operation and the root.
QString collective_title(const CollectiveSpec& spec);

}  // namespace parallelarium
