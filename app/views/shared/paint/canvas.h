// SPDX-License-Identifier: GPL-3.0-or-later
// The parts that all views with one tall picture have: a surface, and on it a canvas that scrolls.
#pragma once

#include <QScrollArea>

#include "app/views/view.h"

namespace parallelarium {

struct Canvas {
  QScrollArea* scroll = nullptr;
  QWidget* canvas = nullptr;  // takes keys and the mouse; `view` filters its events
};
// Makes `view` a surface; both parts are its children. A screen reader can read its description.
Canvas make_canvas(View& view, const QString& accessible_name);

}  // namespace parallelarium
