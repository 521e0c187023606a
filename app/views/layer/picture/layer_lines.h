// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of text in the picture: in an open half by its columns, above the tensors how weights are
// cut, below them figures; and at the end what is to scale.
#pragma once

#include "app/views/layer/picture/layer_brush.h"

namespace parallelarium {

inline constexpr double kLayerNameLine = 18;  // of names above the columns

// At the end of the picture: to what scale it is drawn, and what else its marks mean.
inline constexpr double kScaleLine = 15;
QStringList scale_lines(const LayerPicture& picture, const LayerLayout& layout);
// Shaped once where it fits.
void put_centred(const LayerBrush& brush, const QRectF& rect, const QString& text,
                 const QFont& font, const QColor& color);
// A text takes what columns beside it leave empty.
void paint_cuts(const LayerBrush& brush, const LayerHalf& half);
void paint_figures(const LayerBrush& brush, const LayerHalf& half);

}  // namespace parallelarium
