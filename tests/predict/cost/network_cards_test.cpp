// SPDX-License-Identifier: Apache-2.0
// What nodes share of the network: their cards, what leaves a leaf group, switches that add up.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "engine/predict/cost/simulate.h"
#include "engine/predict/predict.h"
#include "tests/predict/cost/plain_machine.h"

namespace parallelarium {
namespace {

constexpr double kCard = 1e9, kArray = 3.84e9;  // bytes a second of a card; bytes

// Eight devices to a node, whose links are faster than all their cards; nothing else takes time.
Machine of_cards(double nics = 0) {
  Machine plain = machine();
  plain.intra_node = {{0}, {1e12}};
  plain.inter_node = {{0}, {kCard}};
  plain.nics_per_node.value = nics;
  return plain;
}

Machine of_leaves(double nodes, double oversubscription) {
  Machine plain = of_cards();
  plain.nodes_per_leaf.value = nodes;
  plain.oversubscription.value = oversubscription;
  return plain;
}

class OfGroup {
 public:
  OfGroup(const Machine& machine, std::vector<int> ranks, Axis axis = Axis::kDp,
          const char* collectives = "direct") {
    program_.world = 96;
    program_.groups.push_back({axis, std::move(ranks)});
    Setup setup = default_setup();
    setup.mesh = Mesh();
    setup.mesh.dp = 96;
    setup.collectives = collectives;
    cost_.emplace(program_, machine, setup);
  }
  Op collective(CollectiveKind kind) const {
    Op op;
    op.kind = OpKind::kCollective;
    op.collective = kind;
    op.group = 0;
    op.type = DataType::kF32;
    op.bytes = static_cast<std::int64_t>(kArray);
    return op;
  }
  double seconds(CollectiveKind kind) const {
    return cost_->seconds(collective(kind), program_.groups[0].ranks.front());
  }
  // Cards of a node by which a ring goes: what a ring carries each way, over what it takes.
  double cards() const {
    const double n = double(program_.groups[0].ranks.size());
    return 2 * kArray * (n - 1) / n / kCard / seconds(CollectiveKind::kAllReduce);
  }
  LinkSeconds use(CollectiveKind kind) const {
    return cost_->link_seconds(collective(kind), program_.groups[0].ranks.front());
  }
  // Of a message, over what it takes by a card of its own.
  double message(int from, int to) const {
    Op op;
    op.kind = OpKind::kSend;
    op.peer = to;
    op.group = 0;
    op.bytes = static_cast<std::int64_t>(kArray);
    return cost_->seconds(op, from) / (kArray / kCard);
  }

