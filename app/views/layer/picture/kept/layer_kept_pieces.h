// SPDX-License-Identifier: GPL-3.0-or-later
// What a layer keeps for its backward where it is not the layer of the paper: bytes of each piece.
#pragma once

#include "app/views/layer/picture/layer_picture.h"

namespace parallelarium {

// In which numbers the paper counts, where the Setup has others; else empty.
QString kept_unit_text(const LayerKept& kept);
double kept_pieces_height(const LayerPicture& picture, double width, const Theme& theme);
void paint_kept_pieces(QPainter& painter, const LayerPicture& picture, const LayerLayout& layout,
                       const Theme& theme, TextLog* texts);
QString kept_pieces_sentence(const LayerPicture& picture);

}  // namespace parallelarium
