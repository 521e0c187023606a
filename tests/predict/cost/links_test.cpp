// SPDX-License-Identifier: Apache-2.0
// Links that several messages use at the same time.
#include "engine/predict/cost/links.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/predict/predict.h"
#include "engine/predict/rehearsal.h"
#include "tests/predict/built.h"
#include "tests/predict/cost/plain_machine.h"
#include "tests/predict/program/tiny_program.h"

namespace parallelarium {
namespace {

using Times = std::pair<long, long>;
Times times_of(const Timeline& timeline, int rank, int op) {
  const Span span =
      timeline.ranks[static_cast<std::size_t>(rank)].spans[static_cast<std::size_t>(op)];
  return {span.begin.count(), span.end.count()};
}

// Two ranks that compute for 10, then send 40 beside a sum of 100.
struct SumBesideMessage {
  TinyProgram tiny{2};
  LinkDemand links;
  int sum = 0, message = 0;
  SumBesideMessage(const LinkShares& of_sum, float of_message) {
    for (const int rank : {0, 1}) {
      sum = tiny.collective(rank, 100);
      const int first = tiny.compute(rank, 10);
      message = rank == 0 ? tiny.send(0, 1, 40, {first}) : tiny.recv(1, 0, 40, {first});
      const bool sends = rank == 0;
      links.insert(links.end(),
                   {of_sum, {}, {0, 0, sends ? of_message : 0, sends ? 0 : of_message}});
    }
  }
  Timeline timeline() const {
    return simulate(tiny.program, tiny.durations, Sharing::kNone, 1, links);
  }
};

// Both would fill the card: from 10 on each has half of it, so that the message ends at 90. By then
// the sum has done 10 + 40 of its 100.
TEST(SharedLinks, AreHalvedForTwoThatFillThem) {
  const SumBesideMessage two({0, 0, 1, 1}, 1);
  const Timeline timeline = two.timeline();
  for (const int rank : {0, 1}) {
    EXPECT_EQ(times_of(timeline, rank, two.message), Times(10, 90));
    EXPECT_EQ(times_of(timeline, rank, two.sum), Times(0, 140));
    const auto& slowed = timeline.ranks[static_cast<std::size_t>(rank)].slowed;
    ASSERT_EQ(slowed.size(), 2u);
    EXPECT_EQ(slowed[0].op, two.message);
    EXPECT_EQ(slowed[0].by.count(), 40);
    EXPECT_EQ(slowed[1].op, two.sum);
    EXPECT_EQ(slowed[1].by.count(), 40);
  }
  EXPECT_EQ(timeline.duration.count(), 140);
}

// Together they ask for one and a half of the card: each goes on at two thirds of its speed.
TEST(SharedLinks, GoOnAtThePartThatFits) {
  const SumBesideMessage two({0, 0, 1, 1}, 0.5);
  const Timeline timeline = two.timeline();
  EXPECT_EQ(times_of(timeline, 0, two.message), Times(10, 70));
  EXPECT_EQ(times_of(timeline, 0, two.sum), Times(0, 120));
}

TEST(SharedLinks, SlowNothingThatFitsOrGoesAnotherWay) {
  for (const LinkShares& of_sum :
       {LinkShares{0, 0, 0.5, 0.5}, LinkShares{1, 1, 0, 0}, LinkShares{}}) {
    const SumBesideMessage two(of_sum, 0.5);
    const Timeline timeline = two.timeline();
    EXPECT_EQ(times_of(timeline, 0, two.message), Times(10, 50));
    EXPECT_EQ(times_of(timeline, 0, two.sum), Times(0, 100));
    EXPECT_TRUE(timeline.ranks[0].slowed.empty());
  }
}

// What goes out meets nothing that comes in.
TEST(SharedLinks, CarryAsMuchOutAsIn) {
  TinyProgram tiny(2);
  LinkDemand links;
  for (const int rank : {0, 1}) {
    tiny.send(rank, 1 - rank, 10, {}, 0);
    tiny.recv(rank, 1 - rank, 10, {}, 0);
    links.insert(links.end(), {{0, 0, 1, 0}, {0, 0, 0, 1}});
  }
  const Timeline timeline = simulate(tiny.program, tiny.durations, Sharing::kNone, 1, links);
  EXPECT_EQ(timeline.duration.count(), 10);
}

// The least time in which a rank's card can bring what its ops send: all bytes that leave the node
// over its rate. Ops that follow one another or overlap without a gap take at least that.
void expect_cards_to_bring_it(const Prediction& prediction) {
  const CostModel cost(prediction.program, prediction.machine, prediction.setup);
  for (std::size_t rank = 0; rank < prediction.program.ranks.size(); ++rank) {
    const RankProgram& ranked = prediction.program.ranks[rank];
    struct Use {
      std::int64_t begin, end;
      double busy;
    };
    std::vector<Use> uses;
    for (std::size_t at = 0; at < ranked.ops.size(); ++at) {
      const Op& op = ranked.ops[at];
      if (op.kind == OpKind::kRecv || op.lane == Lane::kCompute) continue;
      const double busy = cost.link_seconds(op, ranked.rank).card_out * 1e9;
      const Span& span = prediction.timeline.ranks[rank].spans[at];
      if (busy > 0) uses.push_back({span.begin.count(), span.end.count(), busy});
    }
    std::sort(uses.begin(), uses.end(),
              [](const Use& a, const Use& b) { return a.begin < b.begin; });
    for (std::size_t first = 0, next = 0; first < uses.size(); first = next) {
      std::int64_t end = uses[first].end;
      double busy = 0;
      for (next = first; next < uses.size() && uses[next].begin <= end; ++next) {
        end = std::max(end, uses[next].end);
        busy += uses[next].busy;
      }
      EXPECT_LE(busy, static_cast<double>(end - uses[first].begin) * (1 + 1e-4) + 10) << rank;
    }
  }
}

// Stages of a node each and their replicas: gradients are added up over the cards that the last
// micro-batches' messages take, too.
parallelarium::Setup stages_and_replicas() {
  parallelarium::Setup setup = default_setup();
  setup.model = *find_model("llama3-8b");
  setup.model.layers = 8;
  setup.machine = "dgx-h100";
  setup.mesh = {};
  setup.mesh.tp = 8;
  setup.mesh.pp = 4;
  setup.mesh.dp = 4;
  setup.zero = 2;  // reduced with every micro-batch
  setup.microbatches = 8;
  setup.precision = *find_precision("mixed-16");
  setup.attention = Attention::kFused;
  return setup;
}

TEST(SharedLinks, AreNeverAskedForMoreThanTheyBring) {
  const parallelarium::Setup setup = stages_and_replicas();
  const Machine machine = *find_machine("dgx-h100");
  const auto prediction = predict(setup, machine);
  ASSERT_TRUE(prediction.ok()) << prediction.error().text;
  expect_cards_to_bring_it(*prediction);
  const LinkSharing sharing = link_sharing(*prediction);
  EXPECT_GT(sharing.seconds, 0);
  double sum = 0;
  for (const LinkSharing::Slowed& each : sharing.slowed) sum += each.seconds;
  EXPECT_NEAR(sum, sharing.seconds, 1e-9);
  const auto json = to_json(*prediction).at("link_sharing");
  EXPECT_EQ(json.at("seconds"), sharing.seconds);
  EXPECT_EQ(json.at("slowed").size(), sharing.slowed.size());
}

// Each op takes as long as alone or longer, and so does the step.
TEST(SharedLinks, OnlySlow) {
  const parallelarium::Setup setup = stages_and_replicas();
  const auto prediction = predict(setup, *find_machine("dgx-h100"));
  ASSERT_TRUE(prediction.ok()) << prediction.error().text;
  const CostModel cost(prediction->program, prediction->machine, setup);
  std::vector<std::vector<Nanoseconds>> alone;
  for (const RankProgram& rank : prediction->program.ranks) {
    std::vector<Nanoseconds>& durations = alone.emplace_back();
    for (const Op& op : rank.ops) durations.emplace_back(cost.nanoseconds(op, rank.rank));
  }
  const Timeline without = simulate(prediction->program, alone);
  for (std::size_t rank = 0; rank < alone.size(); ++rank)
    for (std::size_t at = 0; at < alone[rank].size(); ++at)
      ASSERT_GE(prediction->timeline.ranks[rank].spans[at].end, without.ranks[rank].spans[at].end);
  EXPECT_GT(prediction->timeline.duration, without.duration);
}

// Where links alone are shared, computing needs no event of the walk, since its end is known. With
// a slowdown of one by communication nothing is slower, but everything is an event.
TEST(SharedLinks, LeaveTheTimesOfWhatAsksForNone) {
  std::mt19937 random(5);
  int slowed = 0;
  for (int trial = 0; trial < 12; ++trial) {
    parallelarium::Setup setup = stages_and_replicas();
    setup.mesh.tp = 2;
    setup.mesh.cp = trial % 3 == 0 ? 2 : 1;
    setup.zero = trial % 4;
    setup.schedule = Schedule(trial % 2 == 0 ? "1f1b" : "zb-h1");
    const auto prediction = predict(setup, *find_machine("dgx-h100"));
    ASSERT_TRUE(prediction.ok()) << prediction.error().text;
    const Program& program = prediction->program;
    const CostModel cost(program, prediction->machine, setup);
    std::vector<std::vector<Nanoseconds>> durations;
    LinkDemand links;
    for (const RankProgram& rank : program.ranks) {
      std::vector<Nanoseconds>& own = durations.emplace_back();
      for (const Op& op : rank.ops) {
        own.emplace_back(cost.nanoseconds(op, rank.rank));
        const float share = std::array{0.0F, 0.25F, 0.5F, 1.0F}[random() % 4];
        links.push_back(op.lane == Lane::kCompute ? LinkShares{} : LinkShares{0, 0, share, share});
      }
    }
    const Timeline known = simulate(program, durations, Sharing::kNone, 1, links);
    const Timeline events = simulate(program, durations, Sharing::kOverlap, 1, links);
    ASSERT_EQ(known.duration, events.duration);
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
      slowed += static_cast<int>(known.ranks[rank].slowed.size());
      EXPECT_EQ(known.ranks[rank].slowed.size(), events.ranks[rank].slowed.size());
      for (std::size_t at = 0; at < program.ranks[rank].ops.size(); ++at) {
        const Span &a = known.ranks[rank].spans[at], &b = events.ranks[rank].spans[at];
        ASSERT_EQ(std::pair(a.begin, a.end), std::pair(b.begin, b.end)) << rank << " " << at;
      }
    }
  }
  EXPECT_GT(slowed, 1000);
}

// What is asked whether a Timeline without waiting for links is enough hears its duration.
TEST(SharedLinks, AreNotSharedOutWhereLessIsEnough) {
  const parallelarium::Setup setup = stages_and_replicas();
  const auto prediction = predict(setup, *find_machine("dgx-h100"));
  ASSERT_TRUE(prediction.ok()) << prediction.error().text;
  const CostModel cost(prediction->program, prediction->machine, setup);
  for (const bool is_enough : {false, true}) {
    Nanoseconds heard{0};
    const Timeline timeline = simulate(prediction->program, cost, [&](Nanoseconds at_least) {
      heard = at_least;
      return is_enough;
    });
    EXPECT_GT(heard.count(), 0);
    EXPECT_LT(heard, prediction->timeline.duration);
    EXPECT_EQ(timeline.duration, is_enough ? heard : prediction->timeline.duration);
  }
}

// A rehearsal sets the longer durations, and so takes as long as the prediction.
TEST(SharedLinks, AreInWhatARehearsalSets) {
  const auto prediction = predict(stages_and_replicas(), *find_machine("dgx-h100"));
  ASSERT_TRUE(prediction.ok()) << prediction.error().text;
  const Timeline set = simulate(prediction->program, modelled_durations(*prediction));
  const auto predicted = static_cast<double>(prediction->timeline.duration.count());
  EXPECT_NEAR(static_cast<double>(set.duration.count()) / predicted, 1, 1e-6);
}

// By hand: replicas share a node of two, and stages do not. An all-reduce of two sends its bytes
// once each.
TEST(SharedLinks, AreUsedByWhatPasses) {
  Machine plain = machine();
  plain.devices_per_node = 2;
  const parallelarium::Setup setup = small_setup("1f1b", 2, 2, 2);
  const Program program = built(setup);
  const CostModel cost(program, plain, setup);
  int sends = 0, sums = 0;
  for (const Op& op : program.ranks.front().ops) {
    const LinkSeconds use = cost.link_seconds(op, 0);
    const auto bytes = static_cast<double>(op.bytes);
    if (op.kind == OpKind::kCompute) {
      EXPECT_EQ(use.card_out + use.card_in + use.inside, 0);
    } else if (op.kind == OpKind::kSend) {
      EXPECT_NEAR(use.card_out, bytes / 1e9, 1e-12);
      EXPECT_EQ(use.inside, 0);
      ++sends;
    } else if (op.purpose == Purpose::kGradients && op.kind == OpKind::kCollective) {
      EXPECT_NEAR(use.inside, bytes / 1e10, 1e-9);
      EXPECT_EQ(use.card_out + use.card_in, 0);
      ++sums;
    }
  }
  EXPECT_GT(sends, 0);
  EXPECT_GT(sums, 0);
}

}  // namespace
}  // namespace parallelarium
