// SPDX-License-Identifier: GPL-3.0-or-later
// Draws what a rank communicates, below its bars: filled where nothing is computed meanwhile
// (exposed), hollow where something is (overlapped). Where ops are too short to be told apart, the
// height is the share of the time that they take.
#pragma once

#include "app/views/timeline/picture/bar_paint.h"

namespace parallelarium {

inline constexpr int kSentFont = 10;

// "between replicas": what a lane of communication connects in the rows that the picture shows.
QString sent_lane_name(const Picture& picture, Lane which);

struct SentColors {
  QColor exposed, overlapped;
};
SentColors sent_colors(const BarLook& look, double height);

// `row` has the bars of the lane `which`, and those that they overlap with.
// Cost: proportional to the pixels, not to the bars.
void paint_sent_bars(QPainter& painter, const Row& row, Lane which, const TimeAxis& axis,
                     const QRectF& box, const BarLook& look, TextLog* texts);

}  // namespace parallelarium
