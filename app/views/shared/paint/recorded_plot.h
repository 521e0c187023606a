// SPDX-License-Identifier: GPL-3.0-or-later
// A plot as a recording. It plays at the resolution of whatever it is painted on: screen, PNG, SVG
// and PDF.
#pragma once

#include <QPainter>
#include <QPicture>

class QCustomPlot;

namespace parallelarium {

// A recording that is kept while nothing of the plot changes.
struct PlotCache {
  QString key;
  QPicture picture;
};

QPicture recorded(QCustomPlot& plot, QSize size);
void play_recording(QPainter& painter, const QPointF& top_left, const QPicture& picture);

}  // namespace parallelarium