 private:
  Program program_;
  std::optional<CostModel> cost_;
};

// The first `each` ranks of the first `nodes` nodes.
std::vector<int> spread(int nodes, int each) {
  std::vector<int> ranks;
  for (int node = 0; node < nodes; ++node)
    for (int rank = 0; rank < each; ++rank) ranks.push_back(8 * node + rank);
  return ranks;
}

TEST(NetworkCards, AreSharedEvenlyByTheDevicesOfANode) {
  const struct {
    double nics;
    int each;
    double cards;
  } rows[] = {{0, 8, 8},     {0, 3, 3},   {8, 3, 3}, {8, 8, 8},     {4, 8, 4},
              {4, 2, 1},     {4, 3, 1.5}, {3, 8, 3}, {3, 5, 1.875}, {1, 8, 1},
              {1, 1, 0.125}, {16, 8, 8},  {16, 1, 1}};
  for (const auto& row : rows) {
    const OfGroup group(of_cards(row.nics), spread(3, row.each));
    EXPECT_NEAR(group.cards(), row.cards, 1e-6) << row.nics << " cards, " << row.each << " ranks";
  }
  // The node with the fewest ranks is what all wait for.
  EXPECT_NEAR(OfGroup(of_cards(8), {0, 1, 2, 8, 9}).cards(), 2, 1e-6);
  // One ring takes one card, if its part of them is that much.
  EXPECT_NEAR(OfGroup(of_cards(4), spread(2, 8), Axis::kDp, "one-ring").cards(), 1, 1e-6);
  EXPECT_NEAR(OfGroup(of_cards(4), spread(2, 1), Axis::kDp, "one-ring").cards(), 0.5, 1e-6);
}

// Of 24 ranks on 3 nodes each sends 16 of 23 parts to other nodes.
TEST(NetworkCards, CarryMessagesAndSwapsByTheirPart) {
  for (const auto& [nics, part] : {std::pair(8.0, 1.0), {4.0, 0.5}, {2.0, 0.25}, {16.0, 1.0}}) {
    const OfGroup group(of_cards(nics), spread(3, 8));
    EXPECT_NEAR(group.seconds(CollectiveKind::kAllToAll), kArray * 16 / 24 / kCard / part, 1e-3);
    EXPECT_NEAR(group.message(0, 8), 1 / part, 1e-9);
    EXPECT_LT(group.message(0, 1), 0.01) << "within the node";
  }
}

TEST(LeafGroups, LetOutAPartOfTheirCards) {
  const struct {
    double nodes, over;
    std::vector<int> ranks;
    double cards;
  } rows[] = {{1, 4, spread(4, 8), 2},    // every node is a leaf group: a quarter of its cards
              {2, 4, spread(4, 8), 4},    // of 16 cards 4 go out, where a ring would take 8
              {4, 4, spread(8, 8), 8},    // of 32 cards 8 go out: as many as a node's rings take
              {2, 4, spread(2, 8), 8},    // all within one
              {2, 4, spread(4, 1), 0.5},  // two ranks in each
              {2, 4, spread(3, 8), 2},    // the last has one node of it
              {2, 4, {8, 9, 10, 16, 17, 18}, 0.75},  // three ranks on either side of a border
              {3, 7, spread(7, 3), 3.0 / 7},         // 3, 3 and 1 nodes
              {2, 1.5, spread(4, 8), 8},             // 16 cards over 1.5 are more than 8
              {384, 7, spread(12, 8), 8}};
  for (const auto& row : rows) {
    const OfGroup group(of_leaves(row.nodes, row.over), row.ranks);
    EXPECT_NEAR(group.cards(), row.cards, 1e-6) << row.nodes << " nodes, 1:" << row.over;
  }
  // Fewer cards make its way out narrower, too: 8 of two nodes let out 2.
  Machine few = of_leaves(2, 4);
  few.nics_per_node.value = 4;
  EXPECT_NEAR(OfGroup(few, spread(4, 8)).cards(), 2, 1e-6);
}

TEST(LeafGroups, SlowMessagesAndSwapsThatLeaveThem) {
  // Of 32 ranks on four nodes 24 are on other nodes and 16 in the other leaf group.
  const OfGroup tokens(of_leaves(2, 4), spread(4, 8), Axis::kEp);
  EXPECT_NEAR(tokens.seconds(CollectiveKind::kAllToAll), 4 * kArray * 16 / 32 / kCard, 1e-3);
  const OfGroup wide(of_leaves(2, 1.2), spread(4, 8), Axis::kEp);
  EXPECT_NEAR(wide.seconds(CollectiveKind::kAllToAll), kArray * 24 / 32 / kCard, 1e-3);
  // Of stages on four nodes one in two sends out of its leaf group.
  const OfGroup stages(of_leaves(2, 6), spread(4, 1), Axis::kPp);
  EXPECT_NEAR(stages.message(0, 8), 1, 1e-9);
  EXPECT_NEAR(stages.message(8, 16), 3, 1e-9);
  EXPECT_NEAR(stages.message(16, 24), 1, 1e-9);
}

constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter,
                                     CollectiveKind::kAllGather, CollectiveKind::kAllToAll,
                                     CollectiveKind::kBroadcast};

TEST(NetworkCards, MoreAreNeverSlower) {
  for (const double over : {1.0, 4.0})
    for (const int each : {1, 3, 8})
      for (const CollectiveKind kind : kKinds) {
        double before = std::numeric_limits<double>::infinity();
        for (int nics = 1; nics <= 12; ++nics) {
          Machine machine = of_leaves(2, over);
          machine.nics_per_node.value = nics;
          const double seconds = OfGroup(machine, spread(5, each)).seconds(kind);
          EXPECT_LE(seconds, before) << nics << " " << name_of(kind);
          before = seconds;
        }
      }
}

TEST(NetworkReduction, SendsAnArrayOnceWhereARingSendsItAlmostTwice) {
  for (const auto& [nodes, each] : {std::pair(2, 1), {2, 8}, {3, 3}, {12, 8}, {5, 1}}) {
    Machine machine = of_cards();
    const OfGroup ring(machine, spread(nodes, each));
    machine.in_network_reduction = true;
    const OfGroup sharp(machine, spread(nodes, each));
    EXPECT_NEAR(sharp.seconds(CollectiveKind::kAllReduce), kArray / (each * kCard), 1e-6);
    EXPECT_LE(sharp.seconds(CollectiveKind::kAllReduce),
              ring.seconds(CollectiveKind::kAllReduce) * (1 + 1e-12));
    for (const CollectiveKind kind : kKinds)
      if (kind != CollectiveKind::kAllReduce) {
        EXPECT_EQ(sharp.seconds(kind), ring.seconds(kind)) << name_of(kind);
      }
    // What comes back of a reduce-scatter is a node's own part alone.
    const LinkSeconds before = ring.use(CollectiveKind::kReduceScatter);
    const LinkSeconds after = sharp.use(CollectiveKind::kReduceScatter);
    EXPECT_EQ(before.card_in, before.card_out);
    EXPECT_EQ(after.card_out, before.card_out);
    EXPECT_NEAR(after.card_in, kArray / nodes / (each * kCard), 1e-6);
  }
  Machine machine = of_cards();
  const double inside = OfGroup(machine, spread(1, 8)).seconds(CollectiveKind::kAllReduce);
  machine.in_network_reduction = true;
  EXPECT_EQ(OfGroup(machine, spread(1, 8)).seconds(CollectiveKind::kAllReduce), inside)
      << "collective_times has what switches of a node gain";
}

// In a node an array is scattered before and gathered after, by links that may be what is slower.
TEST(NetworkReduction, GoesNoFasterThanANode) {
  Machine machine = of_cards();
  machine.in_network_reduction = true;
  machine.intra_node = {{2e-6}, {4e9}};
  machine.inter_node.latency_seconds.value = 7e-6;
  EXPECT_NEAR(OfGroup(machine, spread(4, 8)).seconds(CollectiveKind::kAllReduce),
              7e-6 + 2 * 2e-6 + 2 * kArray * 7 / 8 / 4e9, 1e-12);
  EXPECT_NEAR(OfGroup(machine, spread(4, 1)).seconds(CollectiveKind::kAllReduce),
              7e-6 + kArray / kCard, 1e-12);
}

// An all-gather beside a reduce-scatter: a card that brings back sums alone has room for it.
TEST(NetworkReduction, LeavesTheWayInToOthers) {
  auto setup = default_setup();
  ASSERT_TRUE(set_fields(setup, {{"model", "llama3-8b"},
                                 {"attention", "fused"},
                                 {"precision", "mixed-16"},
                                 {"pp", "1"},
                                 {"tp", "1"},
                                 {"dp", "32"},
                                 {"zero", "3"},
                                 {"microbatches", "2"}})
                  .ok());
  Machine machine = *find_machine("dgx-h100");
  machine.intra_node.sustained.value = 1;
  machine.inter_node.bytes_per_second.value = 4e9;
  setup.machine = "dgx-h100";
  const auto step = [&] {
    const Result<Prediction> prediction = predict(setup, machine);
    EXPECT_TRUE(prediction.ok()) << prediction.error().text;
    return prediction->step.seconds;
  };
  const double before = step();
  machine.in_network_reduction = true;
  EXPECT_LT(step(), before);
}

// A file without the keys means what they are then, to the last digit.
TEST(NetworkCards, ThatNobodyNamesAreOneForEachDevice) {
  auto setup = default_setup();
  ASSERT_TRUE(set_fields(setup, {{"model", "mixtral-8x7b"},
                                 {"attention", "fused"},
                                 {"precision", "mixed-16"},
                                 {"pp", "2"},
                                 {"tp", "2"},
                                 {"dp", "16"},
                                 {"ep", "8"},
                                 {"microbatches", "8"}})
                  .ok());
  Machine machine = *find_machine("dgx-h100");
  setup.machine = "dgx-h100";
  const Result<Prediction> before = predict(setup, machine);
  ASSERT_TRUE(before.ok()) << before.error().text;
  machine.nics_per_node.value = 8;
  machine.nodes_per_leaf.value = 4;
  const Result<Prediction> after = predict(setup, machine);
  EXPECT_EQ(after->timeline.duration, before->timeline.duration);
  EXPECT_EQ(after->step.seconds, before->step.seconds);
  // And more cards, less of a bottleneck, are never slower for a whole step.
  double slower = std::numeric_limits<double>::infinity();
  for (const double nics : {1, 2, 4, 8, 16}) {
    machine.nics_per_node.value = nics;
    const double seconds = predict(setup, machine)->step.seconds;
    EXPECT_LE(seconds, slower) << nics;
    slower = seconds;
  }
  EXPECT_EQ(slower, before->step.seconds);
}

// Half as many cards of twice the rate are what a rate for each device said.
TEST(NetworkCards, OfANodeThatSharesThemCountOnce) {
  Machine machine = *find_machine("hgx-v100");
  EXPECT_EQ(machine.nics(), 4);
  EXPECT_EQ(machine.inter_node.bytes_per_second.value, 12.5e9);
  auto setup = default_setup();
  ASSERT_TRUE(
      set_fields(setup, {{"model", "gpt2-124m"}, {"pp", "2"}, {"dp", "16"}, {"microbatches", "4"}})
          .ok());
  setup.machine = "hgx-v100";
  const Result<Prediction> shared = predict(setup, machine);
  ASSERT_TRUE(shared.ok()) << shared.error().text;
  machine.nics_per_node.value = 0;
  machine.inter_node.bytes_per_second.value = 6.25e9;
  EXPECT_EQ(predict(setup, machine)->step.seconds, shared->step.seconds);
}

}  // namespace
}  // namespace parallelarium
