// SPDX-License-Identifier: Apache-2.0
// A rank that is slow on purpose, predicted: closed forms of what waits for it.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/predict/action_seconds.h"
#include "engine/predict/predict.h"
#include "engine/predict/rehearsal.h"
#include "engine/schedules/schedule.h"
#include "engine/schedules/timing.h"

namespace parallelarium {
namespace {

Prediction on_a100s(const Setup& setup, bool all_ranks = true) {
  Result<Prediction> prediction = predict(setup, *find_machine("dgx-a100-80g"), all_ranks);
  EXPECT_TRUE(prediction.ok()) << (prediction.ok() ? "" : prediction.error().text);
  return std::move(*prediction);
}

Setup replicas(int dp, double factor) {
  auto setup = default_setup();
  setup.machine = "dgx-a100-80g";
  setup.mesh.pp = 1;
  setup.mesh.dp = dp;
  setup.overlap_gradients = false;  // so that computing and adding up follow one another
  setup.run.slow_rank = {dp - 1, factor};
  return setup;
}

double compute_seconds(const Prediction& prediction, std::size_t rank) {
  double sum = 0;
  const RankProgram& program = prediction.program.ranks[rank];
  for (std::size_t op = 0; op < program.ops.size(); ++op) {
    if (program.ops[op].kind != OpKind::kCompute) continue;
    const Span& span = prediction.timeline.ranks[rank].spans[op];
    sum += seconds_of(span.end - span.begin);
  }
  return sum;
}

class SlowRank : public testing::TestWithParam<int> {};

// Replicas meet once a step: all take as long as the slow one computes, and what they add up takes
// as long as ever.
TEST_P(SlowRank, BindsTheStepOfAllReplicas) {
  const int dp = GetParam();
  const Prediction equal = on_a100s(replicas(dp, 1));
  const double computing = compute_seconds(equal, 0);
  for (const double factor : {1.5, 2.0, 10.0}) {
    const Prediction slow = on_a100s(replicas(dp, factor));
    const auto last = static_cast<std::size_t>(dp - 1);
    EXPECT_NEAR(compute_seconds(slow, 0), computing, 1e-6 * computing);
    EXPECT_NEAR(compute_seconds(slow, last), factor * computing, 1e-3 * factor * computing);
    const double expected = equal.step.seconds + (factor - 1) * computing;
    EXPECT_NEAR(slow.step.seconds, expected, 1e-3 * expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Replicas, SlowRank, testing::Values(2, 3, 8));

// A slow stage of a pipeline of equal ones: GPipe's (m + p - 1) turns of one stage become m of the
// slow one and p - 1 of the others, forward and backward.
TEST(SlowStage, TakesEveryTurnOfThePipeline) {
  auto setup = default_setup();
  setup.model = *find_model("gpt2-124m");  // messages of a tiny one take as long as its work
  setup.machine = "dgx-a100-80g";
  setup.mesh.pp = 4;
  setup.microbatches = 16;
  setup.run.slow_rank = {1, 3};
  const Prediction slow = on_a100s(setup);
  const double busy = compute_seconds(slow, 1);
  EXPECT_GT(slow.step.seconds, busy);
  EXPECT_LT(slow.step.seconds, 1.3 * busy);
}

// When the first forward begins and the last backward ends.
double pipeline_seconds(const Prediction& prediction) {
  Nanoseconds begin = Nanoseconds::max(), end{};
  for (std::size_t rank = 0; rank < prediction.program.ranks.size(); ++rank) {
    const RankProgram& program = prediction.program.ranks[rank];
    for (std::size_t op = 0; op < program.ops.size(); ++op) {
      if (program.ops[op].kind != OpKind::kCompute || program.ops[op].microbatch < 0) continue;
      const Span& span = prediction.timeline.ranks[rank].spans[op];
      begin = std::min(begin, span.begin);
      end = std::max(end, span.end);
    }
  }
  return seconds_of(end - begin);
}

class SlowStageOrder : public testing::TestWithParam<const char*> {};

// The order in which ranks receive holds nobody up: a step takes what the order of the actions
// alone makes of these durations, wherever the slow rank stands.
TEST_P(SlowStageOrder, OfMessagesCostsNoTime) {
  auto setup = default_setup();
  setup.model = *find_model("gpt2-124m");
  setup.machine = "dgx-a100-80g";
  setup.mesh = {};
  setup.mesh.pp = 4;
  setup.microbatches = 16;
  ASSERT_TRUE(set_field(setup, "schedule", GetParam()));
  setup.chunks = std::string(GetParam()) == "interleaved" ? 3 : 1;
  for (const double factor : {1.0, 2.0, 5.0})
    for (int rank = 0; rank < 4; ++rank) {
      setup.run.slow_rank = {rank, factor};
      const Prediction slow = on_a100s(setup);
      const auto order = make_order(setup);
      ASSERT_TRUE(order.ok());
      const auto durations = action_seconds(setup, *find_machine("dgx-a100-80g"), *order);
      ASSERT_TRUE(durations.ok()) << durations.error().text;
      const double alone = time_by_stage(*order, *durations).makespan;
      EXPECT_NEAR(pipeline_seconds(slow), alone, 0.005 * alone)
          << "rank " << rank << " x " << factor;
    }
}

INSTANTIATE_TEST_SUITE_P(Schedules, SlowStageOrder,
                         testing::Values("gpipe", "1f1b", "interleaved", "zb-h1"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(SlowRankOfMany, StandsAsTheRepresentativeOfItsStage) {
  auto setup = replicas(256, 2);
  setup.nodes = 32;
  const Prediction slow = on_a100s(setup, false);
  ASSERT_TRUE(slow.program.representatives);
  setup.run.slow_rank.factor = 1;
  const Prediction equal = on_a100s(setup, false);
  const double computing = compute_seconds(equal, 0);
  EXPECT_NEAR(slow.step.seconds, equal.step.seconds + computing, 1e-3 * slow.step.seconds);
  const std::vector<Message> remarks = remarks_of(slow);
  EXPECT_TRUE(std::any_of(remarks.begin(), remarks.end(), [](const Message& remark) {
    return remark.text.find("Rank 255 is slow on purpose") != std::string::npos;
  }));
}

TEST(SlowRankFolded, TakesAsLongAsOneOfPieces) {
  auto setup = replicas(4, 2.5);
  setup.mesh.pp = 2;
  const Prediction pieces = on_a100s(setup);
  const Result<Prediction> folded = predict(setup, *find_machine("dgx-a100-80g"),
                                            BuildOptions{.all_ranks = true, .stage_level = true});
  ASSERT_TRUE(folded.ok()) << folded.error().text;
  EXPECT_NEAR(folded->step.seconds, pieces.step.seconds, 1e-9);
}

TEST(SlowRankRehearsed, HasItsOwnDurationsAndNoMoreRealWork) {
  auto setup = replicas(2, 4);
  setup.run.backend = Backend::kPaced;
  const Prediction slow = on_a100s(setup);
  const auto durations = modelled_durations(slow);
  for (std::size_t op = 0; op < durations[0].size(); ++op) {
    if (slow.program.ranks[0].ops[op].kind != OpKind::kCompute) continue;
    EXPECT_NEAR(static_cast<double>(durations[1][op].count()),
                4.0 * static_cast<double>(durations[0][op].count()), 4);
  }
  const Machine here = uncalibrated_local_machine();
  const Prediction equal = [&] {
    setup.run.slow_rank.factor = 1;
    return on_a100s(setup);
  }();
  EXPECT_LE(stretch_of(slow, here), stretch_of(equal, here));
}

TEST(SlowRankRefused, WhereThereIsNoSuchRank) {
  auto setup = replicas(2, 2);
  setup.run.slow_rank.rank = 2;
  const std::vector<Message> wrong = validate(setup);
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_EQ(wrong.front().text, "Rank 2 cannot be the slow one: this Setup has ranks 0 to 1.");
  EXPECT_EQ(wrong.front().field, "run.slow_rank.rank");
  EXPECT_EQ(wrong.front().alternatives, std::vector<std::string>{"1"});
  setup.run.slow_rank.factor = 1;
  EXPECT_TRUE(validate(setup).empty()) << "nobody is slow";
  for (const double factor : {0.5, 101.0}) {
    setup.run.slow_rank = {0, factor};
    EXPECT_EQ(validate(setup).front().field, "run.slow_rank.factor");
  }
}

}  // namespace
}  // namespace parallelarium
