// SPDX-License-Identifier: GPL-3.0-or-later
// Small painting helpers that the pipeline pictures share.
#pragma once

#include <QPainter>
#include <optional>

#include "app/views/timeline/picture/timeline_paint.h"

namespace parallelarium {

inline constexpr double kDimmed = 0.42;  // opacity of pictures of other settings

// Paints one line of text inside `rect`, aligned by `flags`. It notes the text in `texts` with the
// rectangle that it really takes, in device coordinates. On pixels the text is measured and shaped
// once for all frames.
void put_text(QPainter& painter, const QRectF& rect, int flags, const QString& text,
              const QFont& font, const QColor& color, TextLog* texts);
// put_text() in the middle of `rect`, for names on bars. label_width() is the width of a text
// there.
void put_label(QPainter& painter, const QRectF& rect, const QString& text, const QFont& font,
               const QColor& color, TextLog* texts);
double label_width(const QFont& font, const QString& text);
// put_text(), but cut with an ellipsis if it does not fit.
void put_elided(QPainter& painter, const QRectF& rect, int flags, const QString& text,
                const QFont& font, const QColor& color, TextLog* texts);

// The first of `texts` that is no wider than `width`; if none fits, the last. Empty: there are no
// texts.
QString longest_that_fits(const QStringList& texts, const QFont& font, double width);

// The grey hatching of idle time.
void paint_hatching(QPainter& painter, const QRectF& rect, const Theme& theme);

// A numbered chip of a stage or rank, `size` high and wide, coloured by its number or by `hue`.
void paint_chip(QPainter& painter, const QPointF& top_left, double size, int number,
                const Theme& theme, TextLog* texts, std::optional<int> hue = std::nullopt);

// `value` moved to a whole device pixel, if the device has pixels.
double snapped_to_pixel(const QPainter& painter, double value);
bool has_pixels(const QPainter& painter);

QColor mixed(const QColor& a, const QColor& b, double share_of_b);

}  // namespace parallelarium
