// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cost/pieces/work_seconds.h"

#include <gtest/gtest.h>

#include "engine/plan/program/kernels_of_pieces.h"
#include "tests/predict/cost/plain_machine.h"

namespace parallelarium {
namespace {

Work product(std::int64_t m, std::int64_t n, std::int64_t k) {
  Work work;
  work.piece = Piece::kQkv;
  work.m = m;
  work.n = n;
  work.k = k;
  work.flops = 2.0 * static_cast<double>(m * n * k);
  work.bytes = 4 * (m * k + k * n + m * n);
  return work;
}

TEST(WorkSeconds, IsTheSlowerOfArithmeticAndMemory) {
  const Work large = product(1024, 1024, 1024);
  EXPECT_NEAR(work_seconds(large, {}, machine(), DataType::kF32), 1e-6 + large.flops / 0.5e12,
              1e-12);
  EXPECT_NEAR(work_seconds(large, {}, machine(), DataType::kBf16), 1e-6 + large.flops / 4e12,
              1e-12);
  const Work thin = product(1, 1, 4096);
  EXPECT_NEAR(work_seconds(thin, {}, machine(), DataType::kF32),
              1e-6 + static_cast<double>(thin.bytes) / 1e11, 1e-12);
}

TEST(WorkSeconds, TakesMeasuredRatesWhereTheyAre) {
  Machine calibrated = machine();
  calibrated.matmuls = {{64, 64, 64, 1e9}, {1024, 1024, 1024, 4e9}, {64, 4096, 256, 2e9}};
  for (const MatmulPoint& point : calibrated.matmuls) {
    const Work work = product(point.m, point.n, point.k);
    EXPECT_NEAR(work_seconds(work, {}, calibrated, DataType::kF32),
                1e-6 + work.flops / point.flops_per_second.value, 1e-9);
  }
  // Between two points of one aspect the rate lies between theirs.
  calibrated.matmuls.pop_back();
  const Work between = product(256, 256, 256);
  const double rate =
      between.flops / (work_seconds(between, {}, calibrated, DataType::kF32) - 1e-6);
  EXPECT_NEAR(rate, 2e9, 1e6) << "the geometric middle";
  // Outside it stays near the nearest.
  const Work beyond = product(8192, 8192, 8192);
  const double far = beyond.flops / (work_seconds(beyond, {}, calibrated, DataType::kF32) - 1e-6);
  EXPECT_GT(far, 2e9);
  EXPECT_LE(far, 4e9);

  calibrated.kernels = {{"norm", 1e8}, {"attention", 5e7}};
  Work norm;
  norm.piece = Piece::kNorm2;
  norm.elements = 1000;
  EXPECT_NEAR(work_seconds(norm, {}, calibrated, DataType::kF32), 1e-6 + 1e-5, 1e-12);
  norm.phase = Phase::kRecompute;
  EXPECT_NEAR(work_seconds(norm, {}, calibrated, DataType::kF32), 1e-6 + 1e-5, 1e-12);
  Work attention = product(64, 64, 16);
  attention.piece = Piece::kAttention;
  attention.elements = 1000;
  EXPECT_NEAR(work_seconds(attention, {}, calibrated, DataType::kF32), 1e-6 + 2e-5, 1e-12);
}

// Two sequences of 16 tokens, experts 24 wide in a hidden of 32, four heads and two of keys, of 8.
Shape moe_shape() {
  Shape shape;
  shape.B = 2;
  shape.T = shape.sequence = 16;
  shape.C = 32;
  shape.H = 4;
  shape.K = 2;
  shape.D = 8;
  shape.mlp = Mlp::kSwiglu;
  shape.norm = Norm::kRms;
  shape.learned_positions = false;
  shape.experts.ffn = 24;
  return shape;
}

double beyond_launch(const Work& work, const Shape& shape, const Machine& machine) {
  return work_seconds(work, shape, machine, DataType::kF32) - machine.launch_seconds.value;
}

TEST(WorkSeconds, AddsWhatAPieceComputesBesideItsProduct) {
  Machine calibrated = machine();
  calibrated.matmuls = {{32, 8, 32, 1e9}};
  Work work = product(32, 8, 32);
  const double products = work.flops / 1e9;
  const Shape shape = moe_shape();
  const auto seconds = [&](Piece piece, Phase phase, std::int64_t elements) {
    work.piece = piece;
    work.phase = phase;
    work.elements = elements;
    return beyond_launch(work, shape, calibrated);
  };
  // A calibration that knows no such rates predicts as before.
  for (const Piece piece : {Piece::kRouter, Piece::kDispatch, Piece::kQkv})
    EXPECT_NEAR(seconds(piece, Phase::kForward, 1000), products, 1e-12) << name_of(piece);

  calibrated.kernels = {
      {"router", 1e6}, {"dispatch_grad", 2e6}, {"rotary", 8e6}, {"attention_grad", 1e7}};
  EXPECT_NEAR(seconds(Piece::kRouter, Phase::kForward, 32 * 8), products + 256 / 1e6, 1e-12);
  EXPECT_NEAR(seconds(Piece::kRouter, Phase::kWeightGrad, 32 * 8), products, 1e-12);
  EXPECT_NEAR(seconds(Piece::kDispatch, Phase::kInputGrad, 64 * 32), products + 2048 / 2e6, 1e-12);
  // An angle for 16 positions and 4 pairs, whatever the number of heads; on a GPU for each
  // sequence.
  const double own = 2 * 16 * 4 / 8e6, turning = 16 * 4 / 8e6;
  EXPECT_NEAR(seconds(Piece::kQkv, Phase::kForward, 32 * (4 + 2 * 2) * 8), products + own, 1e-12);
  calibrated.local = true;
  calibrated.cores = 2;
  EXPECT_NEAR(seconds(Piece::kQkv, Phase::kRecompute, 32 * (4 + 2 * 2) * 8), products + turning,
              1e-12);
  EXPECT_NEAR(seconds(Piece::kQkv, Phase::kInputGrad, 32 * 32), products, 1e-12);
  const std::int64_t scores = 2 * 4 * 16 * 16;
  EXPECT_NEAR(seconds(Piece::kAttention, Phase::kInputGrad, scores),
              static_cast<double>(scores) / 1e7 + turning, 1e-12);
  // Learned positions turn nothing.
  EXPECT_TRUE(kernel_beside(work, Shape{}, true).kernel.empty());
}

TEST(WorkSeconds, TakesBothProductsOfAnExpertAtTheirOwnRatesAndItsActivation) {
  const Shape shape = moe_shape();
  constexpr std::int64_t kRows = 16, kExperts = 4, C = 32, F = 24, kInner = 2 * F;
  Machine calibrated = machine();
  calibrated.matmuls = {{kRows, kInner, C, 1e9}, {kRows, C, F, 2e9},   // forward
                        {kRows, C, kInner, 3e9}, {kRows, F, C, 4e9},   // input gradient
                        {kInner, C, kRows, 5e9}, {C, F, kRows, 6e9}};  // weight gradient
  const auto seconds = [&](Phase phase) {
    const bool weights = phase == Phase::kWeightGrad;
    Work work = weights ? product(kInner + F, C, kRows) : product(kRows, kInner + F, C);
    work.piece = Piece::kExpert;
    work.phase = phase;
    work.repeat = kExperts;
    work.flops *= kExperts;
    work.elements = kExperts * kRows * C;
    return beyond_launch(work, shape, calibrated);
  };
  const auto products = [](double in, double out) {
    return 2.0 * kExperts * kRows * C * (kInner / in + F / out);
  };
  EXPECT_NEAR(seconds(Phase::kForward), products(1e9, 2e9), 1e-12);
  EXPECT_NEAR(seconds(Phase::kInputGrad), products(3e9, 4e9), 1e-12);
  EXPECT_NEAR(seconds(Phase::kWeightGrad), products(5e9, 6e9), 1e-12);
  calibrated.kernels = {{"swiglu", 4e6}, {"swiglu_grad", 5e6}};
  const double activated = kExperts * kRows * F;
  EXPECT_NEAR(seconds(Phase::kForward), products(1e9, 2e9) + activated / 4e6, 1e-12);
  EXPECT_NEAR(seconds(Phase::kInputGrad), products(3e9, 4e9) + activated / 5e6, 1e-12);
  EXPECT_NEAR(seconds(Phase::kWeightGrad), products(5e9, 6e9), 1e-12) << "activates nothing";
}

// Tables of dense products stand in for grouped ones where a machine has none of them.
TEST(WorkSeconds, RatesOfExpertsAreAssumedWithoutATableOfThem) {
  Shape shape = moe_shape();
  Work work = product(1024, 3 * 256, 512);
  work.piece = Piece::kExpert;
  const auto kind = [&](const char* machine, ProductType products) {
    return rate_kind(work, shape, *find_machine(machine), DataType::kBf16, products);
  };
  EXPECT_EQ(kind("hgx-b200-simumax", ProductType::kSame), RateKind::kInterpolated);
  EXPECT_EQ(kind("dgx-h100", ProductType::kSame), RateKind::kAssumed);
  EXPECT_EQ(kind("dgx-h100", ProductType::kFp8), RateKind::kAssumed);
  work.piece = Piece::kMlpIn;
  EXPECT_EQ(kind("dgx-h100", ProductType::kSame), RateKind::kInterpolated);
  EXPECT_EQ(kind("dgx-h100", ProductType::kFp8), RateKind::kInterpolated);
}

// Published tables are of products alone. A SwiGLU reads two numbers and writes one, and backward
// reads three and writes two; GELU one and one, two and one.
TEST(WorkSeconds, PublishedRatesOfExpertsLeaveOutTheirActivation) {
  const Machine published = *find_machine("hgx-b200-simumax");
  constexpr std::int64_t kRows = 1024, kExperts = 4, C = 512, F = 256;
  Shape shape = moe_shape();
  shape.C = C;
  shape.experts.ffn = F;
  shape.experts.ranks = 1;
  shape.biases = false;
  const double bandwidth =
      published.memory_bytes_per_second.value * published.memory_efficiency.value;
  for (const auto& [mlp, phase, numbers] : {std::tuple{Mlp::kSwiglu, Phase::kForward, 3},
                                            {Mlp::kSwiglu, Phase::kRecompute, 3},
                                            {Mlp::kSwiglu, Phase::kInputGrad, 5},
                                            {Mlp::kGelu, Phase::kForward, 2},
                                            {Mlp::kGelu, Phase::kInputGrad, 3},
                                            {Mlp::kSwiglu, Phase::kWeightGrad, 0}}) {
    shape.mlp = mlp;
    Work work = product(kRows, 3 * F, C);
    work.piece = Piece::kExpert;
    work.phase = phase;
    work.repeat = kExperts;
    work.elements = kExperts * kRows * C;
    work.flops = 1e12;
    const ExpertShares& shares = published.experts;
    const double share = phase == Phase::kWeightGrad  ? shares.at(shares.weight_grad, C)
                         : phase == Phase::kInputGrad ? shares.at(shares.input_grad, kRows)
                                                      : shares.at(shares.forward, kRows);
    const double products =
        work.flops / (published.half_flops_per_second.value * published.sustained.value * share);
    const double between = numbers == 0 ? 0
                                        : published.launch_seconds.value +
                                              2.0 * numbers * kExperts * kRows * F / bandwidth;
    EXPECT_NEAR(work_seconds(work, shape, published, DataType::kBf16),
                published.launch_seconds.value + products + between, 1e-12);
  }
}

TEST(WorkSeconds, TakesTheRateOfTheModelsOwnKernelWhereItWasMeasured) {
  Machine calibrated = machine();
  calibrated.kernels = {{"gelu", 1e6}, {"norm", 1e6}, {"router_grad", 1e6}};
  Shape shape = moe_shape();
  shape.experts.model.router = Router::kSigmoid;
  Work work;
  work.elements = 1000;
  const auto seconds = [&](Piece piece, Phase phase) {
    work.piece = piece;
    work.phase = phase;
    return beyond_launch(work, shape, calibrated);
  };
  EXPECT_NEAR(seconds(Piece::kActivation, Phase::kForward), 1e-3, 1e-12);
  EXPECT_NEAR(seconds(Piece::kNorm2, Phase::kForward), 1e-3, 1e-12);
  EXPECT_NEAR(seconds(Piece::kRouter, Phase::kInputGrad), 1e-3, 1e-12);
  calibrated.kernels.push_back({"swiglu", 2e6});
  calibrated.kernels.push_back({"rms_norm", 4e6});
  calibrated.kernels.push_back({"sigmoid_router_grad", 5e6});
  EXPECT_NEAR(seconds(Piece::kActivation, Phase::kForward), 1e-3 / 2, 1e-12);
  EXPECT_NEAR(seconds(Piece::kNorm2, Phase::kForward), 1e-3 / 4, 1e-12);
  EXPECT_NEAR(seconds(Piece::kRouter, Phase::kInputGrad), 1e-3 / 5, 1e-12);
}

TEST(WorkSeconds, TakesTheRateOfTheProductsPhase) {
  Machine calibrated = machine();
  calibrated.matmuls = {{64, 32, 16, 1e9}, {64, 32, 16, 2e9}, {64, 32, 16, 4e9}};
  calibrated.matmuls[0].phase = "forward";
  calibrated.matmuls[1].phase = "input gradient";
  calibrated.matmuls[2].phase = "weight gradient";
  Work work = product(64, 32, 16);
  const auto rate = [&](Phase phase) {
    work.phase = phase;
    return work.flops / beyond_launch(work, Shape{}, calibrated);
  };
  EXPECT_NEAR(rate(Phase::kForward), 1e9, 1);
  EXPECT_NEAR(rate(Phase::kRecompute), 1e9, 1) << "a forward once more";
  EXPECT_NEAR(rate(Phase::kInputGrad), 2e9, 1);
  EXPECT_NEAR(rate(Phase::kWeightGrad), 4e9, 1);
  // Files of before tell no phase.
  calibrated.matmuls = {{64, 32, 16, 3e9}};
  for (const Phase phase : {Phase::kForward, Phase::kInputGrad, Phase::kWeightGrad})
    EXPECT_NEAR(rate(phase), 3e9, 1) << name_of(phase);
}

// Query heads that share keys take turns in a GPU's products, each of them a smaller one.
TEST(WorkSeconds, CountsTheTurnsOfSharedKeysOnAGpu) {
  Machine calibrated = machine();
  calibrated.kernels = {{"attention", {4e9}, 1e4}, {"attention", {1e9}, 1e6}};
  const auto line = [](double elements) {
    return 2.5e-6 + (1e-3 - 2.5e-6) * (elements - 1e4) / (1e6 - 1e4);
  };
  Shape shape;
  shape.B = 1;
  shape.H = 4;
  Work work = product(500, 500, 8);
  work.piece = Piece::kAttention;
  work.repeat = 2 * shape.H;
  work.elements = 1'000'000;
  ASSERT_FALSE(calibrated.ranks_share_memory());
  for (const std::int64_t keys : {4, 2, 1}) {
    shape.K = keys;
    const double turns = 4.0 / static_cast<double>(keys);
    EXPECT_NEAR(beyond_launch(work, shape, calibrated), turns * line(1e6 / turns), 1e-12) << keys;
  }
}

TEST(WorkSeconds, TakesOneOfTwoRatesOfOneSize) {
  Machine calibrated = machine();
  calibrated.kernels = {{"residual", {4e9}, 1e4}, {"residual", {4e9}, 1e4}};
  Work work;
  work.piece = Piece::kResidual1;
  work.bytes = 1'000'000;  // of which nothing follows where a rate is known
  for (const std::int64_t elements : {0, 100, 10'000, 1'000'000}) {
    work.elements = elements;
    EXPECT_NEAR(beyond_launch(work, Shape{}, calibrated), static_cast<double>(elements) / 4e9,
                1e-9);
  }
}

TEST(WorkSeconds, JoinsAKernelsRatesBySize) {
  Machine calibrated = machine();
  calibrated.kernels = {{"residual", {4e9}, 1e4}, {"residual", {1e9}, 1e6}};
  Work work;
  work.piece = Piece::kResidual1;
  const auto rate = [&](std::int64_t elements, std::int64_t repeat) {
    work.elements = elements;
    work.repeat = repeat;
    return static_cast<double>(elements) / beyond_launch(work, Shape{}, calibrated);
  };
  EXPECT_NEAR(rate(10'000, 1), 4e9, 10);
  EXPECT_NEAR(rate(1'000'000, 1), 1e9, 10);
  EXPECT_NEAR(rate(505'000, 1), 505'000 / (0.5 * (2.5e-6 + 1e-3)), 10) << "times go by a line";
  EXPECT_NEAR(rate(100, 1), 4e9, 1e3) << "below the smallest, of a kernel without a fixed part";
  EXPECT_NEAR(rate(100'000'000, 1), 1e9, 10) << "beyond the largest";
  EXPECT_NEAR(rate(1'000'000, 100), 4e9, 10) << "a hundred small calls of a whole stage";
  // Attention's calls are as large as one sequence makes them, however many there are, and however
  // many layers a whole stage has.
  calibrated.kernels = {{"attention", {4e9}, 1e4}, {"attention", {1e9}, 1e6}};
  Shape shape;
  shape.B = 100;
  shape.H = 4;
  work = product(50, 50, 8);
  work.piece = Piece::kAttention;
  for (const std::int64_t layers : {1, 100}) {
    work.repeat = layers * 2 * shape.B * shape.H;
    work.elements = layers * 1'000'000;
    EXPECT_NEAR(static_cast<double>(work.elements) / beyond_launch(work, shape, calibrated), 4e9,
                10);
  }
}

TEST(WorkSeconds, TakesTheRateOfAttentionAsItIsComputed) {
  Machine calibrated = machine();
  calibrated.kernels = {{"attention", 1e6}, {"attention_grad", 2e6}};
  Shape shape;
  Work work = product(64, 64, 16);
  work.piece = Piece::kAttention;
  work.elements = 1000;
  const auto rate = [&](Phase phase) {
    work.phase = phase;
    return 1000 / beyond_launch(work, shape, calibrated);
  };
  shape.fused = true;
  EXPECT_NEAR(rate(Phase::kForward), 1e6, 1) << "not measured: as before";
  calibrated.kernels.push_back({"fused_attention", 3e6});
  calibrated.kernels.push_back({"fused_attention_grad", 4e6});
  calibrated.kernels.push_back({"block_attention", 5e6});
  calibrated.kernels.push_back({"block_attention_grad", 6e6});
  EXPECT_NEAR(rate(Phase::kRecompute), 3e6, 1);
  EXPECT_NEAR(rate(Phase::kInputGrad), 4e6, 1);
  shape.key_blocks = 2;
  EXPECT_NEAR(rate(Phase::kForward), 5e6, 1);
  EXPECT_NEAR(rate(Phase::kInputGrad), 6e6, 1);
  shape.fused = false;
  EXPECT_NEAR(rate(Phase::kForward), 1e6, 1);
  EXPECT_NEAR(rate(Phase::kInputGrad), 2e6, 1);
}

TEST(Kernels, EveryPieceIsAProductOrACopyOrHasAName) {
  for (int piece = 0; piece < kPieces; ++piece) {
    const auto each = static_cast<Piece>(piece);
    const bool product = each == Piece::kStage || each == Piece::kQkv ||
                         each == Piece::kProjection || each == Piece::kMlpIn ||
                         each == Piece::kMlpOut || each == Piece::kHead || each == Piece::kRouter ||
                         each == Piece::kExpert || each == Piece::kTransfer ||
                         each == Piece::kOffload;  // a copy, at the rate of the host's link
    EXPECT_EQ(kernel_of(each, Phase::kForward).empty(), product) << name_of(each);
  }
  EXPECT_EQ(kernel_of(Piece::kAttention, Phase::kInputGrad), "attention_grad");
}

}  // namespace
}  // namespace parallelarium
