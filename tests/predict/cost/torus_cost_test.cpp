// SPDX-License-Identifier: Apache-2.0
// Steps on a torus against the same devices on a switch with one of its links each, and against the
// bounds of Austin et al. 2025, How to Scale Your Model, chapter Training.
#include <gtest/gtest.h>

#include "engine/plan/machine/machine.h"
#include "engine/plan/setup/setup.h"
#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

Machine cube() {
  Machine machine = *find_machine("tpu-v5p-4x4x4");
  machine.intra_node.latency_seconds.value = 0;
  return machine;
}

Setup on_cube(int dp, int tp, int pp) {
  Setup setup = default_setup();
  setup.model = *find_model("llama3-70b");
  setup.model.layers = 4;
  setup.machine = "tpu-v5p-4x4x4";
  setup.precision = *find_precision("mixed-16");
  setup.attention = Attention::kFused;
  setup.mesh = Mesh();
  setup.mesh.dp = dp;
  setup.mesh.tp = tp;
  setup.mesh.pp = pp;
  setup.microbatches = pp;
  setup.micro_batch = 1;
  return setup;
}

StepFigures torus_step(const Setup& setup, const Machine& machine) {
  const Result<Prediction> prediction = predict(setup, machine, BuildOptions{.stage_level = true});
  EXPECT_TRUE(prediction.ok()) << prediction.error().text;
  return prediction->step;
}

// A collective gets so many links where the switch gives it one.
TEST(TorusCost, CollectivesGoOutByTheLinksOfTheirAxes) {
  struct Case {
    int dp, tp, zero, links;
  };
  for (const auto& [dp, tp, zero, links] : {Case{1, 2, 0, 1},
                                            {1, 4, 0, 2},
                                            {1, 8, 0, 3},
                                            {1, 16, 0, 4},
                                            {1, 64, 0, 6},
                                            {4, 1, 3, 2},
                                            {16, 1, 3, 4},
                                            {64, 1, 3, 6},
                                            {64, 1, 0, 6}}) {
    auto setup = on_cube(dp, tp, 1);
    setup.zero = zero;
    if (tp > 8) setup.model.kv_heads = setup.model.heads;
    Machine plain = cube();
    plain.torus.clear();
    const double torus = torus_step(setup, cube()).communication_seconds;
    EXPECT_NEAR(torus_step(setup, plain).communication_seconds / torus, links, 1e-3 * links)
        << "DP " << dp << ", TP " << tp;
  }
}

// Stages that are neighbours have a link; where ranks of TP lie between them, messages pass through
// devices that send as far themselves.
TEST(TorusCost, StagesSendThroughTheDevicesBetweenThem) {
  for (const auto& [tp, hops] : {std::pair(1, 1), {2, 2}, {4, 1}}) {
    auto setup = on_cube(1, tp, 2);
    Machine plain = cube();
    plain.torus.clear();
    const auto sending = [&](const Machine& machine) {
      const Result<Prediction> prediction =
          predict(setup, machine, BuildOptions{.stage_level = true});
      EXPECT_TRUE(prediction.ok());
      const Program& program = prediction->program;
      for (std::size_t op = 0; op < program.ranks[0].ops.size(); ++op)
        if (program.ranks[0].ops[op].kind == OpKind::kSend) {
          const Span& span = prediction->timeline.ranks[0].spans[op];
          return seconds_of(span.end - span.begin);
        }
      return 0.0;
    };
    EXPECT_NEAR(sending(cube()) / sending(plain), hops, 1e-3) << "TP " << tp;
  }
}

// With ZeRO 3 over all three axes, a GPU needs C / (3 W) tokens, W both ways of a link, or it
// communicates longer than it computes.
TEST(TorusCost, ZeroThreeIsBoundByTokensOfADevice) {
  const Machine machine = cube();
  const double bound =
      machine.half_flops_per_second.value / (3 * 2 * machine.intra_node.bytes_per_second.value);
  EXPECT_NEAR(bound, 765, 1);
  auto setup = on_cube(64, 1, 1);
  setup.zero = 3;
  for (const double share : {0.25, 0.5, 2.0, 4.0}) {
    setup.model.sequence = std::int64_t(share * bound);
    const StepFigures step = torus_step(setup, machine);
    // Attention, vocabulary and passes at memory speed compute beside the book's two products, and
    // the embedding's table is sent without any.
    const double ratio = step.communication_seconds / step.compute_seconds * share;
    EXPECT_GT(ratio, 0.6) << share;
    EXPECT_LT(ratio, 1.15) << share;
  }
}

// Axes of their own: TP on the first, ZeRO 3 on the others, at the same time.
TEST(TorusCost, GroupsOnDifferentAxesDoNotSlowEachOther) {
  auto setup = on_cube(16, 4, 1);
  setup.zero = 3;
  setup.overlap_tensor = true;  // TP has a lane beside what computes
  const Result<Prediction> prediction = predict(setup, cube());
  ASSERT_TRUE(prediction.ok()) << prediction.error().text;
  EXPECT_EQ(link_sharing(*prediction).seconds, 0);
  Machine plain = cube();
  plain.torus.clear();
  const Result<Prediction> shared = predict(setup, plain);
  ASSERT_TRUE(shared.ok());
  EXPECT_GT(link_sharing(*shared).seconds, 0);
}

}  // namespace
}  // namespace parallelarium
