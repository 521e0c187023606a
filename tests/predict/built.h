// SPDX-License-Identifier: Apache-2.0
// Programs made by the passes from small Setups, and durations that make their timelines those of
// the papers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/passes/build.h"
#include "engine/plan/order/order_graph.h"
#include "engine/predict/cost/simulate.h"
#include "engine/predict/predict.h"
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

// What is predicted for every rank; the Program passes its check.
inline Prediction predicted(const Setup& setup, const Machine& machine) {
  Result<Prediction> prediction = predict(setup, machine, true);
  EXPECT_TRUE(prediction.ok()) << (prediction.ok() ? "" : prediction.error().text);
  for (const Message& wrong : check(prediction->program)) ADD_FAILURE() << wrong.text;
  return std::move(*prediction);
}

// Whether the op is the first that computes something of its action.
inline bool begins_action(const RankProgram& rank, std::size_t op) {
  if (rank.ops[op].kind != OpKind::kCompute || rank.ops[op].action < 0) return false;
  return std::none_of(
      rank.ops.begin(), rank.ops.begin() + static_cast<std::ptrdiff_t>(op), [&](const Op& before) {
        return before.kind == OpKind::kCompute && before.action == rank.ops[op].action;
      });
}

// Durations of a folded Program: an action takes `forward` or `backward`, all else nothing,
// transfers `transfer`.
inline std::vector<std::vector<Nanoseconds>> paper_durations(const Program& program, int forward,
                                                             int backward, int transfer = 0) {
  std::vector<std::vector<Nanoseconds>> durations;
  for (const RankProgram& rank : program.ranks) {
    auto& times = durations.emplace_back();
    for (std::size_t at = 0; at < rank.ops.size(); ++at) {
      const Op& op = rank.ops[at];
      int time = 0;
      if (begins_action(rank, at)) {
        const ActionKind kind = rank.actions[static_cast<std::size_t>(op.action)].kind;
        time = kind == ActionKind::kForward ? forward : backward;
      }
      if (op.kind == OpKind::kSend || op.kind == OpKind::kRecv) time = transfer;
      times.emplace_back(time);
    }
  }
  return durations;
}

}  // namespace parallelarium
