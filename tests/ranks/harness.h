// SPDX-License-Identifier: Apache-2.0
// Small Setups, built and run on this computer as the engine does it.
#pragma once

#include <gtest/gtest.h>

#include "engine/passes/build.h"
#include "engine/plan/setup/setup.h"
#include "engine/predict/cost/simulate.h"
#include "engine/predict/rehearsal.h"
#include "engine/run/train/launch.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

// A GPT small enough that a step takes milliseconds: 12 layers divide by 1 to 4 stages.
inline Setup small_setup(int pp, int dp, int microbatches, const std::string& schedule = "1f1b") {
  Setup setup = default_setup();
  Model& model = setup.model;
  model.name = "custom";
  model.layers = 12;
  model.hidden = 16;
  model.heads = model.kv_heads = 2;
  model.ffn = 32;
  model.sequence = 8;
  setup.mesh.pp = pp;
  setup.mesh.dp = dp;
  setup.microbatches = microbatches;
  setup.schedule = schedule;
  setup.run.backend = Backend::kCpu;
  setup.run.warmup = 1;
  setup.run.steps = 2;
  return setup;
}

inline Program built(const Setup& setup) {
  const std::vector<Message> wrong = validate(setup);
  EXPECT_TRUE(wrong.empty()) << wrong.front().text;
  const Result<Order> order = make_order(setup);
  EXPECT_TRUE(order.ok()) << order.error().text;
  Result<Program> program = build_program(setup, *order, {.all_ranks = true});
  EXPECT_TRUE(program.ok()) << program.error().text;
  return std::move(*program);
}

inline BackendChoice on_cpu() { return {Backend::kCpu, Source::kOversubscribed, {}}; }

inline Result<RunResult> run_now(const Setup& setup, const Program& program,
                                 const RunWishes& wishes = {}, const LaunchOptions& options = {},
                                 RunControl control = {}) {
  return launch(setup, program, on_cpu(), control, wishes, options);
}

}  // namespace parallelarium
