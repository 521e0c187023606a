// SPDX-License-Identifier: GPL-3.0-or-later
// What the timeline pictures are made of: the bars of a Program in time, one row per built rank,
// sorted and with running sums, so that any visible range is found by binary search and thousands
// of bars under one pixel cost as much as one.
#pragma once

#include <QString>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "app/look/theme/theme.h"
#include "app/state/session.h"

namespace parallelarium {

inline constexpr int kOpColors = 5;

// Bars of one lane of one rank. Begins and ends ascend.
struct BarList {
  std::vector<Bar> bars;
  // busy[i][k]: nanoseconds that bars [0, i) spend in OpColor k; one entry more than bars.
  std::vector<std::array<std::int64_t, kOpColors>> busy;
  // Of whole bars, the time that each spends on computing a forward again; empty where none does.
  std::vector<Nanoseconds> recompute;
  double recompute_share(std::size_t bar) const;
  // Of whole bars, when nothing happens inside one: its next part waits. Ascending.
  std::vector<Span> waits;
  std::vector<Nanoseconds> waited;  // by bar, how long that is
  // Whether it is more than a hundredth of the bar. Launches alone take less.
  bool waits_long(std::size_t bar) const;
  // Of whole bars: bar i stands for the bars [parts[i], parts[i + 1]) of the list of pieces. Empty
  // where each bar stands for itself.
  std::vector<std::size_t> parts;
  std::size_t parts_of(std::size_t bar) const {
    return parts.empty() ? 1 : parts[bar + 1] - parts[bar];
  }
  // By bar, the share of its busy time that is communication inside it; 0 for one that is itself
  // communication.
  double inside_share(std::size_t bar) const;

  // The first bar that ends after `time`, or bars.size().
  std::size_t first_after(Nanoseconds time) const;
  // The bar that contains `time`, or the nearest within `slack`, or -1.
  int at(Nanoseconds time, Nanoseconds slack = Nanoseconds(0)) const;
};
BarList make_bar_list(std::vector<Bar> bars);

// What a bar of `wholes` is made of: time of compute pieces, of collectives between them, and of
// waiting.
struct InsideTimes {
  Nanoseconds computing{0}, communicating{0}, waiting{0};
  int collectives = 0;
};
InsideTimes inside_times(const BarList& pieces, const BarList& wholes, std::size_t bar);

// Layers, and pieces, narrower than this on average are shown as one bar. A layer has room for its
// name; of the pieces the long ones have.
inline constexpr double kLeastLayerPixels = 56, kLeastPiecePixels = 14;

// How long a rank holds the activations of a micro-batch (of one chunk): from the end of its
// forward to the end of its backward, or of the weight part where the backward is split.
struct Hold {
  int microbatch = 0, chunk = 0;
  Nanoseconds from{0}, until{0};
};

// An activation or gradient that goes from one stage to another, in the first replica.
struct StageParcel {
  int from = 0, to = 0;  // stages
  int microbatch = 0;
  bool gradient = false;
  Nanoseconds begin{0}, end{0};  // of its way
  Nanoseconds used{0};           // when the receiver's op that needs it begins
};

struct Row {
  int rank_index = 0;  // in Program::ranks
  int rank = 0;        // global
  int stage = 0;
  QString label;  // "Stage 0", or "Stage 0 \u00b7 replica 1" where a stage has several ranks
  std::array<BarList, kLanes> lanes;  // the compute lane in pieces
  // The compute lane from farther away; no bars where an action is one piece.
  BarList actions, layers;
  BarList inside;  // the compute lane's communication, inside layers: nothing is computed beside it
  std::vector<Hold> holds;  // by from
  bool opens() const { return !actions.bars.empty(); }
  // What is communicated in a lane.
  const BarList& sent(Lane which) const {
    return which == Lane::kCompute ? inside : lanes[static_cast<std::size_t>(which)];
  }
  const BarList& lane(Lane which, Zoom zoom = Zoom::kActions) const {
    if (which == Lane::kCompute && zoom != Zoom::kPieces && opens())
      return zoom == Zoom::kLayers ? layers : actions;
    return lanes[static_cast<std::size_t>(which)];
  }
};

// Whom a lane of communication connects.
struct Connects {
  bool stages = false, replicas = false, tensor = false, context = false;
};

// A Program, a Timeline of it and its rows: what one block of the picture shows.
struct LaneRows {
  std::shared_ptr<const Prediction> prediction;  // owns the Program
  std::shared_ptr<const Timeline> timeline;
  std::vector<Row> rows;  // by stage, then replica
  Nanoseconds end{0};     // of the longest row
  int chunks = 1;         // of the model, held by a rank
  std::array<Connects, kLanes> connects{};
  // Mean lengths of what actions open into; 0: every action is one piece.
  Nanoseconds layer{0}, piece{0};

  const Program& program() const { return prediction->program; }
  // The row of a rank index, or null.
  const Row* row_of(int rank_index) const;
  // The bar that holds an op, or null.
  const Bar* bar_of(OpRef op, Zoom zoom = Zoom::kActions) const;
  // Actions until their layers are wide enough to be told apart, then layers until the pieces are;
  // for all rows alike.
  Zoom zoom_at(double pixels_per_nanosecond) const;
  // Why the rank idles, by time; computed when first asked for.
  const std::vector<IdleGap>& gaps_of(int rank_index) const;
  // By begin; computed when first asked for.
  const std::vector<StageParcel>& parcels() const;

 private:
  // Only the window's thread asks.
  mutable std::map<int, std::vector<IdleGap>> gaps_;
  mutable std::optional<std::vector<StageParcel>> parcels_;
};

// `timeline` must have a span for every op of prediction->program.
std::shared_ptr<const LaneRows> make_rows(std::shared_ptr<const Prediction> prediction,
                                          std::shared_ptr<const Timeline> timeline);

// What a stage does and holds at one moment; every frame of the animation is made of this.
struct StageMoment {
  const Bar* bar = nullptr;  // what its compute lane does, or null when idle
  std::vector<int> held;     // micro-batches whose activations it holds, ascending
};
StageMoment moment_of(const Row& row, Nanoseconds time);

}  // namespace parallelarium
