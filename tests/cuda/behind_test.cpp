// SPDX-License-Identifier: Apache-2.0
// Ranks on devices that run behind, without a GPU: the same bits as on devices that do not, and
// spans that keep what the Program says.
#include <gtest/gtest.h>

#include "engine/run/gpu/event_plan.h"
#include "tests/cuda/queued_device.h"
#include "tests/ranks/harness.h"

namespace parallelarium {
namespace {

LaunchOptions behind() {
  LaunchOptions options;
  // Lanes late by different times, so that what is not ordered comes in the wrong order.
  options.make_device = [](int rank, Lane lane) -> std::unique_ptr<Device> {
    return std::make_unique<QueuedDevice>(
        std::chrono::microseconds(50 * ((rank + static_cast<int>(lane)) % 3)));
  };
  return options;
}

void expect_same(Setup setup) {
  setup.model.layers = 4;
  setup.run.steps = 1;
  const Program program = built(setup);
  RunWishes wishes{.gradients = true,
                   .parameters = true,
                   .ranks_state = true,
                   .probes = {{0, Piece::kProjection, 0, Phase::kForward},
                              {0, Piece::kAttention, 1, Phase::kInputGrad},
                              {1, Piece::kQkv, 1, Phase::kWeightGrad, 2},
                              {1, Piece::kNorm1, 0, Phase::kInputGrad},
                              {-1, Piece::kLoss, 0, Phase::kInputGrad}}};
  const Piece sums = setup.model.experts.count > 0 ? Piece::kUnpermute : Piece::kCombine;
  if (setup.ring_tensor || setup.model.experts.count > 0)
    for (const Phase phase : {Phase::kForward, Phase::kInputGrad})
      wishes.probes.push_back({1, sums, 1, phase});
  const Result<RunResult> now = run_now(setup, program, wishes);
  ASSERT_TRUE(now.ok()) << now.error().text;
  const Result<RunResult> later = run_now(setup, program, wishes, behind());
  ASSERT_TRUE(later.ok()) << later.error().text;
  EXPECT_EQ(later->observation.losses, now->observation.losses);
  EXPECT_EQ(later->observation.gradient_norms, now->observation.gradient_norms);
  EXPECT_EQ(later->observation.traffic, now->observation.traffic);
  EXPECT_EQ(later->observation.ranks_state.size(), program.ranks.size());
  EXPECT_EQ(later->observation.ranks_state, now->observation.ranks_state);
  ASSERT_EQ(later->probes.size(), now->probes.size());
  for (std::size_t i = 0; i < now->probes.size(); ++i) {
    const std::vector<ProbedTensor>&a = later->probes[i].tensors, &b = now->probes[i].tensors;
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t t = 0; t < a.size(); ++t)
      EXPECT_EQ(a[t].bytes, b[t].bytes) << text_of(now->probes[i].probe) << " " << a[t].what.name;
  }
  ASSERT_EQ(later->parameters.size(), now->parameters.size());
  for (std::size_t i = 0; i < now->parameters.size(); ++i)
    EXPECT_EQ(later->parameters[i].values, now->parameters[i].values);

  const Timeline& timeline = later->observation.timeline;
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    const RankProgram& ops = program.ranks[rank];
    const std::vector<Span>& spans = timeline.ranks[rank].spans;
    for (std::size_t op = 0; op < ops.ops.size(); ++op) {
      EXPECT_LE(spans[op].begin, spans[op].end);
      for (const std::int32_t earlier : ops.after_of(ops.ops[op]))
        EXPECT_LE(spans[static_cast<std::size_t>(earlier)].end, spans[op].begin)
            << "rank " << rank << " op " << op << " began before op " << earlier << " had ended";
    }
  }
}

TEST(RunsBehind, PipelineAndReplicasGiveTheSameBits) { expect_same(small_setup(2, 2, 3)); }

TEST(RunsBehind, TensorParallelGivesTheSameBits) {
  parallelarium::Setup setup = small_setup(2, 1, 2);
  setup.mesh.tp = 2;
  setup.sequence_parallel = true;
  expect_same(setup);
}

TEST(RunsBehind, RingsOfTensorParallelGiveTheSameBits) {
  parallelarium::Setup setup = small_setup(1, 1, 2);
  setup.mesh.tp = 4;
  setup.model.heads = setup.model.kv_heads = 4;
  setup.sequence_parallel = setup.ring_tensor = true;
  expect_same(setup);
}

TEST(RunsBehind, ShardedParametersGiveTheSameBits) {
  parallelarium::Setup setup = small_setup(1, 2, 2);
  setup.zero = 3;
  expect_same(setup);
}

TEST(RunsBehind, RingAttentionGivesTheSameBits) {
  parallelarium::Setup setup = small_setup(1, 1, 2);
  setup.mesh.cp = 2;
  setup.attention = Attention::kFused;
  expect_same(setup);
}

// Sizes of the exchanges come to the host in the middle of the step, after what was launched.
TEST(RunsBehind, ExpertsGiveTheSameBits) {
  parallelarium::Setup setup = small_setup(2, 2, 3);
  setup.mesh.ep = 2;
  setup.model.experts.count = 8;
  setup.model.experts.top_k = 2;
  setup.model.experts.ffn = 12;
  setup.model.experts.router = Router::kSigmoid;
  setup.model.experts.capacity = 1;
  setup.skew = 0.4;  // some experts get no rows
  expect_same(setup);
}

}  // namespace
}  // namespace parallelarium
