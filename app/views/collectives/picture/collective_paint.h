// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of a collective: every rank's buffer with what is on its way, steps in time,
// bandwidth by message size, and costs. One set of functions serves screen, PNG, SVG and PDF.
#pragma once

#include <QPainterPath>
#include <array>

#include "app/look/theme/theme.h"
#include "app/state/collective/collective_session.h"
#include "app/views/collectives/picture/collective_motion.h"
#include "app/views/collectives/picture/collective_plot.h"
#include "app/views/collectives/picture/collective_words.h"
#include "app/views/timeline/picture/timeline_paint.h"

namespace parallelarium {

CollectiveHidden hidden_of_collective(const Session& session);

struct CollectivePicture {
  std::shared_ptr<const CollectivePlan> plan;  // of the choice
  std::shared_ptr<const CollectiveMotion> predicted;
  // Null: not run, run with another spec, or on other links.
  std::shared_ptr<const CollectiveMotion> observed;
  const CollectiveRun* run = nullptr;
  bool stale = false;         // run is of another spec
  bool times_compare = true;  // the prediction is for the computer that runs it
  Nanoseconds playhead{0};
  bool tweened = true, dimmed = false;
  ChunkContent wanted = ChunkContent::kContributions;
  CollectiveHidden hidden;
  // Times of the two: lanes, ends, the plot.
  bool hides_predicted() const { return hidden.predicted || hidden.times; }
  bool hides_run() const { return hidden.run || hidden.times; }
  std::vector<MeasuredPoint> sweep;
  std::shared_ptr<const BandwidthLines> lines;  // null: still being computed
  std::shared_ptr<PlotCache> plot_cache;        // null: painted afresh
  MoveRef selected;

  // The same as two collectives, to stand beside it; null: not shown.
  std::shared_ptr<const CollectiveMotion> parts;
  // Where the parts are at the playhead.
  Nanoseconds parts_time() const;

  // What chunks show: values and bits are those of a run that may be seen.
  ChunkContent content() const;

  // What is animated.
  const CollectiveMotion& shown() const {
    return observed && !hides_run() ? *observed : *predicted;
  }
  Nanoseconds horizon() const;
  bool is_matrix() const { return plan->collective.spec.kind == CollectiveKind::kAllToAll; }
};

inline constexpr int kCostRows = 5;

struct CollectiveLayout {
  QSizeF size;
  double second_half = 0;  // where the parts begin; 0: none
  int ranks = 0, chunks = 0;
  bool matrix = false, labels_in_cells = true;
  int slots = 1;  // chips in a cell
  QRectF caption, buffers, bytes;
  QPointF cell_origin, cell_pitch;
  QSizeF cell_size;
  QSizeF token;                         // a chunk under way
  double around = 0;                    // what is free beside the outermost ranks
  QPointF result_origin, result_pitch;  // matrix: the slots of what arrived
  QRectF lanes_head, lanes;
  double lane_left = 0, lane_width = 0, lane_pitch = 0;
  bool two_lanes = true;  // a run stands below the prediction
  QRectF plot_head, plot, cost, verdict;
  // By row of the table: lines of its formula and of its factor.
  std::array<int, kCostRows> lines_below{};

  // Of a matrix: rank is the origin, chunk the destination.
  QRectF cell(int rank, int chunk) const;
  // Where a chunk's name stands, and a rank's: not of a matrix. Tokens stay off both.
  QRectF label(int rank, int chunk) const;
  QRectF rank_head(int rank) const;
  QRectF lane(int rank, bool observed) const;
  double x_of(Nanoseconds time, Nanoseconds horizon) const;
  // The line of the cost table at `point`, or -1.
  int cost_row_at(QPointF point) const;
  QRectF cost_row(int row) const;
};

// The least height at which nothing is squeezed.
double collective_height(const CollectivePicture& picture, double width);
CollectiveLayout collective_layout(const CollectivePicture& picture, QSizeF size);

void paint_collective(QPainter& painter, const CollectivePicture& picture,
                      const CollectiveLayout& layout, const Theme& theme, TextLog* texts);
// Its parts.
inline constexpr double kNumbered = 15;  // a chip narrower than this has no number
// What a rank holds in a chunk, as numbers; where they are.
QString value_text(const CollectivePicture& picture, int rank, int chunk);
void paint_buffers(QPainter& painter, const CollectivePicture& picture,
                   const CollectiveLayout& layout, const Theme& theme, TextLog* texts);
void paint_matrix(QPainter& painter, const CollectivePicture& picture,
                  const CollectiveLayout& layout, const Theme& theme, TextLog* texts);
// In one chunk of a rank: how many elements differ, and how. content() must be kRounding.
void paint_rounding(QPainter& painter, const CollectivePicture& picture, const QRectF& cell,
                    const QRectF& inside, int rank, int chunk, const Theme& theme, TextLog* texts);
// What the picture says of bits where they are asked for; else empty.
QString rounding_line(const CollectivePicture& picture);
void paint_steps(QPainter& painter, const CollectivePicture& picture,
                 const CollectiveLayout& layout, const Theme& theme, TextLog* texts);
void paint_costs(QPainter& painter, const CollectivePicture& picture,
                 const CollectiveLayout& layout, const Theme& theme, TextLog* texts);

// The way of a move between its cells; it begins and ends `inside` pixels behind their edges.
QPainterPath way_of(const CollectivePicture& picture, const CollectiveLayout& layout, MoveRef ref,
                    double inside);
// The move whose cell, message or bar lies at `point`; none.
MoveRef move_at(const CollectivePicture& picture, const CollectiveLayout& layout, QPointF point);
// A line of the cost table: what, formula, predicted, measured, and the source of the formula.
struct CostRow {
  QString what, formula, predicted, observed, source;
  // What the formula gives, and why the prediction is how many times that; empty where they agree.
  QString factor = {};
};
std::vector<CostRow> cost_rows(const CollectivePicture& picture);
// The lines below a row in a table of this width: of its formula, where that does not fit beside
// the figures, and of its factor.
QStringList lines_below(const CostRow& row, double width);

}  // namespace parallelarium
