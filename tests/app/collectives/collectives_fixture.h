// SPDX-License-Identifier: GPL-3.0-or-later
// Choices of collectives, and runs of them, for the tests of the Collectives view.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "app/state/collective/collective_session.h"
#include "tests/app/pipeline/pipeline_fixture.h"

namespace parallelarium {

inline CollectiveChoice choice_of(CollectiveKind kind, const char* algorithm, int ranks,
                                  std::int64_t bytes = 4 << 20) {
  CollectiveChoice choice;
  choice.spec.kind = kind;
  choice.spec.algorithm = algorithm;
  choice.spec.ranks = ranks;
  choice.spec.bytes = bytes;
  return choice;
}

// Every algorithm that works with so many ranks.
inline std::vector<CollectiveChoice> all_choices(int ranks) {
  std::vector<CollectiveChoice> choices;
  for (const AlgorithmInfo& info : collective_algorithms()) {
    CollectiveChoice choice = choice_of(info.kind, info.name.c_str(), ranks);
    if (make_collective(choice.spec)) choices.push_back(choice);
  }
  return choices;
}

inline std::shared_ptr<const CollectivePlan> planned(const CollectiveChoice& choice) {
  Result<CollectivePlan> plan = plan_collective(choice, uncalibrated_local_machine());
  EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : plan.error().text);
  return std::make_shared<const CollectivePlan>(std::move(*plan));
}

// A run as the engine would tell it: the predicted times, a little longer.
inline CollectiveObservation made_up(const CollectivePlan& plan, double factor) {
  CollectiveObservation seen;
  seen.timeline = stretched(plan.cost.timeline, factor, Source::kMeasured);
  seen.seconds = seen.seconds_min = seen.seconds_max = plan.cost.seconds * factor;
  seen.algorithm_bandwidth = plan.cost.algorithm_bandwidth / factor;
  seen.bus_bandwidth = plan.cost.bus_bandwidth / factor;
  seen.correct = true;
  seen.sent_bytes = plan.cost.sent_bytes;
  seen.received_bytes = plan.cost.received_bytes;
  return seen;
}

}  // namespace parallelarium
