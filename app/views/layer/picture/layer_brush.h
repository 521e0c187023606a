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
// Its name in the rank's own part. False: there is no room beside other marks.
bool paint_layer_name(const LayerBrush& brush, const LayerRankStep& part, int tensor,
                      const QRectF& place, double done);
// The shape below tensors of one shape that stand in `place`, behind the names of those that have
// none inside, if nothing else stands there; adds what it takes to `taken`.
void paint_layer_caption(const LayerBrush& brush, const LayerTensor& of, const QRectF& place,
                         const QStringList& names, std::vector<QRectF>& taken);
// What the names of several tensors take there at least; empty of one, which has others around it.
QRectF place_of_names(const LayerBrush& brush, const QRectF& place, const QStringList& names);
// The rank's own parts of a tensor that stands at `place`.
std::vector<QRectF> parts_of(const LayerTensor& tensor, const QRectF& place);
// Parts of these: the colour of a role, the crosses of a partial sum, the outline of what is
// absent.
QColor fill_of(const Theme& theme, TensorRole role);
void paint_crosses(QPainter& painter, const QRectF& place, const QColor& color);
void paint_dotted(QPainter& painter, const QRectF& place, const Theme& theme);

}  // namespace parallelarium
