// SPDX-License-Identifier: GPL-3.0-or-later
// The legend of a layer's picture: all its marks.
#pragma once

#include "app/views/layer/picture/layer_picture.h"
#include "app/views/shared/paint/legend_words.h"

namespace parallelarium {

std::vector<LegendWord> layer_legend(const LayerPicture& picture);

}  // namespace parallelarium
