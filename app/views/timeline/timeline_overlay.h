// SPDX-License-Identifier: GPL-3.0-or-later
// What moves over the cached timeline: hover, selection, dependency arrow, range with its read-out,
// marks, the cursor, the focus ring.
#pragma once

#include "app/views/timeline/picture/timeline_paint.h"

namespace parallelarium {

struct Overlay {
  std::optional<Hit> hover;
  std::optional<Nanoseconds> cursor;  // under the pointer, snapped
  OpRef selected;
  Zoom selected_zoom = Zoom::kActions;
  int selected_lane = -1;
  bool joined = false;  // outline the same op in the other lane too
  OpRef arrow_from, arrow_to;
  std::optional<TimeRange> range;
  std::vector<Nanoseconds> marks;
  bool focused = false;
};

void paint_overlay(QPainter& painter, const Overlay& overlay, const Picture& picture,
                   const PictureLayout& layout, const Theme& theme, QSizeF size, double scroll,
                   TextLog* texts = nullptr);

}  // namespace parallelarium
