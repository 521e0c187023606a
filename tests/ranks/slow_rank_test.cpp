// SPDX-License-Identifier: Apache-2.0
// A rank that is slow on purpose, run: it works that much longer, the others wait for it, and the
// training is the same.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/ranks/paced_run.h"
#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

using RunSetup = parallelarium::Setup;

double compute_seconds(const Program& program, const Observation& seen, std::size_t rank) {
  double sum = 0;
  for (std::size_t op = 0; op < program.ranks[rank].ops.size(); ++op) {
    const Op& of = program.ranks[rank].ops[op];
    if (of.kind != OpKind::kCompute || of.lane != Lane::kCompute) continue;
    const Span& span = seen.timeline.ranks[rank].spans[op];
    sum += seconds_of(span.end - span.begin);
  }
  return sum;
}

TEST(SlowRankRun, WorksLongerAndTrainsTheSame) {
  RunSetup setup = small_model("dp=2 hidden=64 sequence=32");
  const Program program = built(setup);
  const Result<RunResult> equal = run_now(setup, program);
  setup.run.slow_rank = {1, 20};
  const Result<RunResult> slow = run_now(setup, program);
  ASSERT_TRUE(equal.ok() && slow.ok());
  EXPECT_EQ(slow->observation.losses, equal->observation.losses);
  const double fast = compute_seconds(program, slow->observation, 0);
  const double late = compute_seconds(program, slow->observation, 1);
  EXPECT_GT(late, 5 * fast) << "twenty times, on a computer that others use too";
  EXPECT_GE(slow->observation.step.seconds, late) << "nobody is done before";
}

TEST(SlowRankRun, IsCancelledAsSoonAsAnyOther) {
  RunSetup setup = small_model("dp=2 hidden=64 sequence=32 steps=1000");
  setup.run.slow_rank = {0, 100};
  std::atomic<bool> cancel{true};
  RunControl control;
  control.cancel = &cancel;
  const TimePoint begin = Clock::now();
  const Result<RunResult> result = run_now(setup, built(setup), {}, {}, control);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, "cancelled");
  EXPECT_LT(std::chrono::duration<double>(Clock::now() - begin).count(), 2);
}

TEST(PacedSlowRank, KeepsTheTimeOfItsPrediction) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "sanitizers are too slow to keep time";
#endif
  RunSetup setup = paced_setup({1, 2, 2, "1f1b"});
  const Machine machine = uncalibrated_local_machine();
  const Result<PacedRun> equal = run_paced(setup, machine);
  setup.run.slow_rank = {1, 3};
  const Result<PacedRun> slow = run_paced(setup, machine);
  ASSERT_TRUE(equal.ok() && slow.ok());
  EXPECT_GT(slow->predicted.step.seconds, 2 * equal->predicted.step.seconds);
  EXPECT_GE(slow->observed.observation.step.seconds, 0.99 * slow->predicted.step.seconds);
  EXPECT_LE(slow->observed.observation.step.seconds, 1.3 * slow->predicted.step.seconds);
}

TEST(SlowRankRun, IsRefusedOnGpus) {
  RunSetup setup = small_model("dp=2");
  setup.run.slow_rank = {1, 2};
  const BackendChoice gpus{Backend::kCuda, Source::kMeasured, {}};
  EXPECT_EQ(can_slow(setup, gpus).error().kind, "slow-rank-gpu");
  EXPECT_EQ(can_slow(setup, gpus).error().field, "run.backend");
  EXPECT_TRUE(can_slow(setup, on_cpu()).ok());
  setup.run.slow_rank.factor = 1;
  EXPECT_TRUE(can_slow(setup, gpus).ok());
}

TEST(OneRankSetup, HasNoSlowRank) {
  RunSetup setup = small_model("dp=2");
  setup.run.slow_rank = {1, 2};
  EXPECT_EQ(one_rank_setup(setup).run.slow_rank, SlowRank{});
}

}  // namespace
}  // namespace parallelarium
