// SPDX-License-Identifier: GPL-3.0-or-later
// Marks of pieces, and what each of them means.
#include <QCoreApplication>
#include <QFontMetricsF>
#include <algorithm>

#include "app/views/roofline/roofline_paint.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {
namespace {

struct RoofLegendTexts {
  Q_DECLARE_TR_FUNCTIONS(RooflineView)
};

bool is_forward(Phase phase) { return phase == Phase::kForward || phase == Phase::kRecompute; }

OpColor mark_color(Phase phase) {
  return is_forward(phase)             ? OpColor::kForward
         : phase == Phase::kWeightGrad ? OpColor::kWeight
                                       : OpColor::kBackward;
}

}  // namespace

double paint_roof_legend(QPainter& painter, const QRectF& rect, const RooflineData& data,
                         const Theme& theme, RooflineHits* hits, TextLog* texts) {
  double x = rect.left(), y = rect.top();
  const auto has = [&](Phase phase) {
    return std::any_of(data.roofline->points.begin(), data.roofline->points.end(),
                       [&](const RooflinePoint& point) { return point.phase == phase; });
  };
  const auto entry = [&](const QString& text, Phase phase, bool solid) {
    const double wide = QFontMetricsF(theme.font(11)).horizontalAdvance(text) + 2;
    if (x > rect.left() && x + 16 + wide > rect.right()) {
      x = rect.left();
      y += kRoofLegend;
    }
    RooflinePoint point;
    point.phase = phase;
    paint_piece_mark(painter, QPointF(x + 6, y + kRoofLegend / 2), point, 0, solid, theme);
    put_text(painter, QRectF(x + 16, y, wide, kRoofLegend), Qt::AlignVCenter, text, theme.font(11),
             theme.muted, texts);
    if (hits) hits->legend.emplace_back(text, mark_color(phase));
    x += wide + 32;
  };
  entry(has(Phase::kRecompute) ? RoofLegendTexts::tr("forward, also again in the backward")
                               : RoofLegendTexts::tr("forward"),
        Phase::kForward, false);
  if (has(Phase::kInputGrad))
    entry(RoofLegendTexts::tr("input gradient"), Phase::kInputGrad, false);
  if (has(Phase::kWeightGrad))
    entry(RoofLegendTexts::tr("weight gradient"), Phase::kWeightGrad, false);
  if (data.measured) entry(RoofLegendTexts::tr("as measured, filled"), Phase::kForward, true);
  return y + kRoofLegend - rect.top();
}

void paint_piece_mark(QPainter& painter, const QPointF& center, const RooflinePoint& point,
                      int number, bool solid, const Theme& theme) {
  painter.setRenderHint(QPainter::Antialiasing);
  const bool forward = is_forward(point.phase);
  const OpColor color = mark_color(point.phase);
  painter.setPen(QPen(theme.solid(color), 1.4));
  const QColor fill = solid ? theme.solid(color) : theme.tint(color);
  painter.setBrush(fill);
  const double size = number > 0 ? 8.5 : kRoofMark;
  if (forward)
    painter.drawEllipse(center, size, size);
  else
    painter.drawPolygon(QPolygonF({center + QPointF(0, -size - 1), center + QPointF(size + 1, 0),
                                   center + QPointF(0, size + 1), center + QPointF(-size - 1, 0)}));
  if (number > 0)
    put_text(painter, QRectF(center.x() - 9, center.y() - 8, 18, 16), Qt::AlignCenter,
             QString::number(number), theme.font(11, true), theme.ink_on(fill), nullptr);
}

}  // namespace parallelarium
