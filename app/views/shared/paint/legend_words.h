// SPDX-License-Identifier: GPL-3.0-or-later
// A legend of marks and words that takes as many lines as it needs.
#pragma once

#include <QString>
#include <functional>
#include <vector>

#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {

struct LegendWord {
  QString text;
  std::function<void(QPainter&, const QRectF&, const Theme&)> mark;  // 15 x 10
};
inline constexpr double kLegendLine = 17;  // high

// The number of lines that the legend takes in `width`.
int legend_lines(const std::vector<LegendWord>& words, double width);
// `from`: the upper left corner of the first line.
void paint_legend_words(QPainter& painter, const std::vector<LegendWord>& words,
                        const QPointF& from, double width, const Theme& theme, TextLog* texts);

}  // namespace parallelarium
