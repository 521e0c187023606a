// SPDX-License-Identifier: GPL-3.0-or-later
// Setups of the Memory view's tests.
#pragma once

#include "tests/app/pipeline/pipeline_fixture.h"

namespace parallelarium {

// Four replicas, whose states ZeRO cuts.
inline PlanSetup data_parallel(int zero) {
  PlanSetup setup = default_setup();
  setup.mesh.pp = 1;
  setup.mesh.dp = 4;
  setup.microbatches = 2;
  setup.zero = zero;
  setup.schedule = "1f1b";
  return setup;
}

}  // namespace parallelarium
