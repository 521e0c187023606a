// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/network/network.h"

#include <algorithm>
#include <array>

#include "engine/predict/cost/pieces/work_seconds.h"
#include "engine/predict/network/flows.h"

namespace parallelarium {

namespace {

constexpr std::array<std::string_view, kTopologies> kNames = {"switch", "ring", "torus",
                                                              "two-level", "memory"};

}  // namespace

std::string_view name_of(Topology topology) { return kNames[static_cast<std::size_t>(topology)]; }

std::optional<Topology> topology_by_name(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Topology>(i);
  }
  return std::nullopt;
}

Network network_of(const Machine& machine, int ranks) {
  Network network;
  network.latency_seconds = machine.intra_node.latency_seconds.value;
  network.bytes_per_second = machine.intra_node.bytes_per_second.value;
  network.node_latency_seconds = machine.inter_node.latency_seconds.value;
  if (const double elements = combine_rate(machine, DataType::kF32); elements > 0)
    network.combine_bytes_per_second = elements * static_cast<double>(size_of(DataType::kF32));
  if (machine.local && !machine.ranks_share_memory()) {
    // A step's host has to launch the next meanwhile.
    network.latency_seconds = std::max(network.latency_seconds, machine.host_message_seconds.value);
    if (ranks <= machine.devices_per_node) return network;
    network.topology = Topology::kMemory;
    network.latency_seconds = machine.launch_seconds.value;
    network.bytes_per_second = machine.memory_bytes_per_second.value / 2;  // read and written
    network.shared_bytes_per_second = network.bytes_per_second;
    return network;
  }
  if (machine.local) {
    network.topology = Topology::kMemory;
    network.shared_bytes_per_second =
        network.bytes_per_second * std::max(1, std::min(machine.cores, ranks));
    if (ranks <= machine.cores && !machine.transfers.empty())
      use_transfers(network, machine.transfers);
    return network;
  }
  if (ranks <= machine.devices_per_node) {
    if (machine.torus.empty()) return network;
    network.topology = Topology::kTorus;
    network.node_size = machine.torus.front();
    return network;
  }
  network.topology = Topology::kTwoLevel;
  network.node_size = machine.devices_per_node;
  network.node_bytes_per_second = machine.inter_node.bytes_per_second.value *
                                  std::min<double>(machine.nics(), machine.devices_per_node);
  return network;
}

void use_transfers(Network& network, std::vector<TransferPoint> transfers) {
  const TransferPoint& last = transfers.back();
  const auto bytes = static_cast<double>(last.bytes);
  network.topology = Topology::kMemory;
  network.latency_seconds = transfers.front().one;
  network.bytes_per_second = bytes / last.one;
  network.shared_bytes_per_second = std::max(network.bytes_per_second, 2 * bytes / last.both);
  network.transfers = std::move(transfers);
}

int default_node_size(Topology topology, int ranks) {
  return topology == Topology::kTorus ? default_row_size(ranks) : default_node_size(ranks);
}

Result<void> check_network(const Network& network, int ranks) {
  const auto positive = [](double value) { return value > 0 && value < 1e18; };
  if (!(network.latency_seconds >= 0 && network.latency_seconds <= 1e6) ||
      !(network.node_latency_seconds >= 0 && network.node_latency_seconds <= 1e6)) {
    return message("network-latency", "A latency is 0 to a million seconds.");
  }
  if (!positive(network.bytes_per_second) || !positive(network.node_bytes_per_second)) {
    return message("network-bandwidth", "A bandwidth is above 0 bytes per second.");
  }
  const bool sized =
      network.topology == Topology::kTorus || network.topology == Topology::kTwoLevel;
  if (sized && (network.node_size < 1 || ranks % network.node_size != 0)) {
    return network.topology == Topology::kTorus
               ? message("network-node.rows",
                         "{} ranks cannot be cut into rows of {}; give a row size that divides "
                         "them.",
                         ranks, network.node_size)
               : message("network-node",
                         "{} ranks cannot be cut into nodes of {}; give a node size that divides "
                         "them.",
                         ranks, network.node_size);
  }
  return {};
}

RankBytes rank_bytes(const Collective& collective) {
  RankBytes bytes;
  for (const RankProgram& rank : collective.program.ranks) {
    std::int64_t sent = 0, received = 0;
    for (const Op& op : rank.ops) {
      if (op.kind == OpKind::kSend) sent += op.bytes;
      if (op.kind == OpKind::kRecv) received += op.bytes;
    }
    bytes.sent.push_back(sent);
    bytes.received.push_back(received);
  }
  return bytes;
}

std::optional<std::int64_t> crossover_bytes(const CollectiveSpec& a, const CollectiveSpec& b,
                                            const Network& network) {
  // Elements that cut into equal chunks for most algorithms, so that rounding does not decide.
  const std::int64_t grain = size_of(a.type) * 2 * a.ranks;
  const auto a_wins = [&](std::int64_t grains) {
    const auto seconds = [&](CollectiveSpec spec) {
      spec.bytes = grains * grain;
      const Result<Collective> collective = make_collective(spec);
      return collective ? cost_of(*collective, network).seconds : 0.0;
    };
    return seconds(a) < seconds(b);
  };
  std::int64_t low = std::max<std::int64_t>(1, 1024 / grain);
  const bool first = a_wins(low);
  std::int64_t high = low;
  while (a_wins(high) == first) {
    low = high;
    high *= 2;
    if (high * grain > (std::int64_t{1} << 32)) return std::nullopt;
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (a_wins(middle) == first ? low : high) = middle;
  }
  return high * grain;
}

CollectiveCost cost_of(const Collective& collective, const Network& network) {
  CollectiveCost cost = simulate_flows(collective, network);
  const RankBytes bytes = rank_bytes(collective);
  cost.sent_bytes = bytes.sent;
  cost.received_bytes = bytes.received;
  const CollectiveSpec& spec = collective.spec;
  if (cost.seconds > 0) {
    cost.algorithm_bandwidth = static_cast<double>(spec.bytes) / cost.seconds;
    cost.bus_bandwidth = cost.algorithm_bandwidth * bus_factor(spec.kind, spec.ranks);
  }
  return cost;
}

}  // namespace parallelarium
