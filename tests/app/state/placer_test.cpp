// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/placer.h"

#include <gtest/gtest.h>

#include "engine/plan/placement/cores.h"
#include "tests/app/state/stand_in_engine.h"

namespace parallelarium {
namespace {

// In a data folder of its own, so that no calibration is there.
struct PlacerTest : StandInEngine {
  parallelarium::Setup ranks(int dp, Backend backend = Backend::kAuto) const {
    parallelarium::Setup setup = default_setup();
    setup.mesh.pp = 1;
    setup.mesh.dp = dp;
    setup.run.backend = backend;
    return setup;
  }
  Placer placer;
};

TEST_F(PlacerTest, WhatTheEngineToldIsWhereRanksGo) {
  EXPECT_FALSE(placer.told());
  placer.hear(computer(4, 4));
  EXPECT_TRUE(placer.told());
  EXPECT_FALSE(placer.may_find_gpus());
  const Situation four = placer.situation_of(ranks(4));
  EXPECT_TRUE(four.takes_gpus());
  EXPECT_EQ(placer.gpus_for(four), 4);
  const Situation eight = placer.situation_of(ranks(8));
  EXPECT_FALSE(eight.takes_gpus()) << "one for each or none";
  EXPECT_EQ(placer.gpus_for(eight), 0);
}

TEST_F(PlacerTest, ACollectiveGoesOnCoresWhereThereAreTooFewGpus) {
  placer.hear(computer(2, 2));
  RunSettings gpus;
  gpus.backend = Backend::kCuda;
  EXPECT_TRUE(placer.of_collective(gpus, 2).on_gpus());
  EXPECT_FALSE(placer.of_collective(gpus, 4).on_gpus());
  RunSettings paced;
  paced.backend = Backend::kPaced;
  EXPECT_NE(placer.of_collective(paced, 64).source, Source::kPaced);
}

TEST_F(PlacerTest, ABackendIsMissedOnlyWhereTheEngineSaysSo) {
  EXPECT_FALSE(placer.missing_backend("cuda"));
  placer.hear(computer(0, 0));
  const std::optional<Message> missing = placer.missing_backend("cuda");
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->text, "So it is.");
  placer.forget_backends();
  EXPECT_FALSE(placer.missing_backend("cuda"));
  placer.hear(nlohmann::json(7));
  EXPECT_FALSE(placer.missing_backend("cuda"));
  EXPECT_EQ(placer.computer().cores, available_core_count()) << "what was told last stays";
}

TEST_F(PlacerTest, AnUnknownMachineHasASituationThatSaysSo) {
  parallelarium::Setup setup = ranks(1);
  setup.machine = "nowhere";
  const Situation situation = placer.situation_of(setup);
  ASSERT_TRUE(situation.refusal);
  EXPECT_TRUE(is_resolved(situation.setup));
}

TEST_F(PlacerTest, AMachineIsReadAgainOnlyWhenItIsForgotten) {
  EXPECT_TRUE(placer.situation_of(ranks(1)).machine.calibrated.empty());
  Machine measured = uncalibrated_local_machine();
  measured.calibrated = "2026-11-21T08:00:00Z";
  ASSERT_TRUE(save_local_machine(measured).ok());
  EXPECT_TRUE(placer.situation_of(ranks(1)).machine.calibrated.empty());
  placer.forget_machines();
  EXPECT_EQ(placer.situation_of(ranks(1)).machine.calibrated, "2026-11-21T08:00:00Z");
}

}  // namespace
}  // namespace parallelarium
