// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of micro-batches held per stage, for the plot in the window and the one in exported
// pictures.
#pragma once

#include <vector>

#include "app/views/timeline/picture/timeline_paint.h"

class QCustomPlot;

namespace parallelarium {

struct HeldLine {
  int stage = 0;
  std::vector<HeldPoint> points;
  double most = 0;
};
// One line per stage, of its first rank.
std::vector<HeldLine> held_lines(const LaneRows& rows);

inline constexpr double kHeldHeader = 26;  // height of title and chips above the axes

// Replaces what a plot `width` pixels wide shows; `axis` in its own pixels.
void fill_held_plot(QCustomPlot& plot, const std::vector<HeldLine>& lines, Nanoseconds end,
                    const Theme& theme, const TimeAxis& axis, double width);
// Moves the plot's time axis and its grid only.
void set_held_range(QCustomPlot& plot, const TimeAxis& axis, double width);

// Title, source word and a numbered chip per stage.
void paint_held_header(QPainter& painter, const QRectF& rect, const std::vector<HeldLine>& lines,
                       const QString& source, const Theme& theme, TextLog* texts);

// Header and axes onto any device; `axis` in the coordinates of `rect`.
void paint_held_figure(QPainter& painter, const QRectF& rect, const LaneRows& rows,
                       const QString& source, const Theme& theme, const TimeAxis& axis,
                       TextLog* texts);

}  // namespace parallelarium
