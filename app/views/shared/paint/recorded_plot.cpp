// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/shared/paint/recorded_plot.h"

#include "app/views/shared/paint/qcustomplot_header.h"

namespace parallelarium {

QPicture recorded(QCustomPlot& plot, QSize size) {
  QPicture picture;
  QCPPainter recorder(&picture);
  recorder.setMode(QCPPainter::pmVectorized);
  recorder.setMode(QCPPainter::pmNoCaching);
  plot.toPainter(&recorder, size.width(), size.height());
  recorder.end();
  return picture;
}

void play_recording(QPainter& painter, const QPointF& top_left, const QPicture& picture) {
  painter.save();
  painter.translate(top_left);
  // A recording scales itself to the device's resolution, which the caller's scale already covers.
  const double undo = double(picture.logicalDpiX()) / painter.device()->logicalDpiX();
  painter.scale(undo, undo);
  painter.drawPicture(0, 0, picture);
  painter.restore();
}

}  // namespace parallelarium
