// SPDX-License-Identifier: GPL-3.0-or-later
// What a selected range reads out, and the edges that its cursors snap to.
#include "app/views/timeline/picture/range_readout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/views/timeline/picture/bar_paint.h"
#include "tests/app/pipeline/pipeline_fixture.h"

namespace parallelarium {
namespace {

TEST(Snap, GoesToTheNearestEdgeAndNoFurther) {
  PlanSetup setup = pipeline_setup(2, 4);
  setup.mesh.tp = 2;  // collectives between the pieces of an action
  const Picture picture = two_lanes(setup);
  const PictureLayout layout = layout_of(picture, QSizeF(1400, 480), light_theme());
  // Of the bars that are drawn: from far an action is one bar, and its parts have no edges.
  std::vector<Nanoseconds> edges;
  std::size_t drawn = 0, all = 0;
  for (const PictureLane& lane : picture.lanes) {
    const Zoom zoom = zoom_of(picture, layout);
    for (const Row& row : lane.rows->rows) {
      all += row.lane(Lane::kCompute, Zoom::kPieces).bars.size();
      drawn += row.lane(Lane::kCompute, zoom).bars.size();
      for (const Bar& bar : row.lane(Lane::kCompute, zoom).bars) {
        edges.push_back(bar.span.begin);
        edges.push_back(bar.span.end);
      }
    }
  }
  EXPECT_LT(drawn, all);
  const Nanoseconds slack = picture.range.end / 200;
  for (int sample = 0; sample <= 500; ++sample) {
    const Nanoseconds time = picture.range.end / 500 * sample;
    Nanoseconds nearest = edges.front();
    for (const Nanoseconds edge : edges)
      if (std::chrono::abs(edge - time) < std::chrono::abs(nearest - time)) nearest = edge;
    const auto snap = snapped(picture, layout, time, slack);
    EXPECT_EQ(snap.has_value(), std::chrono::abs(nearest - time) <= slack);
    if (snap) {
      EXPECT_EQ(std::chrono::abs(*snap - time), std::chrono::abs(nearest - time));
    }
  }
}

// The colour of the action that an op belongs to: the parts of a whole backward count as backward.
std::size_t color_by_action(const RankProgram& rank, const Op& op) {
  if (op.kind != OpKind::kCompute) return static_cast<std::size_t>(OpColor::kCommunication);
  if (op.action < 0) return static_cast<std::size_t>(OpColor::kOptimizer);
  switch (rank.actions[static_cast<std::size_t>(op.action)].kind) {
    case ActionKind::kForward:
      return static_cast<std::size_t>(OpColor::kForward);
    case ActionKind::kWeightGrad:
      return static_cast<std::size_t>(OpColor::kWeight);
    case ActionKind::kBackward:
    case ActionKind::kInputGrad:
      break;
  }
  return static_cast<std::size_t>(OpColor::kBackward);
}

// Every nanosecond-wide slice counted by hand would take too long; the ops themselves are summed
// instead, clipped to the range, straight from Program and Timeline.
TEST(Range, SharesAndBytesEqualASumOverOps) {
  const auto prediction = predicted(pipeline_setup(3, 5));
  const auto rows = rows_of(prediction, 1);
  const Program& program = prediction->program;
  for (int sample = 0; sample < 40; ++sample) {
    const TimeRange range{rows->end / 40 * sample / 2, rows->end / 40 * (sample + 7)};
    std::array<double, kOpColors> busy{};
    double sent = 0;
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
      for (std::size_t at = 0; at < program.ranks[rank].ops.size(); ++at) {
        const Op& op = program.ranks[rank].ops[at];
        const Span& span = rows->timeline->ranks[rank].spans[at];
        const double inside = static_cast<double>(std::max<std::int64_t>(
            0, (std::min(span.end, range.end) - std::max(span.begin, range.begin)).count()));
        if (op.lane == Lane::kCompute) busy[color_by_action(program.ranks[rank], op)] += inside;
      }
      for (std::size_t op = 0; op < program.ranks[rank].ops.size(); ++op) {
        if (program.ranks[rank].ops[op].kind != OpKind::kSend) continue;
        const Span& span = rows->timeline->ranks[rank].spans[op];
        const double inside = static_cast<double>(std::max<std::int64_t>(
            0, (std::min(span.end, range.end) - std::max(span.begin, range.begin)).count()));
        const double length = static_cast<double>((span.end - span.begin).count());
        if (length > 0)
          sent += static_cast<double>(program.ranks[rank].ops[op].bytes) * inside / length;
      }
    }
    const RangeReadout readout = read_range(*rows, range);
    EXPECT_EQ(readout.duration, range.length());
    const double whole = static_cast<double>(range.length().count()) * 3;
    double sum = readout.idle;
    for (std::size_t kind = 0; kind < kOpColors; ++kind) {
      EXPECT_NEAR(readout.busy[kind], busy[kind] / whole, 1e-9);
      sum += readout.busy[kind];
    }
    EXPECT_NEAR(sum, 1, 1e-9);
    // Collectives (the tied embedding's) are sent too, so the sum over sends is a lower bound that
    // is met wherever no collective lies in the range.
    EXPECT_GE(readout.sent_bytes, sent * (1 - 1e-9) - 1);
  }
}

}  // namespace
}  // namespace parallelarium
