// SPDX-License-Identifier: GPL-3.0-or-later
// Who communicates with whom in a step: a bar for each group of a collective, and arrows between
// ranks that exchange.
#pragma once

#include <vector>

#include "app/views/layer/picture/layer_brush.h"

namespace parallelarium {

// One group of a collective, or ranks that send to each other.
struct LayerLink {
  std::vector<int> rows;  // as LayerLayout::ranks, ascending
  int lane = 0;           // links between whose rows others stand have lanes of their own
};
struct LayerLinks {
  std::vector<LayerLink> links;
  int lanes = 1;
};

// `shown`: as LayerLayout::ranks.
LayerLinks layer_links(const LayerSteps& layer, const LayerStep& step,
                       const std::vector<int>& shown);
// Of the column in which they all stand.
double layer_links_width(const LayerLinks& links);
// Where a link stands: from its first row to its last.
QRectF place_of_link(const LayerHalf& half, const LayerBox& box, const LayerLinks& links,
                     const LayerLink& link);
void paint_layer_links(const LayerBrush& brush, const LayerHalf& half);

}  // namespace parallelarium
