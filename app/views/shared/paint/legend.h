// SPDX-License-Identifier: GPL-3.0-or-later
// What the colours of a pipeline picture mean, as one line of swatches and words.
#pragma once

#include "app/views/timeline/picture/timeline_paint.h"

namespace parallelarium {

// Right-aligned in `rect`; entries that do not fit are left out, the least telling first. Only
// kinds that the picture really shows. Returns the width taken.
double paint_legend(QPainter& painter, const QRectF& rect, const Picture& picture, Zoom zoom,
                    const Theme& theme, TextLog* texts);

}  // namespace parallelarium
