// SPDX-License-Identifier: Apache-2.0
// An order that waits for ever is built and run on purpose: it hangs on real ranks exactly where
// the order says, and each rank says in what and for whom.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/plan/order/order_faults.h"
#include "engine/plan/order/order_graph.h"
#include "engine/plan/text/describe_op.h"
#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

using RunSetup = parallelarium::Setup;

struct Hung {
  Message why;
  std::vector<StuckRank> ranks;
  double seconds = 0;
};

Hung hang(const RunSetup& setup, Backend backend = Backend::kCpu) {
  Hung hung;
  const Result<Order> order = make_order(setup, true);
  EXPECT_TRUE(order.ok()) << order.error().text;
  if (!order) return hung;
  const Result<Program> program =
      build_program(setup, *order, {.all_ranks = true, .may_wait = true});
  EXPECT_TRUE(program.ok()) << program.error().text;
  if (!program) return hung;
  RunControl control;
  control.hang_timeout_seconds = 0.3;
  control.hung = [&](std::vector<StuckRank> ranks) { hung.ranks = std::move(ranks); };
  for (const RankProgram& rank : program->ranks)
    control.modelled.emplace_back(rank.ops.size(), std::chrono::microseconds{50});
  const BackendChoice choice{
      backend, backend == Backend::kPaced ? Source::kPaced : Source::kOversubscribed, {}};
  const TimePoint begin = Clock::now();
  const Result<RunResult> result = launch(setup, *program, choice, control, {}, {});
  hung.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  EXPECT_FALSE(result.ok());
  if (!result) hung.why = result.error();
  return hung;
}

RunSetup with_order(const std::string& words, std::vector<std::string> lines) {
  RunSetup setup = small_model(words);
  const Result<Schedule> schedule = Schedule::own("mine", std::move(lines));
  EXPECT_TRUE(schedule.ok()) << schedule.error().text;
  setup.schedule = *schedule;
  setup.chunks = schedule->order()->chunks;
  setup.microbatches = schedule->order()->microbatches;
  return setup;
}

TEST(LetItHang, RanksThatWaitInACircleNameEachOther) {
  // Rank 0 wants B0 back before it sends F1; rank 1 wants F1 before it does B0.
  const RunSetup setup = with_order("pp=2", {"F0 B0 F1 B1", "F0 F1 B0 B1"});
  EXPECT_FALSE(make_order(setup).ok());
  for (const Backend backend : {Backend::kCpu, Backend::kPaced}) {
    const Hung hung = hang(setup, backend);
    EXPECT_EQ(hung.why.kind, "hang") << hung.why.text;
    ASSERT_EQ(hung.ranks.size(), 2u);
    EXPECT_EQ(hung.ranks[0].waits_in.text, "receiving gradients of micro-batch 0 from rank 1");
    EXPECT_EQ(hung.ranks[0].for_rank, 1);
    EXPECT_EQ(hung.ranks[0].needs.text, "sending gradients of micro-batch 0 to rank 0");
    EXPECT_EQ(hung.ranks[1].waits_in.text, "receiving activations of micro-batch 1 from rank 0");
    EXPECT_EQ(hung.ranks[1].for_rank, 0);
    EXPECT_EQ(hung.ranks[1].needs.text, "sending activations of micro-batch 1 to rank 1");
    EXPECT_EQ(hung.ranks[0].sentence.text,
              "Rank 0 waits in receiving gradients of micro-batch 0 from rank 1 until rank 1 comes "
              "to sending gradients of micro-batch 0 to rank 0; that one stands at receiving "
              "activations of micro-batch 1 from rank 0.");
    EXPECT_LT(hung.seconds, 3);
  }
}

TEST(LetItHang, ARankThatWaitsForItsOwnLaterWorkSaysSo) {
  const Hung hung = hang(with_order("pp=2", {"F0 F1 B0 B1", "B0 F0 F1 B1"}));
  EXPECT_EQ(hung.why.kind, "hang") << hung.why.text;
  ASSERT_EQ(hung.ranks.size(), 2u);
  EXPECT_EQ(hung.ranks[1].for_rank, 1);
  EXPECT_NE(hung.ranks[1].waits_in.text.find("of micro-batch 0"), std::string::npos);
  EXPECT_NE(hung.ranks[1].needs.text.find("(forward) of micro-batch 0"), std::string::npos)
      << hung.ranks[1].needs.text;
  EXPECT_NE(hung.ranks[1].sentence.text.find("stands behind it"), std::string::npos);
  // Rank 0 has done its forwards, and waits for the first gradient.
  EXPECT_EQ(hung.ranks[0].waits_in.text, "receiving gradients of micro-batch 0 from rank 1");
}

TEST(LetItHang, AWeightGradientBeforeItsInputGradientWaits) {
  const Hung hung = hang(with_order("pp=2", {"F0 I0 W0", "F0 W0 I0"}));
  ASSERT_EQ(hung.ranks.size(), 2u);
  EXPECT_EQ(hung.ranks[1].for_rank, 1);
  EXPECT_EQ(hung.ranks[0].for_rank, 1);
}

