// SPDX-License-Identifier: GPL-3.0-or-later
// Where the parts of the Experts picture stand, and what lies under a point.
#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "app/views/experts/expert_paint.h"

namespace parallelarium {
namespace {

constexpr double kLayoutMargin = 16, kTitle = 30, kHead = 24, kLayoutGap = 28, kNote = 40;
constexpr double kFrom = 26;  // names of the rows of the matrix
constexpr double kLabel = 54, kExpertLabel = 34, kLaneLeft = 86, kFigures = 250, kNarrow = 640;
constexpr double kFiguresHeight = 150, kNoRun = 38;
constexpr int kMostTokenHomes = 8, kMostLanes = 16;
constexpr double kBars = 0.44, kMostBar = 36;  // of the upper half: bars of homes; height of one
constexpr double kUpper = 304;                 // of the upper half, where nothing asks for more

double lane_pitch_for(const ExpertPicture& picture, int lanes) {
  const double single = lanes <= 4 ? 26 : lanes <= 8 ? 20 : 15;
  return picture.observed ? single * 1.7 : single;
}

int expert_rows_for(int experts) { return experts <= 16 ? experts : (experts + 1) / 2; }
double expert_pitch_for(int experts) {
  return std::clamp(kUpper / expert_rows_for(experts), 13.0, 38.0);
}

// How wide it is what is said behind the longest bar.
double words_behind(const RoutedLayer& layer) {
  const auto most = std::max_element(layer.dropped.begin(), layer.dropped.end());
  const QFontMetricsF metrics(light_theme().font(11));
  return std::max(76.0, metrics.horizontalAdvance(dropped_words(*most)) + 12);
}

double upper_height(const RoutedLayer& layer) {
  return std::max(kUpper, expert_rows_for(layer.experts) * expert_pitch_for(layer.experts)) + kHead;
}

}  // namespace

double expert_height(const ExpertPicture& picture, double width) {
  if (!picture.drawn()) return 200;
  const RoutedLayer& layer = *picture.drawn();
  const int lanes = std::min(layer.ep, kMostLanes);
  // With the time axis and what is said below the lanes.
  const double below = lanes * lane_pitch_for(picture, lanes) + kNoRun;
  const double lower = width < kNarrow ? below + kFiguresHeight : std::max(kFiguresHeight, below);
  return kTitle + upper_height(layer) + kLayoutGap + kHead + lower + 8;
}

ExpertLayout expert_layout(const ExpertPicture& picture, QSizeF size) {
  ExpertLayout layout;
  layout.size = size;
  layout.title = QRectF(kLayoutMargin, 4, size.width() - 2 * kLayoutMargin, 20);
  if (!picture.drawn()) return layout;
  const RoutedLayer& layer = *picture.drawn();
  const double inner = size.width() - 2 * kLayoutMargin;
  const double top = kTitle + kHead, upper = upper_height(layer) - kHead;

  // A third each, the matrix no more than it needs.
  const double matrix_width = std::clamp(layer.ep * 46.0 + kFrom + 4, 150.0, inner * 0.3);
  const double rest = inner - matrix_width - 2 * kLayoutGap;
  const double tokens_width = std::floor(rest * 0.5), experts_width = rest - tokens_width;

  layout.tokens_head = QRectF(kLayoutMargin, kTitle, tokens_width, 18);
  layout.tokens = QRectF(kLayoutMargin, top, tokens_width, upper);
  layout.homes = std::min(layer.ep, kMostTokenHomes);
  layout.cell = 13;
  layout.line = 15;
  layout.token_pitch = layer.top_k * layout.cell + 3;
  layout.per_row = std::max(1, static_cast<int>((tokens_width - kLabel) / layout.token_pitch));
  const double each = upper / layout.homes;
  const auto needed = static_cast<int>((layer.tokens + layout.per_row - 1) / layout.per_row);
  layout.rows = std::clamp(static_cast<int>((each - 10) / layout.line), 1, std::max(1, needed));
  layout.home_pitch = std::min(each, layout.rows * layout.line + 14);
  if (picture.shows_run()) {
    const bool plotted = picture.curves && !picture.curves->empty();
    const double bars = plotted ? std::floor(upper * kBars) : upper;
    const double more = layout.homes < layer.ep ? 14 : 0;  // what is said of the others
    layout.home_pitch = std::min((bars - more) / layout.homes, kMostBar);
    if (plotted) {
      layout.plot_head = QRectF(kLayoutMargin, top + bars + 6, tokens_width, 18);
      layout.plot = QRectF(kLayoutMargin, top + bars + 26, tokens_width, upper - bars - 26);
    }
  }

  const double matrix_left = kLayoutMargin + tokens_width + kLayoutGap;
  layout.matrix_head = QRectF(matrix_left, kTitle, matrix_width, 18);
  layout.matrix_cell = std::min(46.0, (matrix_width - kFrom - 4) / layer.ep);
  const double side = layout.matrix_cell * layer.ep;
  layout.matrix = QRectF(matrix_left + kFrom, top + 16, side, side);
  layout.matrix_note = QRectF(matrix_left, layout.matrix.bottom() + 8, matrix_width, kNote * 2);

  const double experts_left = matrix_left + matrix_width + kLayoutGap;
  layout.experts_head = QRectF(experts_left, kTitle, experts_width, 18);
  layout.experts = QRectF(experts_left, top, experts_width, upper);
  layout.expert_rows = expert_rows_for(layer.experts);
  layout.expert_columns = layer.experts > layout.expert_rows ? 2 : 1;
  layout.expert_pitch = expert_pitch_for(layer.experts);
  layout.bar_left = kExpertLabel;
  const double column = experts_width / layout.expert_columns;
  // For what is said behind a bar; two columns leave no room for words.
  const double room = layout.expert_columns == 1 ? words_behind(layer) : 30;
  layout.bar_width = std::max(20.0, column - kExpertLabel - room);
  for (int rank = 0; rank < layer.ep; ++rank)
    for (int expert = 0; expert < layer.experts; ++expert)
      if (layer.rank_of_expert[std::size_t(expert)] == rank) layout.order.push_back(expert);

  const double lower = kTitle + upper_height(layer) + kLayoutGap;
  layout.lanes_head = QRectF(kLayoutMargin, lower, inner, 18);
  layout.lane_count = std::min(layer.ep, kMostLanes);
  layout.lane_pitch = lane_pitch_for(picture, layout.lane_count);
  layout.lane_left = kLaneLeft;
  const bool narrow = size.width() < kNarrow;
  const double lanes_height = layout.lane_count * layout.lane_pitch;
  layout.lane_width = inner + kLayoutMargin - kLaneLeft - (narrow ? 0 : kFigures + 12);
  layout.lanes = QRectF(kLayoutMargin, lower + kHead, kLaneLeft - kLayoutMargin + layout.lane_width,
                        lanes_height);
  layout.figures =
      narrow ? QRectF(kLayoutMargin, layout.lanes.bottom() + kNoRun, inner, kFiguresHeight)
             : QRectF(size.width() - kLayoutMargin - kFigures, lower + kHead, kFigures,
                      kFiguresHeight);
  return layout;
}

QRectF ExpertLayout::token_cell(int home, int token, int choice) const {
  const int row = token / per_row, column = token % per_row;
  return {tokens.left() + kLabel + column * token_pitch + choice * cell,
          tokens.top() + home * home_pitch + row * line, cell, cell};
}

QRectF ExpertLayout::home_bar(int home) const {
  return {tokens.left() + kLabel, tokens.top() + home * home_pitch, tokens.width() - kLabel,
          std::min(24.0, std::max(4.0, home_pitch - 5))};
}

std::vector<HomePart> home_parts(const RoutedLayer& layer, const ExpertLayout& layout, int home) {
  const RouterLoad& load = layer.homes[std::size_t(home)].load;
  const QRectF bar = layout.home_bar(home);
  const double each = bar.width() / double(std::max<std::int64_t>(1, layer.tokens * layer.top_k));
  std::vector<HomePart> parts;
  double x = bar.left();
  const auto next = [&](std::int64_t count) {
    const QRectF part(x, bar.top(), double(count) * each, bar.height());
    x = part.right();
    return count > 0 ? part : QRectF();
  };
  for (const int expert : layout.order) {
    const auto at = std::size_t(expert);
    HomePart part;
    part.expert = expert;
    part.kept = next(load.kept[at]);
    part.dropped = next(load.chosen[at] - load.kept[at]);
    parts.push_back(part);
  }
  return parts;
}

QRectF ExpertLayout::matrix_at(int home, int rank) const {
  const double gap = matrix_cell >= 20 ? 3 : matrix_cell >= 8 ? 1 : 0;
  return {matrix.left() + rank * matrix_cell, matrix.top() + home * matrix_cell, matrix_cell - gap,
          matrix_cell - gap};
}

QRectF ExpertLayout::expert_row(int place) const {
  const double column = experts.width() / expert_columns;
  const int row = place % expert_rows;
  return {experts.left() + (place / expert_rows) * column, experts.top() + row * expert_pitch,
          column, expert_pitch};
}

QRectF ExpertLayout::lane(int home, bool observed) const {
  const double y = lanes.top() + home * lane_pitch;
  const bool two = lane_pitch > 26 || (lane_pitch > 20 && lane_count > 4);
  const double height = two ? std::floor((lane_pitch - 6) / 2) : lane_pitch - 5;
  return {lane_left, y + (observed ? height + 1 : 0), lane_width, height};
}

double ExpertLayout::x_of(Nanoseconds time, const LayerTimes& times, Nanoseconds longest) const {
  return lane_left + lane_width * double((time - times.window.begin).count()) /
                         double(std::max<std::int64_t>(1, longest.count()));
}

ExpertRef expert_at_point(const ExpertPicture& picture, const ExpertLayout& layout, QPointF point) {
  ExpertRef ref;
  if (!picture.drawn() || picture.hidden) return ref;
  const RoutedLayer& layer = *picture.drawn();
  for (std::size_t place = 0; place < layout.order.size(); ++place)
    if (layout.expert_row(int(place)).contains(point)) {
      ref.expert = layout.order[place];
      return ref;
    }
  if (layout.matrix.contains(point)) {
    ref.home = std::min(layer.ep - 1, int((point.y() - layout.matrix.top()) / layout.matrix_cell));
    ref.rank = std::min(layer.ep - 1, int((point.x() - layout.matrix.left()) / layout.matrix_cell));
    return ref;
  }
  if (!layout.tokens.contains(point)) return ref;
  for (int home = 0; home < layout.homes; ++home) {
    if (picture.shows_run())
      for (const HomePart& part : home_parts(layer, layout, home))
        if (part.kept.contains(point) || part.dropped.contains(point)) {
          ref.expert = part.expert;
          return ref;
        }
    const TokenRoutes& routes = layer.homes[std::size_t(home)];
    const int known = int(routes.expert.size()) / std::max(1, layer.top_k);
    for (int token = 0; token < std::min(layout.shown_tokens(), known); ++token)
      for (int choice = 0; choice < layer.top_k; ++choice)
        if (layout.token_cell(home, token, choice).contains(point)) {
          ref.expert = routes.expert[std::size_t(token * layer.top_k + choice)];
          return ref;
        }
  }
  return ref;
}

}  // namespace parallelarium
