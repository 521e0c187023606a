// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/network/collective_plan.h"

#include <algorithm>

#include "engine/plan/settings/alternatives.h"

namespace parallelarium {

Machine this_computer(int gpus) {
  Result<Machine> found = find_machine(gpus > 0 ? kLocalGpus : "local");
  Machine machine = found ? std::move(*found) : uncalibrated_local_machine();
  if (gpus == 0) return machine;
  machine.name = kLocalGpus;
  machine.cores = 0;
  machine.lanes_share_core = false;
  machine.devices_per_node = gpus;
  return machine;
}

Network network_for(const CollectiveChoice& choice, int node_size, const Machine& local) {
  Network network;
  const LinkFigures& set = choice.links;
  if (choice.topology == Topology::kMemory) {
    network = network_of(local, choice.spec.ranks);
  } else {
    network.latency_seconds = set.latency_seconds.value_or(network.latency_seconds);
    network.bytes_per_second = set.bytes_per_second.value_or(network.bytes_per_second);
    network.node_latency_seconds = set.node_latency_seconds.value_or(network.node_latency_seconds);
    network.node_bytes_per_second =
        set.node_bytes_per_second.value_or(network.node_bytes_per_second);
  }
  if (choice.topology != Topology::kMemory) network.topology = choice.topology;
  network.node_size = node_size;
  if (network.node_size < 1)
    network.node_size = default_node_size(network.topology, choice.spec.ranks);
  return network;
}

Result<CollectivePlan> plan_collective(const CollectiveChoice& choice, const Machine& local) {
  if (choice.spec.ranks < 1 || choice.spec.ranks > kMostShownRanks)
    return refuse(message("collective-shown", "The view shows 1 to {} ranks, not {}.",
                          kMostShownRanks, choice.spec.ranks),
                  "collective.ranks", as_text({std::clamp(choice.spec.ranks, 1, kMostShownRanks)}));
  Result<Collective> made = make_collective(choice.spec);
  if (!made) return made.error();
  CollectivePlan plan;
  plan.choice = choice;
  plan.collective = std::move(*made);
  plan.word = "assumed";
  plan.network = network_for(choice, plan.collective.spec.node_size, local);
  if (choice.topology == Topology::kMemory) plan.word = prediction_word(local);
  if (Result<void> fits = check_network(plan.network, choice.spec.ranks); !fits)
    return fits.error();
  plan.cost = cost_of(plan.collective, plan.network);
  plan.holdings = holdings(plan.collective);
  plan.formulas = formulas_of(plan.collective, plan.network);
  return plan;
}

}  // namespace parallelarium
