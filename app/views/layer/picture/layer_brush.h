// SPDX-License-Identifier: GPL-3.0-or-later
// How one tensor of one rank is drawn: shard, copy, partial sum, absent, still to come.
#pragma once

#include "app/views/layer/picture/layer_picture.h"

namespace parallelarium {

struct LayerBrush {
  QPainter& painter;
  const LayerPicture& picture;
  const LayerLayout& layout;
  const Theme& theme;
  TextLog* texts;
};

// `place`: of the whole tensor. `done`: how much of it is there, from the top. `own`: the shard of
// the same tensor that the rank had before an all-gather, which is there already; null otherwise.
void paint_layer_tensor(const LayerBrush& brush, const LayerRankStep& part, int tensor,
                        const QRectF& place, int rank, double done, const LayerTensor* own);
// Its shape below it where nothing else stands; adds what it takes to `taken`.
void paint_layer_caption(const LayerBrush& brush, const LayerRankStep& part, int tensor,
                         const QRectF& place, std::vector<QRectF>& taken);
// The rank's own parts of a tensor that stands at `place`.
std::vector<QRectF> parts_of(const LayerTensor& tensor, const QRectF& place);
// Parts of these: the colour of a role, the crosses of a partial sum, the outline of what is
// absent.
QColor fill_of(const Theme& theme, TensorRole role);
void paint_crosses(QPainter& painter, const QRectF& place, const QColor& color);
void paint_dotted(QPainter& painter, const QRectF& place, const Theme& theme);

}  // namespace parallelarium
