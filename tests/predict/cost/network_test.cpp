// SPDX-License-Identifier: Apache-2.0
// Costs of collectives against closed forms, and what topologies and shared links do to them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/predict/formulas/collective_formulas.h"
#include "engine/predict/network/transfer_table.h"

namespace parallelarium {
namespace {

Collective made(CollectiveKind kind, const std::string& algorithm, int ranks, std::int64_t bytes,
                int node_size = 0) {
  CollectiveSpec spec;
  spec.kind = kind;
  spec.algorithm = algorithm;
  spec.ranks = ranks;
  spec.bytes = bytes;
  spec.node_size = node_size;
  Result<Collective> collective = make_collective(spec);
  EXPECT_TRUE(collective) << (collective ? "" : collective.error().text);
  return std::move(*collective);
}

Network switched() {
  Network network;
  network.latency_seconds = 3e-6;
  network.bytes_per_second = 7e9;
  network.combine_bytes_per_second = 11e9;
  return network;
}

// The closed forms are written from the literature, the simulation moves every message.
// GPUs have links of their own; on one of them ranks share its memory.
TEST(Network, OfGpusIsASwitchWhereEveryRankHasOne) {
  Machine gpus;
  gpus.local = true;
  gpus.devices_per_node = 4;
  gpus.launch_seconds = {3e-6};
  gpus.memory_bytes_per_second = {2e12};
  gpus.intra_node = {{8e-6}, {2e11}};
  const Network each = network_of(gpus, 4);
  EXPECT_EQ(each.topology, Topology::kSwitch);
  EXPECT_EQ(each.latency_seconds, 8e-6);
  EXPECT_EQ(each.bytes_per_second, 2e11);
  gpus.host_message_seconds = {60e-6};
  EXPECT_EQ(network_of(gpus, 4).latency_seconds, 60e-6) << "a host launches each step";
  gpus.host_message_seconds.value = 0;
  const Network shared = network_of(gpus, 5);
  EXPECT_EQ(shared.topology, Topology::kMemory);
  EXPECT_EQ(shared.latency_seconds, 3e-6);
  EXPECT_EQ(shared.shared_bytes_per_second, 1e12);
  // A ring's 2 (n - 1) steps of a chunk each, over links that nobody shares.
  CollectiveSpec spec;
  spec.ranks = 4;
  spec.bytes = 4'000'000;
  const Result<Collective> ring = make_collective(spec);
  ASSERT_TRUE(ring.ok());
  EXPECT_NEAR(cost_of(*ring, each).seconds, 6 * (8e-6 + 1e6 / 2e11), 1e-9);
}

TEST(Cost, EqualsTheClosedFormWhereThatIsExact) {
  int exact = 0;
  std::set<std::string> algorithms;
  for (const AlgorithmInfo& info : collective_algorithms()) {
    for (const int ranks : {2, 3, 4, 6, 8, 16, 64}) {
      for (const double combine : {0.0, 11e9}) {
        CollectiveSpec spec;
        spec.kind = info.kind;
        spec.algorithm = info.name;
        spec.ranks = ranks;
        spec.bytes = 4LL * 2 * 64 * 9 * 1000;
        const Result<Collective> collective = make_collective(spec);
        if (!collective) continue;
        Network network = switched();
        network.combine_bytes_per_second = combine;
        const auto closed = closed_form(*collective, network);
        ASSERT_TRUE(closed) << info.name;
        const double simulated = cost_of(*collective, network).seconds;
        if (!closed->exact) {
          EXPECT_FALSE(combine == 0 && closed->formula.note.text.empty()) << info.name;
          continue;
        }
        ++exact;
        algorithms.insert(std::string(name_of(info.kind)) + info.name);
        EXPECT_NEAR(simulated / closed->formula.value, 1, 1e-12)
            << name_of(info.kind) << " " << info.name << " " << ranks;
      }
    }
  }
  EXPECT_GT(exact, 200);
  EXPECT_EQ(algorithms.size(), collective_algorithms().size() - 1);  // all but the double tree
}

// The forms of steps and bytes are written from the literature, too; here against the steps
// themselves.
TEST(Cost, StepsAndSentBytesAreThoseOfTheirForms) {
  const auto named = [](const std::vector<Formula>& formulas, const char* name) {
    return *std::find_if(formulas.begin(), formulas.end(),
                         [&](const Formula& formula) { return formula.name.text == name; });
  };
  int exact = 0;
  for (const AlgorithmInfo& info : collective_algorithms()) {
    for (const int ranks : {2, 3, 4, 6, 8, 16}) {
      CollectiveSpec spec;
      spec.kind = info.kind;
      spec.algorithm = info.name;
      spec.ranks = ranks;
      spec.bytes = 4LL * 2 * 64 * 9 * 100;
      const Result<Collective> collective = make_collective(spec);
      if (!collective) continue;
      SCOPED_TRACE(std::string(name_of(info.kind)) + " " + info.name + " " + std::to_string(ranks));
      const std::vector<Formula> formulas = formulas_of(*collective, switched());
      const Formula steps = named(formulas, "steps"), sent = named(formulas, "sent per rank");
      EXPECT_FALSE(steps.source.text.empty());
      const RankBytes bytes = rank_bytes(*collective);
      const auto most =
          static_cast<double>(*std::max_element(bytes.sent.begin(), bytes.sent.end()));
      if (steps.note.text.empty()) {
        EXPECT_EQ(steps.value, static_cast<double>(collective->steps.size()));
        ++exact;
      }
      if (sent.note.text == "of the rank that sends most") {
        EXPECT_NEAR(sent.value, most, 1e-6);
        ++exact;
      } else if (sent.note.text.ends_with("a bound")) {
        EXPECT_LE(most, sent.value);
      }
    }
  }
  EXPECT_GT(exact, 250);
}

// Away from a switch a form is no more than a neighbour of the simulated time.
TEST(Cost, FormsOnOtherLinksSaySo) {
  Network network = switched();
  network.topology = Topology::kRing;
  const auto closed = closed_form(made(CollectiveKind::kAllReduce, "tree", 8, 1 << 20), network);
  ASSERT_TRUE(closed);
  EXPECT_FALSE(closed->exact);
  EXPECT_FALSE(closed->formula.note.text.empty());
}

// Source: NVIDIA/nccl-tests, doc/PERFORMANCE.md.
// By hand: within nodes of four, then four rings over two nodes' links, each a quarter of the
// array.
TEST(Cost, HierarchyOnItsOwnTopologyHasTwoBandwidths) {
  Network network = switched();
  network.topology = Topology::kTwoLevel;
  network.node_latency_seconds = 7e-6;
  network.node_bytes_per_second = 2e9;
  for (const int nodes : {2, 3, 5}) {
    network.node_size = 4;
    const std::int64_t bytes = 4 * 4 * 30 * 1000;
    const Collective collective =
        made(CollectiveKind::kAllReduce, "hierarchical", 4 * nodes, bytes, 4);
    const auto form = closed_form(collective, network);
    ASSERT_TRUE(form);
    EXPECT_TRUE(form->exact);
    const double seconds = cost_of(collective, network).seconds;
    EXPECT_NEAR(form->formula.value / seconds, 1, 1e-12) << nodes;
    const double k = nodes, s = bytes;
    EXPECT_NEAR(seconds,
                6 * 3e-6 + 2 * (k - 1) * 7e-6 + 1.5 * s / 7e9 + 2 * (k - 1) / k * s / 2e9 +
                    (0.75 + (k - 1) / k / 4) * s / 11e9,
                1e-15);
  }
}

TEST(Cost, UnevenCountsHaveNoForm) {
  CollectiveSpec spec;
  spec.kind = CollectiveKind::kAllToAll;
  spec.algorithm = "direct";
  spec.ranks = 2;
  spec.counts = {0, 1000, 0, 0};
  EXPECT_FALSE(closed_form(*make_collective(spec), switched()));
}

TEST(BusBandwidth, HasTheFactorsOfNcclTests) {
  using K = CollectiveKind;
  for (const int n : {2, 4, 8}) {
    EXPECT_DOUBLE_EQ(bus_factor(K::kAllReduce, n), 2.0 * (n - 1) / n);
    for (const K kind : {K::kAllGather, K::kReduceScatter, K::kAllToAll, K::kScatter, K::kGather})
      EXPECT_DOUBLE_EQ(bus_factor(kind, n), (n - 1.0) / n);
    for (const K kind : {K::kBroadcast, K::kReduce}) EXPECT_DOUBLE_EQ(bus_factor(kind, n), 1);
  }
  const Collective ring = made(K::kAllReduce, "ring", 8, 8 << 20);
  Network network = switched();
  network.combine_bytes_per_second = network.latency_seconds = 0;
  EXPECT_NEAR(cost_of(ring, network).bus_bandwidth, network.bytes_per_second, 1);
}

// What was measured alone is predicted as it was measured: one message or two that cross, kept or
// combined.
TEST(Transfers, AStepOfTheMeasuredKindTakesTheMeasuredTime) {
  Network network;
  network.topology = Topology::kMemory;
  network.transfers = {{64, 1e-6, 1.5e-6, 1.8e-6, 2.5e-6, 1e-7, 3e-8},
                       {4096, 2e-6, 2.7e-6, 3.1e-6, 4.9e-6, 9e-7, 4e-7},
                       {65536, 9e-6, 17e-6, 12e-6, 25e-6, 8e-6, 7e-6}};
  using K = CollectiveKind;
  for (const TransferPoint& point : network.transfers) {
    const auto seconds = [&](K kind, const char* algorithm, std::int64_t messages) {
      return cost_of(made(kind, algorithm, 2, messages * point.bytes), network).seconds;
    };
    EXPECT_NEAR(seconds(K::kBroadcast, "direct", 1), point.one, 1e-12);
    EXPECT_NEAR(seconds(K::kAllGather, "ring", 2), point.both, 1e-12);
    EXPECT_NEAR(seconds(K::kReduce, "tree", 1), point.one_combined, 1e-12);
    EXPECT_NEAR(seconds(K::kReduceScatter, "ring", 2), point.both_combined, 1e-12);
    EXPECT_NEAR(seconds(K::kAllReduce, "direct", 1), point.both + point.combine, 1e-12);
    // What stays on a rank is copied there, beside the messages.
    EXPECT_NEAR(seconds(K::kAllToAll, "pairwise", 2), point.both + point.copy, 1e-12);
  }
}

// Eight cores get more through together than two do; from two to eight it grows by the flows.
TEST(Transfers, AStepOfARingTakesWhatARingOfAllCoresWasMeasuredToTake) {
  Network network;
  const auto point = [](std::int64_t bytes, double one, double both, double ring) {
    TransferPoint result;
    result.bytes = bytes;
    result.one = result.one_combined = one;
    result.both = result.both_combined = both;
    result.combine = result.copy = 1e-9;
    result.ring_ranks = 8;
    result.ring = ring;
    result.ring_combined = 2 * ring;
    return result;
  };
  use_transfers(network, {point(64, 1e-6, 1e-6, 1e-6), point(1 << 20, 101e-6, 126e-6, 401e-6)});
  EXPECT_EQ(network.topology, Topology::kMemory);
  for (const int ranks : {2, 5, 8}) {
    for (const LinkUse& link :
         cost_of(made(CollectiveKind::kAllGather, "ring", ranks, 1 << 20), network).links)
      EXPECT_LE(link.busy, 1) << link.name;
  }
  EXPECT_DOUBLE_EQ(network.latency_seconds, 1e-6);
  EXPECT_DOUBLE_EQ(network.bytes_per_second, (1 << 20) / 101e-6);
  const auto of_step = [&](int ranks) {
    const Collective ring = made(CollectiveKind::kAllGather, "ring", ranks, ranks << 20);
    return cost_of(ring, network).seconds / (ranks - 1);
  };
  EXPECT_NEAR(of_step(2), 126e-6, 1e-10);
  EXPECT_NEAR(of_step(8), 401e-6, 1e-10);
  // Two flows get 2 MiB in 125 us together, eight 8 MiB in 400; five the middle of both rates.
  EXPECT_NEAR(of_step(5), 1e-6 + 5 / ((2 / 125e-6 + 8 / 400e-6) / 2), 1e-10);
}

// By what the algorithms do: an all-reduce ends in the array that it sends from, a ring's
// all-gather forwards what it received, a broadcast's root and an all-to-all's senders keep theirs.
TEST(Transfers, FreshBytesAreThoseThatTheirSenderWrites) {
  const auto fresh = [](const Collective& collective, int rank) {
    const std::vector<Op>& ops = collective.program.ranks[static_cast<std::size_t>(rank)].ops;
    const auto all = fresh_sends(collective.program);
    std::vector<bool> sends;
    for (std::size_t op = 0; op < ops.size(); ++op) {
      if (ops[op].kind == OpKind::kSend)
        sends.push_back(all[static_cast<std::size_t>(rank)][op]);
      else
        EXPECT_FALSE(all[static_cast<std::size_t>(rank)][op]);
    }
    return sends;
  };
  using K = CollectiveKind;
  EXPECT_EQ(fresh(made(K::kAllReduce, "ring", 3, 12), 1), std::vector<bool>(4, true));
  EXPECT_EQ(fresh(made(K::kAllGather, "ring", 3, 12), 1), (std::vector<bool>{false, true}));
  EXPECT_EQ(fresh(made(K::kBroadcast, "direct", 3, 12), 0), std::vector<bool>(2, false));
  EXPECT_EQ(fresh(made(K::kAllToAll, "pairwise", 3, 36), 2), std::vector<bool>(2, false));
  // The first chunk goes out as it was, the sum of the second does not.
  EXPECT_EQ(fresh(made(K::kReduceScatter, "ring", 3, 12), 0), (std::vector<bool>{false, true}));
}

// Every message of the tree and of the ring carries what its sender wrote.
TEST(Transfers, FreshBytesTakeAsMuchLongerAsMeasured) {
  Network network;
  TransferPoint small{64, 1e-6, 1.5e-6, 1.8e-6, 2.5e-6, 1e-7, 3e-8, 1.25, 1.5};
  TransferPoint large{65536, 9e-6, 17e-6, 12e-6, 25e-6, 8e-6, 7e-6, 1.5, 2};
  use_transfers(network, {small, large});
  using K = CollectiveKind;
  for (const TransferPoint& point : {small, large}) {
    EXPECT_NEAR(cost_of(made(K::kAllReduce, "tree", 2, point.bytes), network).seconds,
                point.fresh_one * (point.one + point.one_combined), 1e-12);
    EXPECT_NEAR(cost_of(made(K::kAllReduce, "ring", 2, 2 * point.bytes), network).seconds,
                point.fresh_both * (point.both + point.both_combined), 1e-12);
  }
}

// What was measured between ranks that wait awake says nothing of ranks that share cores.
TEST(Transfers, OfACalibrationCountWhereEveryRankHasACore) {
  Machine machine = uncalibrated_local_machine();
  machine.cores = 4;
  EXPECT_TRUE(network_of(machine, 4).transfers.empty());
  TransferPoint small, large;
  small.bytes = 64;
  small.one = small.both = 1e-6;
  large.bytes = 1 << 20;
  large.one = large.both = 1e-4;
  machine.transfers = {small, large};
  EXPECT_EQ(network_of(machine, 4).transfers, machine.transfers);
  EXPECT_TRUE(network_of(machine, 5).transfers.empty());
}

TEST(Topology, TwoDirectionsHalveTheTimeOnARingAndNotOnASwitch) {
  const Collective one = made(CollectiveKind::kAllReduce, "ring", 8, 16 << 20);
  const Collective two = made(CollectiveKind::kAllReduce, "bidirectional-ring", 8, 16 << 20);
  Network network;
  network.latency_seconds = 0;
  EXPECT_NEAR(cost_of(two, network).seconds / cost_of(one, network).seconds, 1, 1e-9);
  network.topology = Topology::kRing;
  EXPECT_NEAR(cost_of(two, network).seconds / cost_of(one, network).seconds, 0.5, 1e-9);
}

// Between neighbours of a row there is one link each way; the far ends of a ring of 8 are 4 apart.
TEST(Topology, MessagesPassThroughAndShareLinks) {
  const Collective direct = made(CollectiveKind::kAllToAll, "direct", 8, 8 * 8 * 1000);
  Network network;
  network.latency_seconds = 0;
  network.bytes_per_second = 1e9;
  network.topology = Topology::kRing;
  const CollectiveCost cost = cost_of(direct, network);
  // To the right: distances 1 to 4, to the left 1 to 3; each link carries the sum of distances.
  const double chunk = 8 * 1000;
  EXPECT_NEAR(cost.seconds, (1 + 2 + 3 + 4) * chunk / 1e9, 1e-12);
  EXPECT_EQ(cost.links.size(), 16U);
  EXPECT_EQ(cost.links.front().bytes, 10 * 8000);
  EXPECT_NEAR(cost.links.front().busy, 1, 1e-9);
}

// 2 (g-1)/g S inside and 2 (k-1)/k S/g over the network for each rank, whose node shares one link.
TEST(Topology, HierarchyKeepsMostBytesInsideTheNodes) {
  Network network;
  network.topology = Topology::kTwoLevel;
  network.latency_seconds = network.node_latency_seconds = 0;
  network.bytes_per_second = 400e9;
  network.node_bytes_per_second = 50e9;
  network.node_size = 8;
  const std::int64_t bytes = 64 << 20;
  const auto size = static_cast<double>(bytes);
  const Collective two_level = made(CollectiveKind::kAllReduce, "hierarchical", 32, bytes, 8);
  const double inside = 2 * 7.0 / 8 * size / 400e9, outside = 2 * 3.0 / 4 * size / 50e9;
  EXPECT_NEAR(cost_of(two_level, network).seconds, inside + outside, 1e-12);
  const Collective doubling = made(CollectiveKind::kAllReduce, "recursive-doubling", 32, bytes);
  EXPECT_GT(cost_of(doubling, network).seconds, 5 * (inside + outside));
}

TEST(Topology, TorusUsesRowsAndColumnsAtOnce) {
  Network network;
  network.topology = Topology::kTorus;
  network.latency_seconds = 0;
  network.node_size = 4;
  const std::int64_t bytes = 16 << 20;
  const Collective torus = made(CollectiveKind::kAllReduce, "torus", 16, bytes, 4);
  const Collective ring = made(CollectiveKind::kAllReduce, "ring", 16, bytes);
  EXPECT_NEAR(cost_of(torus, network).seconds,
              static_cast<double>(bytes) * 15 / 16 / network.bytes_per_second, 1e-9);
  EXPECT_LT(cost_of(torus, network).seconds, 0.6 * cost_of(ring, network).seconds);
}

TEST(RankBytes, RingsSendTheLeastPossible) {
  for (const int ranks : {2, 3, 7, 8}) {
    const std::int64_t bytes = 840LL * ranks;
    const RankBytes sent = rank_bytes(made(CollectiveKind::kAllReduce, "ring", ranks, bytes));
    for (const std::int64_t one : sent.sent) EXPECT_EQ(one, 2 * (ranks - 1) * bytes / ranks);
    for (const std::int64_t one : sent.received) EXPECT_EQ(one, 2 * (ranks - 1) * bytes / ranks);
  }
}

// Like for like, the naive all-reduce sends n / 2 times as much as the ring.
TEST(RankBytes, AllPairsSendHalfTheRanksTimesTheRing) {
  const std::int64_t bytes = 8 << 20;
  const RankBytes naive = rank_bytes(made(CollectiveKind::kAllReduce, "direct", 8, bytes));
  const RankBytes ring = rank_bytes(made(CollectiveKind::kAllReduce, "ring", 8, bytes));
  EXPECT_EQ(naive.sent[0], 7 * bytes);
  EXPECT_EQ(naive.sent[0], 4 * ring.sent[0]);
  const RankBytes root = rank_bytes(made(CollectiveKind::kAllReduce, "root", 8, bytes));
  EXPECT_EQ(root.sent[0] + root.received[0], 2 * 7 * bytes);
}

TEST(Crossover, IsWhereBothTakeTheSameTime) {
  CollectiveSpec ring;
  ring.ranks = 8;
  ring.algorithm = "ring";
  CollectiveSpec doubling = ring;
  doubling.algorithm = "recursive-doubling";
  Network network;
  network.latency_seconds = 1e-5;
  network.bytes_per_second = 1e9;
  const auto size = crossover_bytes(ring, doubling, network);
  ASSERT_TRUE(size);
  // 14 α + 1.75 S/B = 3 α + 3 S/B
  EXPECT_NEAR(static_cast<double>(*size), 11e-5 / 1.25 * 1e9, 64);
  EXPECT_FALSE(crossover_bytes(ring, ring, network));
}

}  // namespace
}  // namespace parallelarium
