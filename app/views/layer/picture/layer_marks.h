// SPDX-License-Identifier: GPL-3.0-or-later
// The marks of a layer's steps in their order, and how much room each takes.
#pragma once

#include "app/views/layer/picture/layer_picture.h"

namespace parallelarium {

// Pixels for an element: along widths, and along tokens.
struct LayerScale {
  double width = 0, tokens = 0;
};

struct LayerCell {
  LayerMark mark = LayerMark::kTensor;
  int tensor = -1;
  const LayerTensor* of = nullptr;
  int step = -1;    // whose tensor it is, if not the one that it stands with
  double wide = 0;  // of an arrow or a bar, if not as wide as others
};
struct StepMarks {
  int step = 0;
  std::vector<LayerCell> cells;
  double least = 52;  // for its name
};

// What an attention of a ring of CP finds of keys and values.
bool is_keys_or_values(const LayerTensor& tensor);
// Which step of a ring of CP it computes, as LayerContext::rounds; -1: none.
int round_of_ring(const LayerSteps& layer, int step);

double width_of(const LayerCell& cell, const LayerScale& scale);
double height_of(const LayerCell& cell, const LayerScale& scale);
// Free on either side of a mark.
double pad_of(const LayerCell& cell);
// `shown`: ranks, as LayerSteps::ranks.
std::vector<StepMarks> groups_of(const LayerSteps& layer, const LayerHalf& half,
                                 const std::vector<int>& shown, const Theme& theme);

}  // namespace parallelarium
