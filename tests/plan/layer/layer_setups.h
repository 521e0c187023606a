// SPDX-License-Identifier: Apache-2.0
// Setups whose layers tests look into.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/plan/setup/setup.h"
#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {

inline Setup setup_of(int tp, int cp, bool sequence_parallel,
                      ContextParallel kind = ContextParallel::kRing) {
  Setup setup = default_setup();
  setup.mesh = {};
  setup.mesh.tp = tp;
  setup.mesh.cp = cp;
  setup.sequence_parallel = sequence_parallel;
  setup.context_parallel = kind;
  setup.attention = Attention::kFused;
  setup.microbatches = 2;
  return setup;
}

inline Setup ring_of(int tp, int cp,
                     const std::vector<std::pair<std::string, std::string>>& fields = {}) {
  Setup setup = setup_of(tp, cp, true);
  setup.ring_tensor = true;
  EXPECT_TRUE(set_fields(setup, fields));
  return setup;
}

// Rings of TP: plain, with CP, of several sequences and stages, and with gathered inputs kept, sums
// hidden otherwise and keys computed again.
inline std::vector<Setup> rings() {
  return {ring_of(2, 1),
          ring_of(4, 1),
          ring_of(2, 2),
          ring_of(4, 1, {{"micro-batch", "2"}, {"pp", "2"}}),
          ring_of(4, 1, {{"sequence-regather", "off"}}),
          ring_of(2, 2, {{"model", "llama-tiny"}, {"micro-batch", "2"}}),
          ring_of(2, 1, {{"overlap-tensor", "on"}, {"recompute", "second-products"}})};
}

// One of each axis by itself, some together, what is computed or gathered again, and all rings.
inline std::vector<Setup> axis_setups() {
  std::vector<Setup> all = {setup_of(1, 1, false),
                            setup_of(2, 1, false),
                            setup_of(2, 1, true),
                            setup_of(4, 1, true),
                            setup_of(1, 4, false),
                            setup_of(2, 2, true),
                            setup_of(1, 2, false, ContextParallel::kUlysses),
                            setup_of(1, 2, false, ContextParallel::kAllGather)};
  const auto with = [&](Setup setup, const char* field, const char* value) {
    EXPECT_TRUE(set_field(setup, field, value)) << field;
    all.push_back(std::move(setup));
  };
  with(setup_of(1, 4, false), "cp-split", "contiguous");
  with(setup_of(2, 1, true), "sequence-regather", "off");
  for (const char* again : {"full", "selective"}) {
    with(setup_of(2, 1, false), "recompute", again);
    with(setup_of(2, 2, true), "recompute", again);
  }
  for (Setup& ring : rings()) all.push_back(std::move(ring));
  return all;
}

}  // namespace parallelarium
