// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/program/timeline.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/plan/program/report.h"
#include "tests/predict/built.h"
#include "tests/predict/program/tiny_program.h"

namespace parallelarium {
namespace {

Nanoseconds length(const Span& span) { return span.end - span.begin; }

// Piece-level 1F1B whose ops all take one nanosecond.
struct Ones {
  explicit Ones(int pp, int microbatches, int layers)
      : program(built(small_setup("1f1b", pp, 1, microbatches, layers))) {
    std::vector<std::vector<Nanoseconds>> durations;
    for (const RankProgram& rank : program.ranks) {
      durations.emplace_back(rank.ops.size(), Nanoseconds{1});
    }
    timeline = simulate(program, durations);
  }
  Program program;
  Timeline timeline;
};

TEST(Bars, CoverEveryOpOnceInTheOrderOfTheSchedule) {
  const Ones ones(3, 5, 6);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const RankProgram& ranked = ones.program.ranks[rank];
    std::vector<int> covered(ranked.ops.size(), 0);
    std::vector<std::int32_t> actions;  // one entry for each run of bars of an action
    for (const Bar& bar : bars_of(ones.program, ones.timeline, static_cast<int>(rank))) {
      EXPECT_LE(bar.first_op, bar.last_op);
      for (std::int32_t op = bar.first_op; op <= bar.last_op; ++op) {
        const Op& inside = ranked.ops[static_cast<std::size_t>(op)];
        if (inside.lane != bar.lane) continue;
        ++covered[static_cast<std::size_t>(op)];
        EXPECT_EQ(inside.kind, bar.kind);
        if (bar.kind == OpKind::kCompute) {
          EXPECT_EQ(inside.microbatch, bar.microbatch);
        }
        const Span& span = ones.timeline.ranks[rank].spans[static_cast<std::size_t>(op)];
        EXPECT_GE(span.begin, bar.span.begin);
        EXPECT_LE(span.end, bar.span.end);
      }
      if (bar.kind != OpKind::kCompute || bar.microbatch < 0) continue;
      const Op& op = ranked.ops[static_cast<std::size_t>(bar.first_op)];
      if (actions.empty() || actions.back() != op.action) actions.push_back(op.action);
      const Action& action = ranked.actions[static_cast<std::size_t>(op.action)];
      EXPECT_EQ(bar.action, action.kind);
      EXPECT_EQ(bar.microbatch, action.microbatch);
      EXPECT_EQ(bar.piece, op.piece);
      EXPECT_EQ(bar.layer, op.layer);
    }
    std::vector<std::int32_t> ascending(ranked.actions.size());
    std::iota(ascending.begin(), ascending.end(), 0);
    EXPECT_EQ(actions, ascending) << "bars stand in the order of the schedule";
    EXPECT_EQ(covered, std::vector<int>(ranked.ops.size(), 1));
  }
}

TEST(Bubble, CountsOnlyIdleTimeBetweenFirstForwardAndLastBackward) {
  TinyProgram tiny(1);
  const auto add = [&](int time, int microbatch) {
    const int op = tiny.compute(0, time);
    tiny.op(0, op).microbatch = microbatch;
    return op;
  };
  add(100, -1);  // clears gradients: before the window
  add(10, 0);
  const int other = tiny.compute(0, 30, {}, Lane::kData);
  tiny.compute(0, 0, {other});
  add(20, 0);
  add(50, -1);  // the optimizer: after it
  Timeline timeline = simulate(tiny.program, tiny.durations);
  EXPECT_EQ(bubble_of(tiny.program, timeline).of_total, 0);
  // A gap of 15 between the two.
  for (const std::size_t op : {4, 5}) {
    timeline.ranks[0].spans[op].begin += Nanoseconds{15};
    timeline.ranks[0].spans[op].end += Nanoseconds{15};
  }
  const Bubble bubble = bubble_of(tiny.program, timeline);
  EXPECT_DOUBLE_EQ(bubble.of_total, 15.0 / 45);
  EXPECT_DOUBLE_EQ(bubble.over_ideal, 15.0 / 30);
  EXPECT_DOUBLE_EQ(bubble.ranks[0], 15.0 / 45);
}

TEST(Memory, CurveMeetsThePlannedPeakWhereLanesDoNotOverlap) {
  const Ones ones(1, 3, 2);
  const MemoryRow row = memory_of(ones.program)[0];
  std::int64_t peak = 0, held = 0;
  for (const Buffer& buffer : ones.program.ranks[0].buffers) {
    if (buffer.opened_by < 0) held += buffer.bytes;
  }
  Nanoseconds before{-1};
  const auto curve = memory_over_time(ones.program, ones.timeline, 0);
  for (const MemoryPoint& point : curve) {
    EXPECT_GT(point.time, before);
    before = point.time;
    std::int64_t sum = 0;
    for (const std::int64_t bytes : point.bytes) {
      EXPECT_GE(bytes, 0);
      sum += bytes;
    }
    peak = std::max(peak, sum);
  }
  EXPECT_EQ(peak, row.peak_bytes);
  std::int64_t last = 0;
  for (const std::int64_t bytes : curve.back().bytes) last += bytes;
  EXPECT_EQ(last, held) << "everything that was opened is closed";
}

TEST(Traffic, SumsTransfersAndCollectivesOfARank) {
  TinyProgram tiny(3);
  for (const int rank : {0, 1, 2}) {
    tiny.collective(rank, 1);
    tiny.collective(rank, 1);
  }
  tiny.send(1, 2, 1);
  tiny.recv(1, 0, 1);
  tiny.recv(1, 0, 1);
  const std::vector<TrafficRow> rows = traffic_of(tiny.program, 1);
  ASSERT_EQ(rows.size(), 2u);
  // 12 bytes are 3 elements, one for each rank: ring or direct, 2 (n - 1) / n of the array.
  EXPECT_EQ(rows[0], (TrafficRow{Axis::kWorld, "all_reduce", Purpose::kGradients, 2, 32, 32}));
  EXPECT_EQ(rows[1], (TrafficRow{Axis::kWorld, "send_recv", Purpose::kActivations, 3, 8, 16}));
  const auto json = to_json(rows);
  EXPECT_EQ(json[0].dump(), R"({"calls":2,"group":"world","operation":"all_reduce",)"
                            R"("purpose":"gradients","received_bytes":32,"sent_bytes":32})");
}

TEST(Json, KeepsTheWholeTimeline) {
  Ones ones(2, 2, 2);
  Timeline& timeline = ones.timeline;
  timeline.source = Source::kPaced;
  timeline.step = 2;
  timeline.steps = 5;
  timeline.clock_error = Nanoseconds{45};
  timeline.ranks[1].shortest = {Nanoseconds{3}, Nanoseconds{4}};
  timeline.ranks[1].longest = {Nanoseconds{5}, Nanoseconds{6}};
  const auto read = timeline_from_json(nlohmann::json::parse(to_json(timeline).dump()));
  ASSERT_TRUE(read.ok()) << read.error().text;
  EXPECT_EQ(read->source, Source::kPaced);
  EXPECT_EQ(read->step, 2);
  EXPECT_EQ(read->steps, 5);
  EXPECT_EQ(read->clock_error.count(), 45);
  EXPECT_EQ(read->duration, timeline.duration);
  ASSERT_EQ(read->ranks.size(), 2u);
  EXPECT_EQ(read->ranks[1].shortest, timeline.ranks[1].shortest);
  EXPECT_EQ(read->ranks[1].longest, timeline.ranks[1].longest);
  for (std::size_t op = 0; op < timeline.ranks[0].spans.size(); ++op) {
    EXPECT_EQ(read->ranks[0].spans[op].begin, timeline.ranks[0].spans[op].begin);
    EXPECT_EQ(length(read->ranks[0].spans[op]), length(timeline.ranks[0].spans[op]));
  }
}

TEST(Json, NamesTheKeyThatIsWrong) {
  const Ones ones(1, 1, 1);
  const nlohmann::json right = to_json(ones.timeline);
  for (const char* key :
       {"source", "duration_seconds", "clock_error_seconds", "step", "steps", "ranks"}) {
    nlohmann::json wrong = right;
    wrong.erase(key);
    const auto read = timeline_from_json(wrong);
    ASSERT_FALSE(read.ok()) << key;
    EXPECT_NE(read.error().text.find(key), std::string::npos) << read.error().text;
  }
  for (const char* text :
       {"[]", "7", R"({"source":"imagined"})", R"({"source":"paced","duration_seconds":-1})"}) {
    EXPECT_FALSE(timeline_from_json(nlohmann::json::parse(text)).ok()) << text;
  }
  nlohmann::json wrong = right;
  wrong["ranks"][0]["spans"] = {5, 3};
  EXPECT_FALSE(timeline_from_json(wrong).ok());
  wrong["ranks"][0]["spans"] = {1, "x"};
  EXPECT_FALSE(timeline_from_json(wrong).ok());
}

TEST(StepFigures, ReportTheBusiestRank) {
  TinyProgram tiny(2);
  tiny.compute(0, 100);
  tiny.send(0, 1, 30);
  const int received = tiny.recv(1, 0, 30);
  tiny.compute(1, 120, {received});
  const Timeline timeline = simulate(tiny.program, tiny.durations);
  auto setup = small_setup("1f1b", 2, 1, 2);
  Machine machine;
  machine.fp32_flops_per_second.value = 1e12;
  const StepFigures step = step_figures(tiny.program, timeline, setup, machine);
  EXPECT_DOUBLE_EQ(step.seconds, 150e-9);
  EXPECT_DOUBLE_EQ(step.compute_seconds, 120e-9);
  EXPECT_DOUBLE_EQ(step.exposed_communication_seconds, 30e-9);
  const double tokens = 2.0 * static_cast<double>(setup.model.sequence);
  EXPECT_NEAR(step.tokens_per_second, tokens / 150e-9, 1);
  EXPECT_NEAR(step.mfu * 1e12 * 2 * 150e-9, 2 * model_flops_per_sequence(setup.model), 1);
  Timeline paced = timeline;
  paced.source = Source::kPaced;
  EXPECT_EQ(step_figures(tiny.program, paced, setup, machine).mfu, 0) << "paced rates mean nothing";
}

}  // namespace
}  // namespace parallelarium
