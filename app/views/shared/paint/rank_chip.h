// SPDX-License-Identifier: GPL-3.0-or-later
// The chip of a rank without its number.
#pragma once

#include <QPainter>

#include "app/look/theme/theme.h"

namespace parallelarium {

// Colours of ranks repeat, so the chips differ in shape: a disc, a square, a disc with one corner,
// a disc with two corners.
void paint_chip_shape(QPainter& painter, const QRectF& rect, int number, const Theme& theme);

}  // namespace parallelarium