TEST(LetItHang, OneRankAloneCan) {
  const Hung hung = hang(with_order("pp=1", {"B0 F0"}));
  ASSERT_EQ(hung.ranks.size(), 1u);
  EXPECT_EQ(hung.ranks[0].for_rank, 0);
}

TEST(LetItHang, EveryReplicaHangsAlike) {
  for (const char* words :
       {"pp=2 dp=2", "pp=2 tp=2", "pp=2 dp=2 zero=3", "pp=2 overlap-pipeline=false"}) {
    const RunSetup setup = with_order(words, {"F0 B0 F1 B1", "F0 F1 B0 B1"});
    const Hung hung = hang(setup);
    EXPECT_EQ(hung.why.kind, "hang") << hung.why.text;
    ASSERT_EQ(hung.ranks.size(), static_cast<std::size_t>(setup.mesh.ranks())) << words;
    for (const StuckRank& rank : hung.ranks) {
      const Coordinates at = coordinates_of(setup.mesh, rank.rank);
      Coordinates other = at;
      other.pp = 1 - at.pp;
      EXPECT_EQ(rank.for_rank, rank_of(setup.mesh, other)) << words << " rank " << rank.rank;
    }
  }
}

// Random legal orders, with two actions of one rank exchanged: what only waits hangs where the
// order's own walk stands still, and every rank can say for whom.
TEST(LetItHang, AnyOrderThatOnlyWaitsHangsWhereItsWalkStands) {
  std::mt19937 random(7);
  int hung_orders = 0, own = 0;
  for (int tried = 0; hung_orders < 12 && tried < 2000; ++tried) {
    const char* schedule = tried % 3 == 0 ? "zb-h1" : tried % 3 == 1 ? "interleaved" : "1f1b";
    const int chunks = tried % 3 == 1 ? 2 : 1;
    Order order = *make_order(schedule, 2, 4, chunks);
    auto& line = order.ranks[random() % 2];
    std::swap(line[random() % line.size()], line[random() % line.size()]);
    if (check_order(order).empty() || !only_waits(order)) continue;
    ++hung_orders;
    const RunSetup setup = with_order("pp=2 layers=4", to_lines(order));
    const std::vector<int> walked = OrderGraph(order).walk([](int, int, int) {});
    const Hung hung = hang(setup);
    EXPECT_EQ(hung.why.kind, "hang") << to_text(order) << hung.why.text;
    ASSERT_EQ(hung.ranks.size(), 2u) << to_text(order);
    bool stuck = false;
    for (const StuckRank& rank : hung.ranks) {
      stuck = true;
      EXPECT_GE(rank.for_rank, 0) << to_text(order) << rank.sentence.text;
      own += rank.for_rank == rank.rank ? 1 : 0;
    }
    EXPECT_TRUE(stuck);
    EXPECT_EQ(walked.size(), 2u);
  }
  EXPECT_EQ(hung_orders, 12);
  EXPECT_GT(own, 0);
}

TEST(LetItHang, AnOrderThatLacksOrDoublesWorkIsStillRefused) {
  for (const std::vector<std::string>& lines :
       {std::vector<std::string>{"F0 B0 F1 B1", "F0 F1 B0"}, {"F0 B0 B0", "F0 B0"}}) {
    RunSetup setup = small_model("pp=2");
    const Result<Schedule> schedule = Schedule::own("mine", lines);
    ASSERT_TRUE(schedule.ok());
    setup.schedule = *schedule;
    setup.microbatches = schedule->order()->microbatches;
    EXPECT_FALSE(make_order(setup, true).ok());
  }
}

TEST(LetItHang, ALegalOrderEndsByItself) {
  const RunSetup setup = small_model("pp=2 microbatches=3");
  RunControl control;
  control.hang_timeout_seconds = 5;
  bool hung = false;
  control.hung = [&](const std::vector<StuckRank>&) { hung = true; };
  const Result<Order> order = make_order(setup, true);
  const Result<Program> program =
      build_program(setup, *order, {.all_ranks = true, .may_wait = true});
  ASSERT_TRUE(program.ok());
  const Result<RunResult> waited = run_now(setup, *program, {}, {}, control);
  ASSERT_TRUE(waited.ok()) << waited.error().text;
  EXPECT_FALSE(hung);
  EXPECT_EQ(waited->observation.losses, run_now(setup, built(setup))->observation.losses);
}

TEST(LetItHang, CollectivesByStepsAreRefused) {
  RunSetup setup = with_order("pp=2 dp=2", {"F0 B0 F1 B1", "F0 F1 B0 B1"});
  setup.collectives = "ring";
  const Result<Program> program =
      build_program(setup, *make_order(setup, true), {.all_ranks = true, .may_wait = true});
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().field, "collectives");
}

}  // namespace
}  // namespace parallelarium
