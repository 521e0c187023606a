// SPDX-License-Identifier: Apache-2.0
// The roofline reads the objects that predict times: its points are the ops of the timeline.
#include "engine/predict/rates/roofline.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

Setup setup_of(const char* model, int tp = 1) {
  Setup setup = default_setup();
  setup.model = *find_model(model);
  setup.machine = "dgx-h100";
  setup.mesh.pp = 1;
  setup.mesh.tp = tp;
  setup.microbatches = 1;
  setup.precision = *find_precision("mixed-16-main-grads");
  setup.attention = Attention::kFused;
  return setup;
}

Roofline made(const Setup& setup, int layer = -1) {
  const Result<Roofline> roofline = roofline_of(setup, *machine_of(setup.machine), layer);
  EXPECT_TRUE(roofline.ok()) << (roofline.ok() ? "" : roofline.error().text);
  return roofline.ok() ? *roofline : Roofline{};
}

double flops_of(const Roofline& roofline, Phase phase) {
  double flops = 0;
  for (const RooflinePoint& point : roofline.points)
    if (point.phase == phase) flops += point.flops;
  return flops;
}

TEST(Roofline, SecondsAreThoseOfThePredictedStep) {
  for (const char* model : {"gpt2-124m", "llama3-8b", "qwen3-30b-a3b"}) {
    const auto setup = setup_of(model, 2);
    const auto roofline = made(setup);
    const Result<Prediction> prediction = predict(setup, *machine_of(setup.machine));
    ASSERT_TRUE(prediction.ok());
    const RankProgram& rank = prediction->program.ranks.front();
    double spans = 0, points = 0;
    for (std::size_t op = 0; op < rank.ops.size(); ++op)
      if (rank.ops[op].kind == OpKind::kCompute && rank.ops[op].layer == roofline.layer) {
        const Span& span = prediction->timeline.ranks.front().spans[op];
        spans += seconds_of(span.end - span.begin);
      }
    for (const RooflinePoint& point : roofline.points) points += point.seconds;
    // To a nanosecond for each op; ops that the host delays or communication slows take longer.
    EXPECT_GT(points, 0) << model;
    EXPECT_NEAR(points, spans, 0.02 * spans) << model;
  }
}

// Korthikanti et al. 2022, appendix A: 24 B s h^2 + 4 B s^2 h of a layer's forward, and the
// backward twice that, of which products of weights give half to each gradient and attention all to
// inputs.
TEST(Roofline, FlopsAreTheClosedFormulas) {
  for (const int tp : {1, 2, 4}) {
    auto setup = setup_of("gpt3-175b", tp);
    setup.attention = Attention::kUnfused;  // which executes all scores
    const auto roofline = made(setup);
    const double s = 2048, h = 12288;
    const double linear = 24 * s * h * h / tp, scores = 4 * s * s * h / tp;
    EXPECT_NEAR(flops_of(roofline, Phase::kForward), linear + scores, 1e-3 * (linear + scores));
    EXPECT_NEAR(flops_of(roofline, Phase::kWeightGrad), linear, 1e-3 * linear);
    EXPECT_NEAR(flops_of(roofline, Phase::kInputGrad), linear + 2 * scores,
                1e-3 * (linear + 2 * scores));
  }
}

// Of 16-bit numbers: a sum of two takes one FLOP for six bytes, silu(a) b five for six; RMSNorm
// squares, sums, and multiplies twice for four bytes, beside its few statistics.
TEST(Roofline, PiecesWithoutProductsHaveTheFlopsOfTheirFormulas) {
  const auto setup = setup_of("llama3-8b");
  const auto roofline = made(setup);
  const double elements = 8192.0 * 4096;  // one micro-batch of one sequence
  int seen = 0;
  for (const RooflinePoint& point : roofline.points) {
    if (point.phase != Phase::kForward) continue;
    if (point.piece == Piece::kResidual1 || point.piece == Piece::kResidual2) {
      EXPECT_EQ(point.flops, elements);
      EXPECT_DOUBLE_EQ(point.intensity(), 1.0 / 6);
    } else if (point.piece == Piece::kActivation) {
      EXPECT_EQ(point.flops, 5 * 8192.0 * 14336);
      EXPECT_DOUBLE_EQ(point.intensity(), 5.0 / 6);
    } else if (point.piece == Piece::kNorm1 || point.piece == Piece::kNorm2) {
      EXPECT_EQ(point.flops, 4 * elements);
      EXPECT_NEAR(point.intensity(), 1, 2e-3);
    } else {
      continue;
    }
    EXPECT_EQ(point.bound, RooflineBound::kMemory);
    EXPECT_EQ(point.peak_seconds, 0) << "they are no products";
    ++seen;
  }
  EXPECT_EQ(seen, 5);
}

