// SPDX-License-Identifier: GPL-3.0-or-later
// The chip of a rank without its number.
#pragma once

#include <QPainter>

#include "app/look/theme/theme.h"

namespace parallelarium {

// Where the colours of ranks repeat, chips differ: a disc, a disc with a ring, a square, a square
// with a ring.
void paint_chip_shape(QPainter& painter, const QRectF& rect, int number, const Theme& theme);

}  // namespace parallelarium
