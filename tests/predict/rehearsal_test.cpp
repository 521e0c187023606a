// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/rehearsal.h"

#include <gtest/gtest.h>

#include "engine/plan/placement/stretch.h"
#include "engine/predict/cost/simulate.h"
#include "tests/predict/built.h"

namespace parallelarium {
namespace {

Setup rehearsed() {
  auto setup = default_setup();
  setup.run.backend = Backend::kPaced;
  return setup;
}

// This computer, with cores that are `slowness` times as slow as the assumed ones.
Machine cores(double slowness, int count = 2) {
  Machine here = uncalibrated_local_machine();
  here.cores = count;
  here.fp32_flops_per_second.value /= slowness;
  here.memory_bytes_per_second.value /= slowness;
  here.launch_seconds.value *= slowness;
  return here;
}

TEST(Rehearsal, LanesDoNotShareACoreAndThePredictionSaysSo) {
  auto setup = rehearsed();
  setup.mesh.dp = 2;
  Machine machine = uncalibrated_local_machine();
  machine.lanes_share_core = true;
  const Prediction shared = predicted(setup, machine);
  machine.lanes_share_core = false;
  const Prediction apart = predicted(setup, machine);
  EXPECT_EQ(shared.step.seconds, apart.step.seconds);
  const auto says_so = [](const Prediction& prediction) {
    for (const Message& remark : remarks_of(prediction))
      if (remark.text.find("a core of its own") != std::string::npos) return true;
    return false;
  };
  EXPECT_TRUE(says_so(shared));
  EXPECT_FALSE(says_so(apart));
  setup.run.backend = Backend::kCpu;
  machine.lanes_share_core = true;
  EXPECT_GT(predicted(setup, machine).step.seconds, apart.step.seconds);
}

TEST(Rehearsal, PredictionsDoNotKnowTheStretch) {
  auto setup = rehearsed();
  const Prediction usual = predicted(setup, uncalibrated_local_machine());
  setup.run.stretch = 500;
  const Prediction slow = predicted(setup, uncalibrated_local_machine());
  EXPECT_EQ(slow.step.seconds, usual.step.seconds);
  EXPECT_EQ(slow.timeline.duration, usual.timeline.duration);
  EXPECT_GE(stretch_of(slow, cores(1)), 500);
}

// Both bounds, added up here op by op.
TEST(Rehearsal, TheStretchLeavesTheCoresRoom) {
  for (const double slowness : {1e-3, 1.0, 50.0}) {
    const auto setup = rehearsed();
    const Prediction prediction = predicted(setup, uncalibrated_local_machine());
    const Machine here = cores(slowness);
    const double stretch = stretch_of(prediction, here);
    EXPECT_GE(stretch, 1);
    const CostModel asked(prediction.program, prediction.machine, setup);
    const CostModel real(prediction.program, here, setup);
    double work = 0;
    for (const RankProgram& rank : prediction.program.ranks) {
      double late = 0, compute = 0;
      for (const Op& op : rank.ops) {
        const double own = real.seconds(op, rank.rank);
        work += own + kSleepSeconds;
        if (op.kind != OpKind::kCompute) continue;
        const double slot = stretch * asked.seconds(op, rank.rank);
        compute += std::max(slot, own);
        if (own > slot) late += own;
      }
      EXPECT_LE(late, kMostOverrun * compute) << slowness;
    }
    EXPECT_LE(work, kMostRehearsedLoad * stretch * prediction.step.seconds * here.cores);
  }
}

TEST(Rehearsal, SlowerOrFewerCoresNeedMoreStretch) {
  const Prediction prediction = predicted(rehearsed(), uncalibrated_local_machine());
  EXPECT_GT(stretch_of(prediction, cores(50)), 5 * stretch_of(prediction, cores(1)));
  EXPECT_GE(stretch_of(prediction, cores(1, 1)), stretch_of(prediction, cores(1, 8)));
}

TEST(Rehearsal, TheFirstLessonTakesSeconds) {
  const Machine here = uncalibrated_local_machine();
  for (const char* machine : {"local", "dgx-h100"}) {
    auto setup = rehearsed();
    const Result<Machine> of = machine == std::string("local") ? here : find_machine(machine);
    ASSERT_TRUE(of.ok());
    setup.machine = machine;
    const Prediction prediction = predicted(setup, *of);
    EXPECT_LT(clock_seconds_of(prediction, stretch_of(prediction, cores(1))), 20) << machine;
  }
}

}  // namespace
}  // namespace parallelarium