TEST(Roofline, PiecesAndTotalsAreThePointsTogether) {
  for (const char* model : {"gpt2-124m", "llama3-8b", "qwen3-30b-a3b"}) {
    const auto setup = setup_of(model, 2);
    const auto roofline = made(setup);
    double share = 0, forward = 0, backward = 0, memory = 0;
    std::size_t points = 0;
    for (const RooflinePiece& piece : roofline.pieces) {
      share += piece.share;
      forward += piece.forward_seconds;
      backward += piece.backward_seconds;
      points += piece.points.size();
      for (const int at : piece.points)
        EXPECT_EQ(roofline.points[static_cast<std::size_t>(at)].piece, piece.piece);
    }
    EXPECT_EQ(points, roofline.points.size());
    EXPECT_NEAR(share, 1, 1e-9);
    EXPECT_NEAR(forward, roofline.forward_seconds, 1e-9 * forward);
    EXPECT_NEAR(forward + backward, roofline.seconds, 1e-9 * roofline.seconds);
    for (const RooflinePoint& point : roofline.points)
      memory += point.bound == RooflineBound::kMemory ? point.seconds : 0;
    EXPECT_NEAR(roofline.memory_share, memory / roofline.seconds, 1e-9);
    // The ridge is that of the type in which the layer multiplies.
    const Machine machine = *machine_of(setup.machine);
    EXPECT_NEAR(roofline.ridge,
                machine.half_flops_per_second.value / machine.memory_bytes_per_second.value, 1e-6);
    // At peak rates alone the step would take this share, so no more than all of it.
    EXPECT_GT(roofline.of_peak, 0.05) << model;
    EXPECT_LT(roofline.of_peak, 1) << model;
  }
}

TEST(Roofline, CeilingsAreTheMachinesWithTheirOrigins) {
  const auto roofline = made(setup_of("llama3-8b"));
  const Machine machine = *machine_of("dgx-h100");
  std::map<std::string, const RooflineCeiling*> by_name;
  for (const RooflineCeiling& ceiling : roofline.ceilings) {
    EXPECT_FALSE(text_of(ceiling.origin).empty()) << ceiling.name.text;
    EXPECT_GT(ceiling.flops_per_second + ceiling.bytes_per_second, 0);
    by_name[ceiling.name.id] = &ceiling;
  }
  // The L2 cache is one, beside its rung of the ladder, and lies above the memory.
  ASSERT_EQ(by_name.count("rung-cache"), 1u);
  EXPECT_GT(by_name["rung-cache"]->bytes_per_second, machine.memory_bytes_per_second.value);
  EXPECT_TRUE(is_measured(by_name["rung-cache"]->origin));
  ASSERT_EQ(by_name.count("ceiling-half"), 1u);
  EXPECT_EQ(by_name["ceiling-half"]->flops_per_second, machine.half_flops_per_second.value);
  EXPECT_EQ(by_name["ceiling-memory"]->origin, machine.memory_bytes_per_second.origin);
  EXPECT_NEAR(by_name["ceiling-half"]->ridge,
              machine.half_flops_per_second.value / machine.memory_bytes_per_second.value, 1e-6);
}

// Further away is slower and larger, of every machine that says so much.
TEST(Ladder, GoesFromNearToFar) {
  int whole = 0;
  for (const std::string& name : machine_names()) {
    const Machine machine = *find_machine(name);
    const std::vector<MemoryRung> rungs = *rungs_of(machine);
    const std::vector<LadderRow> rows = ladder_of(machine, rungs);
    double latency = 0, rate = 1e300, times = 1, first = 0;
    bool has_memory = false;
    for (const LadderRow& row : rows) {
      has_memory = has_memory || row.level == "memory";
      if (row.latency_seconds.value > 0) {
        EXPECT_GT(row.latency_seconds.value, latency) << name << " " << row.level;
        EXPECT_FALSE(text_of(row.latency_seconds.origin).empty());
        latency = row.latency_seconds.value;
      }
      if (row.level == "host" || row.bytes_per_second.value <= 0) continue;  // beside the links
      EXPECT_LE(row.bytes_per_second.value, rate) << name << " " << row.level;
      EXPECT_FALSE(text_of(row.bytes_per_second.origin).empty());
      rate = row.bytes_per_second.value;
      if (first == 0) first = rate;
      if (row.times_slower > 0) times *= row.times_slower;
    }
    EXPECT_NEAR(times, first / rate, 1e-9 * times) << name << ": step by step to the last";
    EXPECT_TRUE(has_memory) << name;
    whole += rungs.empty() ? 0 : 1;
    if (!machine.local) {
      EXPECT_EQ(rows.back().level, "network") << name << ": up to another node";
    }
  }
  EXPECT_EQ(whole, 9) << "machines of V100, A100, H100, H200 and H800, and what is based on them";
}

