// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/shared/paint/rank_chip.h"

namespace parallelarium {

void paint_chip_shape(QPainter& painter, const QRectF& rect, int number, const Theme& theme) {
  const Qt::PenStyle round = theme.rank_line(number).style();
  const auto draw = [&](const QRectF& shape) {
    if (round == Qt::SolidLine || round == Qt::DashLine)
      painter.drawEllipse(shape);
    else
      painter.drawRoundedRect(shape, 2, 2);
  };
  const QColor fill = theme.rank(number);
  painter.setPen(Qt::NoPen);
  painter.setBrush(fill);
  draw(rect);
  if (round == Qt::SolidLine || round == Qt::DotLine) return;
  painter.setPen(QPen(theme.ink_on(fill), 1));
  painter.setBrush(Qt::NoBrush);
  draw(rect.adjusted(1.5, 1.5, -1.5, -1.5));
}

}  // namespace parallelarium
