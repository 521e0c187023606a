// SPDX-License-Identifier: GPL-3.0-or-later
// The numbers that a run with probes saw in a tensor: as colours over what is painted of it, as a
// cell under a point, and in words.
#pragma once

#include "app/views/layer/picture/layer_brush.h"

namespace parallelarium {

struct InsideTensor;

// What a run saw of that tensor of a piece; null: nothing, or what a later step of a ring of CP
// still adds to.
const InsideTensor* layer_values(const LayerPicture& picture, int step, int tensor, int rank);
void paint_layer_values(const LayerBrush& brush, int step, int tensor, const QRectF& place,
                        int rank);
// "u here: 0.0123, the mean of a cell"; empty: no tensor with numbers stands under the point.
QString layer_cell_text(const LayerPicture& picture, const LayerLayout& layout, QPointF point);
// A line for each tensor that went in or came out, or why there is none yet.
std::vector<FactLine> value_facts(const LayerPicture& picture, int step, int rank);

}  // namespace parallelarium
