// SPDX-License-Identifier: GPL-3.0-or-later
// What the Layer view's picture says.
#pragma once

#include <QImage>
#include <QPainter>

#include "app/views/layer/layer_view.h"

namespace parallelarium {

// Its texts with their places, at the size at which nothing is cramped, in light colours.
inline TextLog layer_texts(const Session& session, const LayerLook& look) {
  const QSize size = layer_picture_size(session, look);
  QImage image(size, QImage::Format_RGB32);
  QPainter painter(&image);
  TextLog texts;
  paint_layer_picture(painter, size, session, false, look, &texts);
  return texts;
}

}  // namespace parallelarium
