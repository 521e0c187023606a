// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/views/collectives/picture/collective_paint.h"

namespace parallelarium {
namespace {

constexpr double kMargin = 16, kCaption = 24, kRankHead = 22, kBytes = 22, kLanesHead = 22;
constexpr double kPhases = 20, kLowerHead = 22, kLeastLower = 190, kMostLower = 330;
constexpr double kCostRow = 26;
constexpr double kFormulaLine = 13;
constexpr double kLaneLeft = 86, kWrap = 12;
constexpr double kAround = 6, kLabels = 22;  // beside a token that goes round; a column of labels

// Heights that go with a number of rows: as high as in a small picture, lower where there are many.
double cell_pitch_for(int rows) {
  return rows <= 4 ? 37 : rows <= 6 ? 34 : rows <= 8 ? 27 : rows <= 16 ? 17 : 12;
}
double lane_pitch_for(int ranks) { return ranks <= 4 ? 26 : ranks <= 8 ? 22 : 15; }

// Whether chunks pass from the last rank to the first by a way around the others.
bool goes_round(const CollectivePlan& plan) {
  return plan.ranks() > 2 && plan.collective.spec.algorithm.find("ring") != std::string::npos;
}

double lower_half(double width) { return width >= 640 ? std::round(width * 0.5) : width; }
double cost_width(double width) { return width - lower_half(width) - 8 - kMargin; }

std::array<int, kCostRows> lines_below_rows(const CollectivePicture& picture, double width) {
  std::array<int, kCostRows> lines{};
  const std::vector<CostRow> rows = cost_rows(picture);
  for (std::size_t row = 0; row < rows.size() && width > 0; ++row)
    lines[row] = int(lines_below(rows[row], width).size());
  return lines;
}

int sum_of(const std::array<int, kCostRows>& lines) {
  return std::accumulate(lines.begin(), lines.end(), 0);
}

int rows_of(const CollectivePicture& picture) {
  return picture.is_matrix() ? picture.plan->ranks() : std::max(1, picture.plan->collective.chunks);
}

}  // namespace

Nanoseconds CollectivePicture::horizon() const {
  Nanoseconds longest{0};
  const bool fresh = observed && !hides_run();
  if (!hides_predicted()) longest = predicted->duration();
  if (fresh) longest = std::max(longest, observed->duration());
  return longest;
}

Nanoseconds CollectivePicture::parts_time() const {
  const auto whole = double(std::max<std::int64_t>(1, shown().duration().count()));
  return Nanoseconds(
      std::llround(double(playhead.count()) / whole * double(parts->duration().count())));
}

ChunkContent CollectivePicture::content() const {
  const bool seen = run && !stale && !hides_run();
  const bool there = wanted == ChunkContent::kValues     ? seen && !run->seen.values.first.empty()
                     : wanted == ChunkContent::kRounding ? seen && run->seen.rounding.has_value()
                                                         : true;
  return there ? wanted : ChunkContent::kContributions;
}

double collective_height(const CollectivePicture& picture, double width) {
  const int rows = rows_of(picture), ranks = picture.plan->ranks();
  return kCaption + kRankHead + rows * cell_pitch_for(rows) + kWrap + kBytes + kLanesHead +
         ranks * lane_pitch_for(ranks) + kPhases + kLowerHead + kLeastLower +
         kFormulaLine * sum_of(lines_below_rows(picture, cost_width(width)));
}

CollectiveLayout collective_layout(const CollectivePicture& picture, QSizeF size) {
  CollectiveLayout layout;
  const CollectivePlan& plan = *picture.plan;
  layout.size = size;
  layout.ranks = plan.ranks();
  layout.matrix = picture.is_matrix();
  layout.chunks = layout.matrix ? plan.ranks() : plan.collective.chunks;
  layout.slots = plan.is_copying() ? 1 : plan.ranks();
  const int rows = rows_of(picture), n = layout.ranks;
  const double width = size.width();
  const double extra = std::max(0.0, size.height() - collective_height(picture, width));
  const double lower = std::min(kMostLower, kLeastLower + extra);
  // What the lower half does not take lets few rows breathe.
  const double spare = std::min(extra - (lower - kLeastLower), rows <= 8 ? 10.0 * rows : 0.0);
  const double pitch = cell_pitch_for(rows) + spare / rows;
  layout.caption = QRectF(kMargin, 4, width - 2 * kMargin, 18);
  const double top = kCaption + kRankHead;
  layout.buffers = QRectF(kMargin, kCaption, width - 2 * kMargin, kRankHead + rows * pitch);
  const double gap = rows <= 8 ? 6 : rows <= 16 ? 3 : 2;
  if (layout.matrix) {
    const double cell = std::min(72.0, (width * 0.56 - 2 * kMargin - 30) / n);
    layout.cell_origin = QPointF(kMargin + 34, top);
    layout.cell_pitch = QPointF(cell, pitch);
    layout.cell_size = QSizeF(cell - std::min(4.0, gap), pitch - std::min(4.0, gap));
    const double left = kMargin + 34 + cell * n + 64;
    layout.result_origin = QPointF(left, top);
    layout.result_pitch = QPointF(std::min(32.0, (width - kMargin - left) / n), pitch);
    layout.labels_in_cells = false;
  } else {
    // A column of labels where there is no room for them in the cells.
    const bool halves = picture.parts != nullptr;
    const double across = halves ? width / 2 : width;
    if (halves) layout.second_half = across;
    const double inner = across - 2 * kMargin - 20;
    layout.labels_in_cells = inner / n >= 112;
    // It passes between two columns.
    layout.token = QSizeF(std::min(38.0, inner / n * 0.24), std::min(20.0, pitch - gap - 2));
    // Chunks that go round the outermost ranks have a way of their own there.
    layout.around = goes_round(plan) ? layout.token.width() + kAround : 10;
    const double left = kMargin + layout.around + (layout.labels_in_cells ? 0 : kLabels);
    const double room = across - kMargin - layout.around - left;
    const double between = std::clamp(room / n * 0.27, 5.0, 56.0);
    layout.cell_pitch = QPointF((room + between) / n, pitch);
    const double cell = layout.cell_pitch.x() - between;
    layout.cell_origin = QPointF(left, top);
    layout.cell_size = QSizeF(std::min(cell, 230.0), pitch - gap);
  }
  double y = top + rows * pitch + kWrap;
  layout.bytes = QRectF(kMargin, y, width - 2 * kMargin, 18);
  y += kBytes;
  layout.lanes_head = QRectF(kMargin, y, width - 2 * kMargin, 18);
  y += kLanesHead;
  layout.lane_pitch = lane_pitch_for(n);
  layout.two_lanes = picture.observed != nullptr;
  layout.lane_left = kLaneLeft;
  layout.lane_width = width - kLaneLeft - kMargin - 6;
  layout.lanes = QRectF(kMargin, y, width - 2 * kMargin, n * layout.lane_pitch);
  y += n * layout.lane_pitch + kPhases;
  const double half = lower_half(width);
  layout.plot_head = QRectF(kMargin, y, half - kMargin - 26, 18);
  const double below = std::max(120.0, size.height() - y - kLowerHead - 18);
  layout.plot = QRectF(kMargin, y + kLowerHead + 10, half - kMargin - 26, below);
  layout.lines_below = lines_below_rows(picture, cost_width(width));
  layout.cost =
      QRectF(half + 8, y, cost_width(width),
             kLowerHead + 20 + kCostRows * kCostRow + kFormulaLine * sum_of(layout.lines_below));
  layout.verdict = QRectF(layout.cost.left(), layout.cost.bottom() + 5, layout.cost.width(), 34);
  return layout;
}

QRectF CollectiveLayout::cell(int rank, int chunk) const {
  const double x = matrix ? chunk : rank, y = matrix ? rank : chunk;
  return {QPointF(cell_origin.x() + x * cell_pitch.x(), cell_origin.y() + y * cell_pitch.y()),
          cell_size};
}

QRectF CollectiveLayout::label(int rank, int chunk) const {
  const QRectF at = cell(rank, chunk);
  return labels_in_cells ? QRectF(at.left() + 9, at.top(), 22, at.height())
                         : QRectF(at.left() - around - kLabels, at.top(), kLabels, at.height());
}

QRectF CollectiveLayout::rank_head(int rank) const {
  const QRectF first = cell(rank, 0);
  return {first.left(), first.top() - 20, first.width(), 16};
}

QRectF CollectiveLayout::lane(int rank, bool observed) const {
  const double top = lanes.top() + rank * lane_pitch + 1;
  const double gap = lane_pitch > 20 ? 2 : 1, room = lane_pitch - (lane_pitch > 20 ? 6 : 3);
  if (!two_lanes) return {lane_left, top + (room - 10) / 2, lane_width, std::min(12.0, room)};
  const double height = std::floor((room - gap) / 2);
  return {lane_left, top + (observed ? height + gap : 0), lane_width, height};
}

double CollectiveLayout::x_of(Nanoseconds time, Nanoseconds horizon) const {
  return lane_left +
         lane_width * double(time.count()) / double(std::max<std::int64_t>(1, horizon.count()));
}

QRectF CollectiveLayout::cost_row(int row) const {
  const auto at = lines_below.begin() + row;
  const double above = row * kCostRow + kFormulaLine * std::accumulate(lines_below.begin(), at, 0);
  return {cost.left(), cost.top() + kLowerHead + 18 + above, cost.width(),
          kCostRow + kFormulaLine * *at};
}

int CollectiveLayout::cost_row_at(QPointF point) const {
  for (int row = 0; row < kCostRows; ++row)
    if (cost_row(row).contains(point)) return row;
  return -1;
}

QPainterPath way_of(const CollectivePicture& picture, const CollectiveLayout& layout, MoveRef ref,
                    double inside) {
  const Move& move = picture.shown().move(ref);
  QPainterPath path;
  if (layout.matrix) return path;
  const QRectF source = layout.cell(move.from, move.chunk),
               target = layout.cell(move.to, move.chunk);
  const int n = layout.ranks;
  const bool wraps = goes_round(*picture.plan) && std::abs(move.to - move.from) == n - 1;
  const bool right = wraps ? move.to < move.from : move.to > move.from;
  const auto edge = [](const QRectF& cell, bool on_right) {
    return QPointF(on_right ? cell.right() : cell.left(), cell.center().y());
  };
  const QPointF out = edge(source, right), in = edge(target, !right);
  const QPointF back(right ? inside : -inside, 0);
  path.moveTo(out - back);
  path.lineTo(out);
  if (wraps) {
    const double bottom = layout.cell(0, layout.chunks - 1).bottom() + 8;
    // Far enough outside that a token on it covers nothing.
    const double after = right ? layout.around / 2 : -layout.around / 2, before = -after;
    path.lineTo(out + QPointF(after, 0));
    path.lineTo(out.x() + after, bottom);
    path.lineTo(in.x() + before, bottom);
    path.lineTo(in + QPointF(before, 0));
  } else if (std::abs(move.to - move.from) > 1) {
    // Over the ranks between: bent, so that it does not lie on other ways.
    const double bend = std::min(26.0, layout.cell_pitch.y() * 0.7) * (right ? -1 : 1);
    const QPointF third = (in - out) / 3;
    path.cubicTo(out + third + QPointF(0, bend), in - third + QPointF(0, bend), in);
  }
  path.lineTo(in);
  path.lineTo(in + back);
  return path;
}

MoveRef move_at(const CollectivePicture& picture, const CollectiveLayout& layout, QPointF point) {
  const CollectiveMotion& motion = picture.shown();
  if (layout.lanes.contains(point)) {
    const int rank = int((point.y() - layout.lanes.top()) / layout.lane_pitch);
    const bool below =
        rank < layout.ranks && picture.observed && layout.lane(rank, true).top() <= point.y();
    const CollectiveMotion& lane = below ? *picture.observed : *picture.predicted;
    for (int step = 0; rank < layout.ranks && step < lane.steps(); ++step) {
      const Span span = lane.step_span(step, rank);
      if (span.end <= span.begin || point.x() < layout.x_of(span.begin, picture.horizon()) ||
          point.x() > layout.x_of(span.end, picture.horizon()))
        continue;
      const auto& moves = picture.plan->collective.steps[std::size_t(step)];
      for (const bool sends : {true, false})
        for (std::size_t at = 0; at < moves.size(); ++at)
          if ((sends ? moves[at].from : moves[at].to) == rank) return {step, int(at)};
    }
    return {};
  }
  for (int rank = 0; rank < layout.ranks; ++rank)
    for (int chunk = 0; chunk < layout.chunks; ++chunk) {
      if (!layout.cell(rank, chunk).contains(point)) continue;
      const int wanted = layout.matrix ? rank * layout.ranks + chunk : chunk;
      MoveRef found;
      for (const Flight& flight : motion.flights(picture.playhead)) {
        const Move& move = motion.move(flight.ref);
        if (move.chunk != wanted) continue;
        if (layout.matrix || move.from == rank) return flight.ref;
        if (move.to == rank) found = flight.ref;
      }
      return found;
    }
  return {};
}

}  // namespace parallelarium
