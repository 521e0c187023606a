// SPDX-License-Identifier: GPL-3.0-or-later
// How one bar of a cell of "Who holds what" is drawn: shard, copy, partial sum, absent, reserved,
// activations, and a chunk on its way.
#pragma once

#include "app/views/memory/holders/holders.h"
#include "app/views/shared/paint/legend_words.h"

namespace parallelarium {

// The part of `rect` from `begin` to `end`, in shares.
QRectF share_of(const QRectF& rect, double begin, double end);
void paint_absent(QPainter& painter, const QRectF& rect, const Theme& theme);
// Memory that is there, with no values in it.
void paint_reserved(QPainter& painter, const QRectF& rect, const QColor& color, const Theme& theme);
void paint_copy(QPainter& painter, const QRectF& rect, const QColor& color, const Theme& theme);
void paint_partial(QPainter& painter, const QRectF& rect, const HeldState& state,
                   const QColor& color, const Theme& theme);
// `from`, `to`: where memory is reserved, where that is more than the shard.
void paint_shard(QPainter& painter, const QRectF& rect, const HeldState& state, double from,
                 double to, const QColor& color, int hue, const Theme& theme);
// Any of these.
void paint_state(QPainter& painter, const QRectF& rect, const HeldBucket& bucket, int kind, int hue,
                 const Theme& theme);
// A block for each micro-batch whose activations are there, beside room for as many as there ever
// are; where they are narrower than lines, one block for all.
void paint_activations(QPainter& painter, const QRectF& rect, std::size_t count, int most,
                       const Theme& theme);
// What the four ways to hold something look like, and the colours and the order of the bars where
// nothing else names them.
std::vector<LegendWord> holders_legend(const HoldersPicture& picture, const HoldersLayout& at);
void paint_chunk(QPainter& painter, const QPointF& middle, double wide, const Theme& theme);

}  // namespace parallelarium
