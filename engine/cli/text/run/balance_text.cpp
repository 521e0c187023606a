// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/text/run/balance_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/plan/text/units.h"

namespace parallelarium {
namespace {

// What the routers of one step did, as means over layers, micro-batches and replicas.
struct Balance {
  double balance = 0, z = 0;  // 1: even
  std::int64_t choices = 0, dropped = 0;
  double fullest = 0;  // the fullest expert of all against even routing
};
Balance balance_of(const Routing& routing) {
  Balance sum;
  const auto entries = static_cast<double>(std::max<std::size_t>(1, routing.entries.size()));
  for (const RoutedMicrobatch& entry : routing.entries) {
    const RouterLoad& load = entry.load;
    sum.balance += load.balance / entries;
    sum.z += load.z / entries;
    std::int64_t choices = 0;
    for (const std::int64_t chosen : load.chosen) choices += chosen;
    sum.choices += choices;
    sum.dropped += load.dropped();
    const double even = static_cast<double>(choices) / static_cast<double>(load.chosen.size());
    for (const std::int64_t chosen : load.chosen)
      sum.fullest = std::max(sum.fullest, static_cast<double>(chosen) / even);
  }
  return sum;
}

}  // namespace

nlohmann::json balance_json(const Observation& observed) {
  nlohmann::json steps = nlohmann::json::array();
  for (const Routing& step : observed.routing) {
    const Balance balance = balance_of(step);
    steps.push_back({{"balance_loss", observed.setup.balance_loss * balance.balance},
                     {"z_loss", observed.setup.z_loss * balance.z},
                     {"choices", balance.choices},
                     {"dropped", balance.dropped},
                     {"fullest_of_even", balance.fullest}});
  }
  return steps;
}

std::string balance_text(const Observation& observed) {
  const Balance balance = balance_of(*routing_of_timeline(observed));
  return fmt::format(
      "Routing of that step: balance loss {} ({} when even), {} of {} choices dropped; the "
      "fullest expert of a layer and micro-batch had {} of an even share.\n",
      three_digits(observed.setup.balance_loss * balance.balance),
      three_digits(observed.setup.balance_loss), balance.dropped, balance.choices,
      percent_text(balance.fullest));
}

}  // namespace parallelarium
