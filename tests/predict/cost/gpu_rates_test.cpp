// SPDX-License-Identifier: Apache-2.0
// What calibrated rates of GPUs mean for a prediction where it differs from cores: a fused
// attention takes all sequences of a micro-batch in one launch.
#include <gtest/gtest.h>

#include <set>

#include "engine/predict/cost/pieces/work_seconds.h"
#include "engine/predict/cost/simulate.h"
#include "engine/predict/predict.h"
#include "tests/predict/program/tiny_program.h"

namespace parallelarium {
namespace {

constexpr std::int64_t kHeads = 4, kTokens = 64, kScores = kHeads * kTokens * kTokens;

// Rates of one sequence and of eight, which fill the GPU four times as well.
Machine gpu() {
  Machine machine;
  machine.local = true;
  machine.launch_seconds.value = 1e-6;
  for (const char* kernel : {"attention", "fused_attention", "block_attention"}) {
    machine.kernels.push_back({kernel, {1e9}, static_cast<double>(kScores)});
    machine.kernels.push_back({kernel, {4e9}, static_cast<double>(8 * kScores)});
  }
  return machine;
}
Machine cores() {
  Machine machine = gpu();
  machine.cores = 2;
  return machine;
}

Shape shape_of(std::int64_t sequences, bool fused) {
  Shape shape;
  shape.B = sequences;
  shape.H = kHeads;
  shape.T = shape.sequence = kTokens;
  shape.fused = fused;
  return shape;
}
Work attention(std::int64_t sequences, std::int64_t layers = 1) {
  Work work;
  work.piece = Piece::kAttention;
  work.m = work.n = kTokens;
  work.repeat = layers * 2 * sequences * kHeads;
  work.elements = layers * sequences * kScores;
  return work;
}
double rate(const Machine& machine, const Shape& shape, const Work& work) {
  return static_cast<double>(work.elements) /
         (work_seconds(work, shape, machine, DataType::kF32) - machine.launch_seconds.value);
}

TEST(GpuRates, AFusedAttentionHasTheRateOfAllItsSequences) {
  EXPECT_NEAR(rate(gpu(), shape_of(1, true), attention(1)), 1e9, 1);
  EXPECT_NEAR(rate(gpu(), shape_of(8, true), attention(8)), 4e9, 1);
  EXPECT_NEAR(rate(gpu(), shape_of(8, true), attention(8, 12)), 4e9, 1) << "twelve equal layers";
  Shape cut = shape_of(8, true);
  cut.key_blocks = 2;
  EXPECT_NEAR(rate(gpu(), cut, attention(8)), 4e9, 1) << "by blocks";
  // Larger than was measured: the nearest.
  EXPECT_NEAR(rate(gpu(), shape_of(64, true), attention(64)), 4e9, 1);
}

TEST(GpuRates, AnUnfusedAttentionHasTheRateOfASequence) {
  EXPECT_NEAR(rate(gpu(), shape_of(8, false), attention(8)), 1e9, 1);
}

TEST(GpuRates, OnCoresEveryAttentionHasTheRateOfASequence) {
  for (const bool fused : {false, true})
    EXPECT_NEAR(rate(cores(), shape_of(8, fused), attention(8)), 1e9, 1) << fused;
}

TEST(GpuRates, AnAttentionIsOneLaunchForAllSequences) {
  for (const bool fused : {false, true}) {
    for (Machine machine : {gpu(), cores()}) {
      machine.kernels.clear();
      TinyProgram tiny(1);
      tiny.program.shape = shape_of(8, fused);
      tiny.program.works = {{attention(8)}};
      const CostModel cost(tiny.program, machine, parallelarium::Setup());
      Op op;
      op.work = 0;
      EXPECT_NEAR(cost.seconds(op, 0), 1e-6, 1e-15) << fused << machine.cores;
    }
  }
}

// A step of ops that have hardly anything to do takes as long as its host needs to launch them, one
// of large ops as long as its device does.
TEST(GpuRates, AHostThatCannotKeepUpSetsThePace) {
  Machine machine = *find_machine("dgx-h100");
  parallelarium::Setup setup = default_setup();
  setup.mesh = {};
  const auto step = [&](double host) {
    machine.host_seconds.value = host;
    const Result<Prediction> prediction = predict(setup, machine);
    EXPECT_TRUE(prediction.ok());
    return *prediction;
  };
  const Prediction free = step(0);
  std::size_t ops = 0;
  for (const Op& op : free.program.ranks[0].ops) ops += op.work >= 0;
  EXPECT_NEAR(step(1).step.seconds / static_cast<double>(ops), 1, 1e-9);
  EXPECT_EQ(step(1e-9).step.seconds, free.step.seconds);
  // Between them: no op is shorter than its host, and none longer than either asks for.
  const double host = 2 * machine.launch_seconds.value;
  const Prediction both = step(host);
  EXPECT_GE(both.step.seconds, std::max(free.step.seconds, host * static_cast<double>(ops)));
  EXPECT_LE(both.step.seconds, free.step.seconds + host * static_cast<double>(ops));
}

// A forward's host reads the counts of its experts; every op launches the products of each.
TEST(GpuRates, OfExpertsAHostLaunchesEach) {
  Machine machine = *find_machine("dgx-h100");
  machine.host_seconds.value = 1;
  parallelarium::Setup setup = default_setup();
  setup.mesh = {};
  setup.model = *find_model("moe-tiny");
  for (const int ep : {1, 2}) {
    setup.mesh.dp = setup.mesh.ep = ep;
    const Result<Prediction> prediction = predict(setup, machine);
    ASSERT_TRUE(prediction.ok()) << prediction.error().text;
    const CostModel cost(prediction->program, machine, setup);
    std::set<Phase> seen;
    for (const Op& op : prediction->program.ranks[0].ops) {
      if (op.piece != Piece::kExpert || op.kind != OpKind::kCompute) continue;
      seen.insert(op.phase);
      const double launches = op.phase == Phase::kWeightGrad ? 2 : 3;
      const double reads = op.phase == Phase::kForward ? 1 : 0;
      EXPECT_DOUBLE_EQ(cost.seconds(op, 0), 1 + reads + launches * setup.model.experts.count / ep);
    }
    EXPECT_EQ(seen.size(), 3u);
  }
}

// On a GPU that was calibrated their launches follow each other on the device, too.
TEST(GpuRates, OfExpertsADeviceRunsEach) {
  Shape shape;
  shape.experts.model.count = 8;
  shape.experts.ranks = 2;
  shape.experts.ffn = 64;
  shape.C = 32;
  Work work;
  work.piece = Piece::kExpert;
  work.repeat = 4;
  Machine machine = gpu();
  EXPECT_NEAR(work_seconds(work, shape, machine, DataType::kF32), 12e-6, 1e-15);
  work.phase = Phase::kWeightGrad;
  EXPECT_NEAR(work_seconds(work, shape, machine, DataType::kF32), 8e-6, 1e-15);
  EXPECT_NEAR(work_seconds(work, shape, cores(), DataType::kF32), 1e-6, 1e-15);
  machine.host_calls = {{kHostRead, {5e-6}}};
  EXPECT_NEAR(work_seconds(work, shape, machine, DataType::kF32), 8e-6, 1e-15);
  work.phase = Phase::kForward;
  EXPECT_NEAR(work_seconds(work, shape, machine, DataType::kF32), 12e-6 + 5e-6, 1e-15)
      << "idle while its host reads the rows";
}

// An op costs its host what one of a single launch does, with its own calls in that one's place.
TEST(GpuRates, AHostNeedsAsLongAsItsCallsWereMeasured) {
  Machine machine = gpu();
  machine.host_seconds.value = 10e-6;
  machine.host_calls = {{kHostLaunch, {2e-6}},      {"attention", {7e-6}},
                        {"attention_grad", {9e-6}}, {"attention_dropping_grad", {11e-6}},
                        {"forward", {5e-6}},        {"rotary", {3e-6}}};
  const auto host = [&](const Work& work, const Shape& shape) {
    return work_host_seconds(work, shape, machine);
  };
  Shape shape = shape_of(8, false);
  shape.K = kHeads;
  EXPECT_NEAR(host(attention(8), shape), 8e-6 + 2e-6 + 8 * 5e-6, 1e-15)
      << "products for each sequence, one softmax for all";
  shape.K = kHeads / 2;
  EXPECT_NEAR(host(attention(8), shape), 8e-6 + 2e-6 + 16 * 5e-6, 1e-15) << "and turn";
  Work backward = attention(8);
  backward.phase = Phase::kInputGrad;
  EXPECT_NEAR(host(backward, shape), 8e-6 + 16 * 9e-6, 1e-15) << "a softmax for each, too";
  shape.learned_positions = false;
  shape.D = 4;
  EXPECT_NEAR(host(backward, shape), 8e-6 + 16 * 9e-6 + 3e-6, 1e-15) << "turned back once";
  shape.learned_positions = true;
  shape.dropout = 0.1;
  EXPECT_NEAR(host(backward, shape), 8e-6 + 16 * (11e-6 + 2e-6), 1e-15)
      << "a mask more for each turn of two";
  shape.dropout = 0;
  Work qkv;
  qkv.piece = Piece::kQkv;
  EXPECT_NEAR(host(qkv, shape), 13e-6, 1e-15) << "and a bias, or not";
  shape.learned_positions = false;
  EXPECT_NEAR(host(qkv, shape), 16e-6, 1e-15) << "turned beside it";
  Work norm;
  norm.piece = Piece::kNorm1;
  EXPECT_NEAR(host(norm, shape), 10e-6, 1e-15) << "never measured";
}

TEST(GpuRates, NoMessageIsFasterThanItsHost) {
  Machine machine = *find_machine("dgx-h100");
  parallelarium::Setup setup = default_setup();
  setup.mesh = {};
  setup.mesh.tp = 2;
  const auto collectives = [&](double host) {
    machine.host_message_seconds.value = host;
    const Result<Prediction> prediction = predict(setup, machine);
    EXPECT_TRUE(prediction.ok());
    const CostModel cost(prediction->program, machine, setup);
    std::vector<double> seconds;
    for (const Op& op : prediction->program.ranks[0].ops)
      if (op.kind == OpKind::kCollective) seconds.push_back(cost.seconds(op, 0));
    return seconds;
  };
  const std::vector<double> free = collectives(0), held = collectives(80e-6);
  ASSERT_FALSE(free.empty());
  ASSERT_EQ(free.size(), held.size());
  for (std::size_t i = 0; i < free.size(); ++i) EXPECT_EQ(held[i], std::max(free[i], 80e-6));
}

}  // namespace
}  // namespace parallelarium
