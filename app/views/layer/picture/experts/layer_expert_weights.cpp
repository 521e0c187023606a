// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include "app/views/layer/picture/experts/layer_experts.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {
namespace {

constexpr double kBetweenExperts = 2, kThinEdge = 5;

// Calls visit(expert, index among the rank's own or -1) for each expert of the layer.
template <class Visit>
void for_each_expert(const LayerTensor& of, const Visit& visit) {
  std::int64_t own = 0;
  auto range = of.experts.begin();
  for (std::int64_t expert = 0; expert < of.all_experts; ++expert) {
    while (range != of.experts.end() && expert >= range->end) ++range;
    const bool held = range != of.experts.end() && expert >= range->begin;
    visit(expert, held ? own : -1);
    if (held) ++own;
  }
}

// The rank's part of one expert's matrix. TP cuts each expert's inner width alike.
QRectF part_of_expert(const LayerTensor& of, const QRectF& place) {
  const ChunkRange rows = of.row_ranges.front(), columns = of.column_ranges.front();
  return {place.left() + place.width() * double(columns.begin) / double(of.columns),
          place.top() + place.height() * double(rows.begin) / double(of.rows),
          place.width() * double(columns.end - columns.begin) / double(of.columns),
          place.height() * double(rows.end - rows.begin) / double(of.rows)};
}

}  // namespace

QSizeF ExpertGrid::size(double scale) const {
  return {across * std::max(1.0, double(columns) * scale) + (across - 1) * kBetweenExperts,
          down * std::max(1.0, double(rows) * scale) + (down - 1) * kBetweenExperts};
}

QRectF ExpertGrid::place_of(std::int64_t expert, const QRectF& place) const {
  const double wide = (place.width() - (across - 1) * kBetweenExperts) / across;
  const double high = (place.height() - (down - 1) * kBetweenExperts) / down;
  return {place.left() + double(expert % across) * (wide + kBetweenExperts),
          place.top() + double(expert / across) * (high + kBetweenExperts), wide, high};
}

ExpertGrid expert_grid(const LayerTensor& weights) {
  ExpertGrid best;
  double least = 0;
  for (int across = 1; across <= weights.all_experts; ++across) {
    if (weights.all_experts % across != 0) continue;
    const int down = weights.all_experts / across;
    const double off = std::fabs(std::log(double(weights.columns * across)) -
                                 std::log(double(weights.rows * down)));
    if (across == 1 || off < least) best = {across, down, weights.rows, weights.columns};
    if (across == 1 || off < least) least = off;
  }
  return best;
}

bool experts_in_rows(const LayerTensor& weights) {
  return weights.name.find("w-out") != std::string::npos;
}

void paint_expert_weights(const LayerBrush& brush, const LayerTensor& of, const QRectF& place,
                          int rank, const QColor& fill, double done) {
  const ExpertGrid grid = expert_grid(of);
  QPainter& painter = brush.painter;
  const Theme& theme = brush.theme;
  const QRectF first = grid.place_of(0, place);
  const bool thin = std::min(first.width(), first.height()) < kThinEdge;
  QPen edge = theme.rank_line(layer_color_number(brush.picture, rank));
  edge.setWidthF(1);
  const QFont font = theme.font(9);
  // At once and without antialiasing: there may be thousands in a picture.
  QList<QRectF> absent;
  const bool in_part = of.held_rows < of.rows || of.held_columns < of.columns;
  for_each_expert(of, [&](std::int64_t expert, std::int64_t own) {
    if ((own < 0 || in_part) && !thin) absent << grid.place_of(expert, place);
  });
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(theme.muted, 1, Qt::DotLine));
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.drawRects(absent);
  painter.setRenderHint(QPainter::Antialiasing);
  for_each_expert(of, [&](std::int64_t expert, std::int64_t own) {
    const QRectF block = grid.place_of(expert, place);
    if (own < 0) {
      if (thin) painter.fillRect(block, mixed(theme.muted, theme.surface, 0.75));
      return;
    }
    const QRectF part = part_of_expert(of, block);
    painter.fillRect(QRectF(part.left(), part.top(), part.width(), part.height() * done), fill);
    if (thin) return;
    painter.setPen(edge);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(part);
    const QString number = QString::number(expert);
    if (part.height() < kExpertNumberHeight || done < 1 ||
        label_width(font, number) + 2 > part.width())
      return;
    put_label(painter, part, number, font, theme.ink_on(fill), brush.texts);
  });
}

std::vector<std::pair<QRectF, QRectF>> expert_cells(const LayerTensor& of, const QRectF& place,
                                                    const QSizeF& cells) {
  const ExpertGrid grid = expert_grid(of);
  const double share = 1.0 / std::max(1, of.held_experts());
  const double wide = cells.width(), high = cells.height();
  const bool below = experts_in_rows(of);
  std::vector<std::pair<QRectF, QRectF>> places;
  for_each_expert(of, [&](std::int64_t expert, std::int64_t own) {
    if (own < 0) return;
    const QRectF part = part_of_expert(of, grid.place_of(expert, place));
    places.emplace_back(part.adjusted(1, 1, -1, -1),
                        below ? QRectF(0, double(own) * share * high, wide, share * high)
                              : QRectF(double(own) * share * wide, 0, share * wide, high));
  });
  return places;
}

}  // namespace parallelarium
