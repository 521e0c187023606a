// SPDX-License-Identifier: Apache-2.0
// When every op of a Program began and ended: predicted by the event walk, or observed in a run.
// Prediction and observation join by (rank, op index).
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/program/program.h"

namespace parallelarium {

using Nanoseconds = std::chrono::nanoseconds;
inline double seconds_of(Nanoseconds time) { return std::chrono::duration<double>(time).count(); }

// Where numbers come from, in the words of the window.
enum class Source : std::uint8_t {
  kPredicted,
  kMeasured,
  kOversubscribed,
  kPaced,  // a rehearsal: durations are set, see plan/placement/stretch.h
  kSharedGpu,
};
// "predicted" "measured" "oversubscribed" "paced" "shared GPU"
std::string_view name_of(Source source);
// What people read: the same, and "rehearsed" for kPaced.
std::string_view spoken_name(Source source);

struct Span {
  Nanoseconds begin{0};
  Nanoseconds end{0};
};

// A transfer or collective that took longer, since others used its links meanwhile.
struct SlowedOp {
  std::int32_t op = 0;
  Nanoseconds by{0};
};

struct RankTimeline {
  std::vector<Span> spans;       // by op index
  std::vector<SlowedOp> slowed;  // predicted only
  // Observed only: shortest and longest duration of each op over the timed steps.
  std::vector<Nanoseconds> shortest, longest;
};

struct Timeline {
  Source source = Source::kPredicted;
  std::vector<RankTimeline> ranks;  // as Program::ranks
  Nanoseconds duration{0};  // of the step: the last end minus the first begin; the first begin is 0
  Nanoseconds clock_error{0};  // how far two ranks' clocks may differ
  int step = 0;                // observed: which timed step this is, from 1
  int steps = 0;               // the number of timed steps
};

// One bar of the picture: an op, or the ops of one batch, which begin and end together. A picture
// may join the bars of an action, or of one layer in it, into one bar
// (app/views/timeline/picture/whole_bars.h).
struct Bar {
  std::int32_t first_op = 0, last_op = 0;  // in issue order, both of this bar
  Lane lane = Lane::kCompute;
  OpKind kind = OpKind::kCompute;
  ActionKind action = ActionKind::kForward;  // only for bars with microbatch >= 0
  Phase phase = Phase::kForward;             // kUpdate: optimizer and what belongs to it
  Piece piece = Piece::kStage;               // only for compute bars; kStage: more than one piece
  Purpose purpose = Purpose::kNone;
  CollectiveKind collective = CollectiveKind::kAllReduce;  // kCollective only
  Axis axis = Axis::kWorld;                                // axis of the group; kCollective only
  std::int16_t layer = -1;  // -1: the bar is of no layer, or of several
  std::int16_t chunk = 0;
  std::int32_t microbatch = -1;
  Span span;
};

// The bars of rank index `rank`, sorted by begin within each lane.
std::vector<Bar> bars_of(const Program& program, const Timeline& timeline, int rank);

// Bubble: the idle time of compute lanes from the first F to the last B or W of the step.
struct Bubble {
  double over_ideal = 0;  // idle / busy, over all ranks together
  double of_total = 0;    // idle / (idle + busy)
  // The idle share of the rank that takes longest from its own first F to its own last B or W.
  // Source: Qi et al. 2024 (arXiv 2401.10241), section 5.1.
  double of_longest_rank = 0;
  std::vector<double> ranks;  // of_total of each rank
};
Bubble bubble_of(const Program& program, const Timeline& timeline);

// How many micro-batches' activations the rank with index `rank` holds after each change, as (time,
// count). A forward adds one when it ends; its backward (or weight part) takes one away when it
// ends. A chunk counts 1/chunks.
struct HeldPoint {
  Nanoseconds time{0};
  double held = 0;
};
std::vector<HeldPoint> held_microbatches(const Program& program, const Timeline& timeline,
                                         int rank);

// Bytes held by category over the step, at each op that opens or closes buffers.
struct MemoryPoint {
  Nanoseconds time{0};
  std::int64_t bytes[kCategories] = {};
};
std::vector<MemoryPoint> memory_over_time(const Program& program, const Timeline& timeline,
                                          int rank);

// The wire form:
// {"source","duration_seconds","clock_error_seconds","step","steps","ranks":[{"spans":
// [begin0,end0,...] ns,"shortest":[...],"longest":[...]}]}.
nlohmann::json to_json(const Timeline& timeline);
Result<Timeline> timeline_from_json(const nlohmann::json& json);

}  // namespace parallelarium
