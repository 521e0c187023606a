// SPDX-License-Identifier: Apache-2.0
// Programs made by the passes from small Setups, and durations that make their timelines those of
// the papers.
#pragma once

#include <gtest/gtest.h>

#include "engine/passes/build.h"
#include "engine/plan/order/order_graph.h"
#include "engine/predict/cost/simulate.h"
#include "engine/schedules/schedule.h"
#include "engine/schedules/timing.h"

namespace parallelarium {

inline Setup small_setup(const std::string& schedule, int pp, int dp, int microbatches,
                         int layers = 0) {
  Setup setup = default_setup();
  setup.model.name = "custom";
  setup.model.layers = layers > 0 ? layers : pp;
  setup.mesh.pp = pp;
  setup.mesh.dp = dp;
  setup.microbatches = microbatches;
  setup.schedule = schedule;
  return setup;
}

inline Program built(const Setup& setup, BuildOptions options = {.all_ranks = true}) {
  const auto wrong = validate(setup);
  EXPECT_TRUE(wrong.empty()) << (wrong.empty() ? "" : wrong.front().text);
  const auto order = make_order(setup);
  EXPECT_TRUE(order.ok());
  auto program = build_program(setup, *order, options);
  EXPECT_TRUE(program.ok());
  return *program;
}

// Durations of a stage-level Program: an action takes `forward` or `backward`, all else nothing,
// transfers `transfer`.
inline std::vector<std::vector<Nanoseconds>> paper_durations(const Program& program, int forward,
                                                             int backward, int transfer = 0) {
  std::vector<std::vector<Nanoseconds>> durations;
  for (const RankProgram& rank : program.ranks) {
    auto& times = durations.emplace_back();
    for (const Op& op : rank.ops) {
      int time = 0;
      if (op.piece == Piece::kStage) time = op.phase == Phase::kForward ? forward : backward;
      if (op.kind == OpKind::kSend || op.kind == OpKind::kRecv) time = transfer;
      times.emplace_back(time);
    }
  }
  return durations;
}

}  // namespace parallelarium
