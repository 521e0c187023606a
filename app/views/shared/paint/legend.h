// SPDX-License-Identifier: GPL-3.0-or-later
// What the colours of a pipeline picture mean, as swatches and words.
#pragma once

#include "app/views/shared/paint/legend_words.h"
#include "app/views/timeline/picture/timeline_paint.h"

namespace parallelarium {

// Where the legend of a picture stands: in one line at the right of `beside` if all entries fit
// there, else in lines of kLegendLine from the top of `below` on, which may be as high as it needs.
struct LegendPlace {
  QRectF beside, below;
};
// Every kind that the picture shows has its entry. Returns how many lines it takes in `below`;
// paints nothing where `painter` is null.
int paint_legend(QPainter* painter, const LegendPlace& place, const Picture& picture, Zoom zoom,
                 const Theme& theme, TextLog* texts);
// The most lines that it takes at any zoom, so that what stands under it stays when one zooms.
int legend_lines(const LegendPlace& place, const Picture& picture, const Theme& theme);

}  // namespace parallelarium
