// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/shared/paint/rank_chip.h"

namespace parallelarium {

void paint_chip_shape(QPainter& painter, const QRectF& rect, int number, const Theme& theme) {
  const Qt::PenStyle round = theme.rank_line(number).style();
  const QColor fill = theme.rank(number);
  painter.setPen(Qt::NoPen);
  painter.setBrush(fill);
  painter.drawEllipse(rect);
  const QSizeF quarter = rect.size() / 2;
  const bool square = round == Qt::DashLine;
  if (square || round == Qt::DashDotLine) painter.fillRect(QRectF(rect.topLeft(), quarter), fill);
  if (square || round == Qt::DotLine || round == Qt::DashDotLine)
    painter.fillRect(QRectF(rect.center(), quarter), fill);
  if (!square) return;
  painter.fillRect(QRectF(QPointF(rect.center().x(), rect.top()), quarter), fill);
  painter.fillRect(QRectF(QPointF(rect.left(), rect.center().y()), quarter), fill);
}

}  // namespace parallelarium
