// SPDX-License-Identifier: GPL-3.0-or-later
// Section heads and paragraphs, as the pictures of the room Plan have them.
#pragma once

#include <QStringList>
#include <limits>

#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {

// A section head in small capitals.
void put_caps(QPainter& painter, const QRectF& rect, const QString& text, const Theme& theme,
              TextLog* texts);
// Lines of at most `width`, broken between words. Where there are more than `most`, the last line
// holds the rest and is wider.
QStringList broken_lines(const QString& text, const QFont& font, double width,
                         qsizetype most = std::numeric_limits<qsizetype>::max());
// Lines from the top of `rect`, broken between words where they would be wider than it. Returns the
// height that they take, of which `rect` says nothing.
double put_lines(QPainter& painter, const QRectF& rect, const QString& text, const QFont& font,
                 const QColor& color, TextLog* texts);

}  // namespace parallelarium
