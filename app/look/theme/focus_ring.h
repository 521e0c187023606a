// SPDX-License-Identifier: GPL-3.0-or-later
// The ring around what has the focus, for widgets that draw none of their own: texts, lists, areas
// that scroll. It looks like that of buttons and fields.
#pragma once

#include <QApplication>
#include <QPainter>
#include <QRectF>
#include <QWidget>

#include "app/look/theme/theme.h"

namespace parallelarium {

inline constexpr int kRingWidth = 2;
inline constexpr const char* kFocusRingName = "FocusRing";

QColor ring_color(const Theme& theme, bool on_accent = false);

// Along the inner edge of `around`.
void paint_focus_ring(QPainter& painter, const QRectF& around, const QColor& color);

// Whether `widget` looks as what has the focus: it has it and keys are in use, for it came by one
// or one was pressed since. Whoever clicks knows where. Style sheets say [ring="true"]:focus.
bool shows_focus(const QWidget& widget);

// Keeps shows_focus() right for all widgets, from the keys and clicks of the application. Once is
// enough.
void follow_focus(QApplication& application);

// Shows the ring on `widget` while shows_focus(). The ring is a child of the widget, by the name
// above.
void ring_focus(QWidget& widget);
// So many pixels beside it, left and right, where its parent is free: what the widget shows begins
// at its very edge. It must keep that parent, of which the ring is a child.
void ring_focus_beside(QWidget& widget, int pixels);

}  // namespace parallelarium
