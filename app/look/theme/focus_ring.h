// SPDX-License-Identifier: GPL-3.0-or-later
// The ring around what has the focus, for widgets that draw none of their own: texts, lists, areas
// that scroll. It looks like that of buttons and fields.
#pragma once

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

// Whether the focus was here before: the window or a list above it was in front meanwhile. What
// marks the focus looks as it did then.
bool comes_back(Qt::FocusReason reason);

// Shows the ring on `widget` while it has the focus, but for a click into it: whoever clicks knows
// where. The ring is a child of the widget, by the name above.
void ring_focus(QWidget& widget);

}  // namespace parallelarium
