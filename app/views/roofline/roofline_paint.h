// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of a roofline: the plot in FLOP per byte and FLOP per second, the list of pieces, and
// the ladder of rates and latencies. Nothing here knows a widget.
#pragma once

#include <QLineF>
#include <QPainter>
#include <QPolygonF>
#include <vector>

#include "app/look/theme/theme.h"
#include "app/views/roofline/roofline_data.h"
#include "app/views/timeline/picture/timeline_paint.h"

namespace parallelarium {

struct RooflineHits {
  std::vector<std::pair<QRectF, int>> points;       // rows of the list and marks of the plot
  std::vector<std::pair<QLineF, QString>> roofs;    // of the plot, and what each is
  std::vector<QPolygonF> names;                     // of the roofs, as far as there was place
  std::vector<std::pair<QRectF, QString>> origins;  // where a figure comes from, whole
  std::vector<std::pair<QString, OpColor>> legend;
};

// Paints it `width` wide and returns its height. `beside_head`: width that is taken at the right of
// the title.
double paint_roofline(QPainter& painter, double width, const RooflineData& data, double beside_head,
                      const Theme& theme, RooflineHits* hits, TextLog* texts);
double roofline_height(double width, const RooflineData& data, double beside_head,
                       const Theme& theme);

inline constexpr double kRoofMark = 5, kRoofLegend = 20;  // half a mark; a line of the legend

// The parts, from the top left of `rect` on; they return the height that they take.
double paint_roofs(QPainter& painter, const QRectF& rect, const RooflineData& data,
                   const Theme& theme, RooflineHits* hits, TextLog* texts);
double paint_pieces(QPainter& painter, const QRectF& rect, const RooflineData& data,
                    const Theme& theme, RooflineHits* hits, TextLog* texts);
double paint_ladder(QPainter& painter, const QRectF& rect, const RooflineData& data,
                    const Theme& theme, RooflineHits* hits, TextLog* texts);
// What every mark that is drawn means, in as many lines as it needs.
double paint_roof_legend(QPainter& painter, const QRectF& rect, const RooflineData& data,
                         const Theme& theme, RooflineHits* hits, TextLog* texts);
// A dot of a forward or a diamond of a backward piece, with its number unless that is 0.
void paint_piece_mark(QPainter& painter, const QPointF& center, const RooflinePoint& point,
                      int number, bool solid, const Theme& theme);

}  // namespace parallelarium
