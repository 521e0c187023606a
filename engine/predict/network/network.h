// SPDX-License-Identifier: Apache-2.0
// The time of a collective in the latency-bandwidth model: a message takes the latency of its path
// and then its bytes at the bandwidth that it gets. Messages that are under way at once share their
// common links fairly (max-min). So hot links show.
//
// Messages of one step start together: their latencies overlap, and their bytes share the rank's
// port.
// Source: Hockney 1994 for latency and bandwidth; Bertsekas and Gallager, Data Networks (1992),
// section 6.5.2, for max-min fairness.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/collectives/collective.h"
#include "engine/plan/machine/machine.h"
#include "engine/plan/program/timeline.h"

namespace parallelarium {

// What is between the ranks. Links carry `bytes_per_second` in each direction at once.
enum class Topology : std::uint8_t {
  kSwitch,    // one link from every rank to a switch that never blocks
  kRing,      // links to the two neighbours; messages pass through them the shorter way
  kTorus,     // rows and columns are rings; messages go along the row first
  kTwoLevel,  // a switch in every node; the ranks of a node share one link to a switch of nodes
  kMemory     // threads of one computer: a transfer is a copy; copies share the cores' rate
};
inline constexpr int kTopologies = 5;
std::string_view name_of(Topology topology);  // "switch" "ring" "torus" "two-level" "memory"
std::optional<Topology> topology_by_name(std::string_view name);

struct Network {
  Topology topology = Topology::kSwitch;
  double latency_seconds = 1e-6;  // of every link that a message passes; kSwitch: of the whole path
  double bytes_per_second = 10e9;  // of every link
  // Two-level: ranks of a node; torus: ranks of a row. 0: the collective's own node_size.
  int node_size = 0;
  // Two-level: the latency between nodes, and the rate of a node's one link.
  double node_latency_seconds = 5e-6;
  double node_bytes_per_second = 10e9;
  // Received bytes that a rank combines per second; 0: combining takes no time.
  double combine_bytes_per_second = 0;
  // Memory: the most bytes per second of all copies together.
  double shared_bytes_per_second = 0;
  // Memory: measured messages by size. If there are any, they count instead of the figures above.
  std::vector<TransferPoint> transfers;
  bool operator==(const Network&) const = default;
};

// The Network of a Machine for that many ranks: a switch, or two levels if they do not fit into one
// node. For this computer it is the memory, with measured messages if every rank has a core. This
// computer's GPUs are on a switch if every rank has one; otherwise the ranks share one GPU and its
// memory. For a torus it has the first two axes; the ranks must fill one of these axes, or both.
Network network_of(const Machine& machine, int ranks);
// Makes the Network this computer's memory by measured messages, smallest first. For formulas and
// words, the latency becomes that of the smallest message and the bandwidth that of the largest.
// `transfers` must not be empty.
void use_transfers(Network& network, std::vector<TransferPoint> transfers);

// The ranks in a torus's row, or in a node, if neither the algorithm nor the machine says it.
int default_node_size(Topology topology, int ranks);

// Error: the node size does not divide the ranks, or a rate is not valid.
Result<void> check_network(const Network& network, int ranks);

struct LinkUse {
  std::string name;        // "rank 3 to switch"
  std::int64_t bytes = 0;  // bytes that crossed it
  double busy = 0;         // bytes / bandwidth / time of the whole collective
};

struct CollectiveCost {
  double seconds = 0;
  double algorithm_bandwidth = 0;    // bytes / seconds
  double bus_bandwidth = 0;          // algorithm_bandwidth times bus_factor
  std::vector<double> step_seconds;  // by step: the time when its last message has arrived
  std::vector<std::int64_t> sent_bytes, received_bytes;  // by rank
  std::vector<LinkUse> links;  // links that carried anything, busiest first
  Timeline timeline;           // of the Program's ops
};

// check_network() must succeed, and check(collective.program) must be empty.
CollectiveCost cost_of(const Collective& collective, const Network& network);

// The smallest size, to within two elements per rank, from which on the other of the two algorithms
// is faster. It is sought between 1 KiB and 4 GiB. None: one algorithm is faster throughout.
// `bytes` of the specs is ignored. Both must be possible.
std::optional<std::int64_t> crossover_bytes(const CollectiveSpec& a, const CollectiveSpec& b,
                                            const Network& network);

// Bytes that each rank sends and receives. Exact; needs no Network.
struct RankBytes {
  std::vector<std::int64_t> sent, received;
};
RankBytes rank_bytes(const Collective& collective);

}  // namespace parallelarium
