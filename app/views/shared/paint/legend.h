// SPDX-License-Identifier: GPL-3.0-or-later
// The legend of a pipeline picture: swatches, and words for their meaning.
#pragma once

#include "app/views/shared/paint/legend_words.h"
#include "app/views/timeline/picture/timeline_paint.h"

namespace parallelarium {

// The place of a picture's legend: in one line at the right of `beside` if all entries fit there,
// else in lines of kLegendLine from the top of `below` on. `below` may be as high as needed.
struct LegendPlace {
  QRectF beside, below;
};
// Paints an entry for every kind that the picture shows. Returns the number of lines that it takes
// in `below`. Paints nothing if `painter` is null.
int paint_legend(QPainter* painter, const LegendPlace& place, const Picture& picture, Zoom zoom,
                 const Theme& theme, TextLog* texts);
// The most lines that it takes at any zoom. So what is under it does not move when the user zooms.
int legend_lines(const LegendPlace& place, const Picture& picture, const Theme& theme);

}  // namespace parallelarium
