// SPDX-License-Identifier: GPL-3.0-or-later
// Section heads and paragraphs for the pictures of the room Plan.
#pragma once

#include <QStringList>
#include <limits>

#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {

// A section head in small capitals.
void put_caps(QPainter& painter, const QRectF& rect, const QString& text, const Theme& theme,
              TextLog* texts);
// Lines of at most `width`, broken between words. If there are more than `most` lines, the last one
// holds the rest and is wider.
QStringList broken_lines(const QString& text, const QFont& font, double width,
                         qsizetype most = std::numeric_limits<qsizetype>::max());
// Paints lines from the top of `rect`, broken between words so that they are no wider. Returns the
// height that they take; the height of `rect` does not count.
double put_lines(QPainter& painter, const QRectF& rect, const QString& text, const QFont& font,
                 const QColor& color, TextLog* texts);

}  // namespace parallelarium