// The figures that the sources print, in their units.
TEST(Ladder, OfAnH800IsThatOfItsSources) {
  const std::vector<LadderRow> rows =
      ladder_of(*find_machine("hgx-h800"), *rungs_of(*find_machine("hgx-h800")));
  const auto row = [&](const char* level) {
    for (const LadderRow& found : rows)
      if (found.level == level) return found;
    return LadderRow{};
  };
  EXPECT_NEAR(row("registers").latency_seconds.value * 1755e6, 4, 0.01);
  EXPECT_NEAR(row("L1").latency_seconds.value * 1755e6, 34.2, 0.1);
  EXPECT_NEAR(row("L2").latency_seconds.value * 1755e6, 265.5, 0.1);
  EXPECT_NEAR(row("memory").latency_seconds.value * 1755e6, 650.0, 1);
  EXPECT_EQ(row("memory").bytes_per_second.value, 3.35e12);
  EXPECT_EQ(row("memory").bytes, 80'000'000'000);
  EXPECT_EQ(row("node").name.text, "link in a node, NVLink");
  EXPECT_EQ(row("node").latency_seconds, find_machine("hgx-h800")->intra_node.latency_seconds);
}

// What was measured of the memory goes before what the machine says.
TEST(Ladder, FillsTheMemoryOfAMachineWithoutOne) {
  const Machine machine = *find_machine("4x-l40s");
  EXPECT_TRUE(rungs_of(machine)->empty());
  EXPECT_EQ(ladder_of(machine, {}).front().level, "memory");
  EXPECT_EQ(ladder_of(machine, {}).front().bytes_per_second, machine.memory_bytes_per_second);
  const std::vector<MemoryRung> rungs = {
      {"memory", 0, {5e-7, measured_here("2026-11-21")}, {7e11}}};
  EXPECT_EQ(ladder_of(machine, rungs).front().bytes_per_second.value, 7e11);
  EXPECT_EQ(ladder_of(machine, rungs).front().latency_seconds.value, 5e-7);
}

TEST(Ladder, RowsSayWhatIsKnown) {
  const nlohmann::json json = to_json(made(setup_of("llama3-8b"))).at("ladder");
  ASSERT_EQ(json.size(), 8u);
  for (const nlohmann::json& row : json) {
    EXPECT_TRUE(row.contains("level") && row.contains("name"));
    EXPECT_EQ(row.contains("bytes_per_second"), row.contains("origin")) << row;
    EXPECT_EQ(row.contains("latency_seconds"), row.contains("latency_origin")) << row;
  }
  EXPECT_FALSE(json.at(0).contains("bytes_per_second")) << "of registers it is not known";
}

TEST(Roofline, ALargeProductIsBoundByComputeAndANormByMemory) {
  const auto roofline = made(setup_of("llama3-8b"));
  int seen = 0;
  for (const RooflinePoint& point : roofline.points) {
    if (point.piece == Piece::kMlpIn && point.phase != Phase::kUpdate) {
      EXPECT_EQ(point.bound, RooflineBound::kCompute);
      ++seen;
    }
    if (point.piece == Piece::kNorm1 && point.phase == Phase::kForward) {
      EXPECT_EQ(point.bound, RooflineBound::kMemory);
      ++seen;
    }
  }
  EXPECT_EQ(seen, 4);  // forward, both gradients; the norm
}

// Else its FLOPs were counted in another way than its seconds.
TEST(Roofline, NoPointLiesAboveItsCeiling) {
  for (const char* model : {"gpt3-175b", "llama3-8b", "deepseek-v3", "qwen3-235b-a22b"}) {
    auto setup = setup_of(model);
    setup.model.layers = std::min(setup.model.layers, 8);
    setup.model.stage_layers.clear();
    for (const bool fused : {true, false}) {
      setup.attention = fused ? Attention::kFused : Attention::kUnfused;
      const Machine machine = *machine_of(setup.machine);
      for (const RooflinePoint& point : made(setup).points)
        EXPECT_LE(point.flops / point.seconds, machine.half_flops_per_second.value)
            << model << " " << name_of(point.piece) << ", " << name_of(point.phase);
    }
  }
}

TEST(Roofline, FoldedStepsHaveTheSamePoints) {
  auto few = setup_of("llama3-70b", 8), many = few;
  few.mesh.pp = many.mesh.pp = 4;
  few.microbatches = 4;
  many.microbatches = 512;
  const auto a = made(few, 20), b = made(many, 20);
  EXPECT_EQ(a.rank, b.rank);
  ASSERT_EQ(a.points.size(), b.points.size());
  for (std::size_t at = 0; at < a.points.size(); ++at) {
    EXPECT_EQ(a.points[at].piece, b.points[at].piece);
    EXPECT_EQ(a.points[at].flops, b.points[at].flops);
    EXPECT_DOUBLE_EQ(a.points[at].seconds, b.points[at].seconds);
  }
}

TEST(Roofline, RefusesALayerThatIsNotThere) {
  const auto setup = setup_of("llama3-8b");
  const auto wrong = roofline_of(setup, *machine_of(setup.machine), 32);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().text, "There is no layer 32; this model has layers 0 to 31.");
}

}  // namespace
}  // namespace parallelarium
