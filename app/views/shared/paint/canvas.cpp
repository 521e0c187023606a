// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/shared/paint/canvas.h"

#include "app/look/spoken.h"

namespace parallelarium {

Canvas make_canvas(View& view, const QString& accessible_name) {
  view.setAutoFillBackground(true);
  view.setProperty("surface", true);
  view.setAttribute(Qt::WA_StyledBackground);
  Canvas made{new QScrollArea(&view), new QWidget};
  made.scroll->setFrameShape(QFrame::NoFrame);
  made.scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  made.scroll->setFocusPolicy(Qt::NoFocus);
  made.canvas->setAttribute(Qt::WA_OpaquePaintEvent);
  made.canvas->setFocusPolicy(Qt::StrongFocus);
  made.canvas->setMouseTracking(true);
  speak_as(*made.canvas, {QAccessible::Canvas, [&view] { return view.description(); }});
  made.canvas->setAccessibleName(accessible_name);
  made.canvas->installEventFilter(&view);
  made.scroll->setWidget(made.canvas);
  return made;
}

}  // namespace parallelarium
