// SPDX-License-Identifier: Apache-2.0
// Rehearsals keep the time that the prediction says, and only if the program that runs is the one
// that was predicted.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <thread>

#include "engine/plan/model/balance.h"
#include "engine/plan/text/describe_op.h"
#include "engine/run/cores.h"
#include "tests/ranks/paced_run.h"

namespace parallelarium {
namespace {

Machine slow_link() {
  Machine machine = uncalibrated_local_machine();
  machine.intra_node = {{20e-6}, {1e8}};
  machine.inter_node = machine.intra_node;
  return machine;
}

// A sanitizer makes real work many times longer than modelled.
bool keeps_time() {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return false;
#else
  return true;
#endif
}

// The factor holds how much longer the step took, and how much of computing waiting took the place
// of: with both f times off, a bubble is at most 1 - 1/f² larger.
void expect_to_own_up(const PacedRun& run) {
  const double factor = run.observed.observation.delay_factor;
  EXPECT_GE(factor, 0.98 * run.observed.observation.step.seconds / run.predicted.step.seconds);
  EXPECT_LE(-run.bubble_error(), 1 - 1 / (factor * factor) + 0.01) << factor;
}

TEST(Paced, StepTimeAndBubbleAreAsPredicted) {
  if (!keeps_time()) GTEST_SKIP() << "sanitizers are too slow to keep time";
  std::vector<double> steps, bubbles;
  for (const PacedCase& one :
       {PacedCase{4, 1, 4, "1f1b"}, PacedCase{2, 2, 3, "gpipe"}, PacedCase{4, 1, 3, "naive"},
        PacedCase{1, 2, 2, "1f1b"}, PacedCase{4, 2, 2, "1f1b"}}) {
    const Result<PacedRun> run = run_paced(paced_setup(one), slow_link());
    ASSERT_TRUE(run.ok()) << run.error().text;
    EXPECT_EQ(run->observed.observation.source, Source::kPaced);
    steps.push_back(std::abs(run->step_error()));
    bubbles.push_back(std::abs(run->bubble_error()));
    EXPECT_GE(run->observed.observation.step.seconds, 0.99 * run->predicted.step.seconds)
        << "a rehearsal is never faster than its durations";
    expect_to_own_up(*run);
  }
  std::sort(steps.begin(), steps.end());
  std::sort(bubbles.begin(), bubbles.end());
  EXPECT_LE(steps[2], 0.03);
  EXPECT_LE(bubbles[2], 0.02);
}

// Threads that keep the cores while this lives.
class Crowd {
 public:
  explicit Crowd(int of_each_core) {
    const auto cores = static_cast<int>(available_cores().size());
    for (int thread = 0; thread < of_each_core * cores; ++thread)
      threads_.emplace_back([this] {
        while (!done_.load(std::memory_order_relaxed)) {
        }
      });
  }
  ~Crowd() {
    done_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

 private:
  std::atomic<bool> done_{false};
  std::vector<std::thread> threads_;
};

// Its ranks sleep most of the time, so that a crowd seldom holds them up; how far is the
// scheduler's affair.
TEST(Paced, ACrowdedRunSaysThatItCameLate) {
  Result<PacedRun> run = [] {
    const Crowd crowd(24);
    return run_paced(paced_setup({4, 1, 4, "1f1b"}), slow_link());
  }();
  ASSERT_TRUE(run.ok()) << run.error().text;
  expect_to_own_up(*run);
  Observation& observation = run->observed.observation;
  EXPECT_EQ(delay_of(observation).has_value(), observation.delay_factor > 1.05);
  observation.delay_factor = 1.3;
  const std::optional<Message> delay = delay_of(observation);
  ASSERT_TRUE(delay);
  EXPECT_NE(delay->text.find("off by a factor of 1.3"), std::string::npos) << delay->text;
  observation.delay_factor = 1.01;
  EXPECT_FALSE(delay_of(observation));
}

TEST(Measured, ACrowdedRunSaysThatItsCoresWereKept) {
  parallelarium::Setup setup = paced_setup({1, 1, 4, "1f1b"});
  setup.model.sequence = 128;
  setup.model.hidden = 128;
  setup.model.ffn = 512;
  setup.run.backend = Backend::kCpu;
  const auto run = [&] {
    return parallelarium::run(setup, built(setup), {Backend::kCpu, Source::kMeasured, {}}, {});
  };
  Result<RunResult> crowded = [&] {
    const Crowd crowd(6);  // enough: its rank never sleeps
    return run();
  }();
  ASSERT_TRUE(crowded.ok()) << crowded.error().text;
  const std::optional<Message> delay = delay_of(crowded->observation);
  ASSERT_TRUE(delay) << crowded->observation.delay_factor;
  EXPECT_EQ(delay->id, "cores-busy");
  // A step on cores of its own waits for nobody.
  crowded->observation.delay_factor = 1.01;
  EXPECT_FALSE(delay_of(crowded->observation));
}

// Experts take time by the rows that they have in the step: the fuller the fullest rank, the longer
// the step, and the prediction by the routing that the run reports keeps what the one of even
// routing cannot.
TEST(Paced, ExpertsTakeTheTimeOfTheirRows) {
  if (!keeps_time()) GTEST_SKIP() << "sanitizers are too slow to keep time";
  double last = 0;
  std::int64_t last_rows = 0;
  for (const char* skew : {"0", "0.5", "1"}) {
    parallelarium::Setup setup = paced_setup({1, 4, 2, "1f1b"});
    for (const auto& [field, value] : {std::pair{"experts", "8"},
                                       {"top-k", "1"},
                                       {"expert-ffn", "128"},
                                       {"ep", "4"},
                                       {"layers", "4"},
                                       {"skew", skew}})
      ASSERT_TRUE(set_field(setup, field, value).ok()) << field;
    const Result<PacedRun> run = run_paced(setup, slow_link());
    ASSERT_TRUE(run.ok()) << run.error().text;
    const Observation& seen = run->observed.observation;
    const Result<Prediction> routed = predict(setup, slow_link(), true, routing_of_timeline(seen));
    ASSERT_TRUE(routed.ok()) << routed.error().text;
    EXPECT_NEAR(routed->step.seconds / seen.step.seconds, 1, 0.05) << skew;
    // Rows of the fullest rank, summed over layers and micro-batches: everybody waits for those.
    std::int64_t rows = 0;
    for (int layer = 0; layer < setup.model.layers; ++layer)
      for (int microbatch = 0; microbatch < setup.microbatches; ++microbatch) {
        const Result<RoutedLayer> exchange =
            route_layer(setup, layer, microbatch, 0, routing_of_timeline(seen));
        ASSERT_TRUE(exchange.ok()) << exchange.error().text;
        const std::vector<std::int64_t> of_ranks = tokens_of_ranks(*exchange);
        rows += *std::max_element(of_ranks.begin(), of_ranks.end());
      }
    EXPECT_GT(rows, last_rows) << skew;
    EXPECT_GT(seen.step.seconds, last) << skew;
    last = seen.step.seconds;
    last_rows = rows;
  }
}

// The same program, but built from another order.
TEST(Paced, AnotherOrderThanPredictedMisses) {
  const parallelarium::Setup setup = paced_setup({4, 1, 4, "1f1b"});
  parallelarium::Setup other = setup;
  other.schedule = "naive";
  const Program executed = built(other);
  const Result<PacedRun> run = run_paced(setup, slow_link(), &executed);
  ASSERT_TRUE(run.ok()) << run.error().text;
  EXPECT_GT(std::abs(run->step_error()), 0.05);
}

Program without(const Program& whole, std::size_t rank, std::size_t op, std::int32_t edge) {
  Program mutated = whole;
  RankProgram& changed = mutated.ranks[rank];
  Op& of = changed.ops[op];
  auto* edges = changed.after.data() + of.after_first;
  edges[edge] = edges[of.after_count - 1];
  --of.after_count;
  return mutated;
}

// For every op the latest op of each lane that has ended when it begins.
using EndedBefore = std::array<std::int32_t, kLanes>;
std::vector<EndedBefore> ended_before(const RankProgram& rank) {
  std::vector<EndedBefore> ended(rank.ops.size(), EndedBefore{-1, -1, -1});
  EndedBefore last = {-1, -1, -1};
  for (std::size_t i = 0; i < rank.ops.size(); ++i) {
    const auto include = [&](std::int32_t earlier) {
      if (earlier < 0) return;
      EndedBefore theirs = ended[static_cast<std::size_t>(earlier)];
      auto& own =
          theirs[static_cast<std::size_t>(rank.ops[static_cast<std::size_t>(earlier)].lane)];
      own = std::max(own, earlier);
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        ended[i][lane] = std::max(ended[i][lane], theirs[lane]);
    };
    const auto lane = static_cast<std::size_t>(rank.ops[i].lane);
    include(last[lane]);
    for (const std::int32_t earlier : rank.after_of(rank.ops[i])) include(earlier);
    last[lane] = static_cast<std::int32_t>(i);
  }
  return ended;
}

// Every single `after` edge that says what the others do not is needed: without it two lanes touch
// the same memory in no fixed order.
TEST(Mutation, DroppedEdgeIsRefused) {
  const Program whole = built(paced_setup({4, 2, 3, "1f1b"}));
  ASSERT_TRUE(check(whole).empty());
  int dropped = 0;
  for (std::size_t rank = 0; rank < whole.ranks.size(); ++rank) {
    const std::vector<EndedBefore> order = ended_before(whole.ranks[rank]);
    for (std::size_t i = 0; i < whole.ranks[rank].ops.size(); ++i) {
      for (std::int32_t edge = 0; edge < whole.ranks[rank].ops[i].after_count; ++edge) {
        const Program mutated = without(whole, rank, i, edge);
        if (ended_before(mutated.ranks[rank]) == order) continue;  // others say the same
        ++dropped;
        EXPECT_FALSE(check(mutated).empty())
            << "rank " << rank << ": " << describe(whole.ranks[rank].ops[i]).text;
      }
    }
  }
  EXPECT_GT(dropped, 50);
}

TEST(Mutation, DroppedTransferIsRefused) {
  const parallelarium::Setup setup = paced_setup({4, 1, 2, "1f1b"});
  const Program whole = built(setup);
  int dropped = 0;
  for (std::size_t rank = 0; rank < whole.ranks.size(); ++rank) {
    for (std::size_t i = 0; i < whole.ranks[rank].ops.size(); ++i) {
      if (whole.ranks[rank].ops[i].kind == OpKind::kCompute) continue;
      Program mutated = whole;
      Op& op = mutated.ranks[rank].ops[i];
      op.kind = OpKind::kCompute;  // does something else instead
      op.piece = Piece::kResidual1;
      op.operand_count = 0;
      EXPECT_FALSE(check(mutated).empty()) << describe(whole.ranks[rank].ops[i]).text;
      ++dropped;
    }
  }
  EXPECT_GT(dropped, 10);
}

// The longer the stretch, the longer the clock, and nothing else.
TEST(Paced, TimesAreTheMachinesWhateverTheStretch) {
  if (!keeps_time()) GTEST_SKIP() << "sanitizers are too slow to keep time";
  parallelarium::Setup setup = paced_setup({2, 1, 3, "gpipe"});
  const Result<PacedRun> least = run_paced(setup, slow_link());
  ASSERT_TRUE(least.ok()) << least.error().text;
  setup.run.stretch = 3 * least->observed.observation.stretch;
  const Result<PacedRun> more = run_paced(setup, slow_link());
  ASSERT_TRUE(more.ok()) << more.error().text;
  const Observation &quick = least->observed.observation, &slow = more->observed.observation;
  EXPECT_GE(slow.stretch, 3 * quick.stretch);
  EXPECT_NEAR(slow.step.seconds / quick.step.seconds, 1, 0.1);
  EXPECT_EQ(slow.losses, quick.losses);
  EXPECT_EQ(slow.wall_seconds, 0);
}

TEST(Paced, RealWorkThatFillsTheCoresIsGivenRoom) {
  const parallelarium::Setup setup = paced_setup({4, 1, 4, "1f1b"});
  Result<Prediction> predicted = predict(setup, slow_link(), true);
  ASSERT_TRUE(predicted.ok()) << predicted.error().text;
  RunControl control;
  control.modelled = modelled_durations(*predicted);
  control.stretch = 1;
  const Result<RunResult> run =
      parallelarium::run(setup, predicted->program, {Backend::kPaced, Source::kPaced, {}}, control);
  ASSERT_TRUE(run.ok()) << run.error().text;
  EXPECT_GT(run->observation.stretch, 1);
  EXPECT_EQ(run->observation.losses.size(), 4u) << "it began again from step 0";
}

}  // namespace
}  // namespace parallelarium
