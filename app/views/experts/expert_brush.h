// SPDX-License-Identifier: GPL-3.0-or-later
// What the painters of the Experts picture share; for expert_paint.cpp and expert_lanes.cpp only.
#pragma once

#include "app/views/experts/expert_paint.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {

struct ExpertBrush {
  QPainter& painter;
  const ExpertPicture& picture;
  const ExpertLayout& layout;
  const Theme& theme;
  TextLog* texts;
  const RoutedLayer& layer() const { return *picture.drawn(); }
  void head(const QRectF& rect, const QString& text) const {
    QFont caps = theme.caps();
    caps.setCapitalization(QFont::MixedCase);
    put_elided(painter, rect, Qt::AlignVCenter, text.toUpper(), caps, theme.muted, texts);
  }
  void text(const QRectF& rect, int flags, const QString& text, int size = 11, bool bold = false,
            const QColor& ink = {}) const {
    put_elided(painter, rect, flags | Qt::AlignVCenter, text, theme.font(size, bold),
               ink.isValid() ? ink : theme.text, texts);
  }
};

inline double text_width(const Theme& theme, int size, const QString& text) {
  return QFontMetricsF(theme.font(size)).horizontalAdvance(text);
}

// How far along the `index`-th of `count` things is that travel one after another: 0 at home, 1
// with its expert.
double way_of(const ExpertPicture& picture, int index, int count);
// All that is on its way. It is painted first and passes behind all that stands in the picture: no
// chip covers a figure.
void paint_flights(const ExpertBrush& brush);
// The homes' choices as a run counted them.
void paint_home_bars(const ExpertBrush& brush);
// The layer in time, rank by rank; and what the colours mean with how even the routing is.
void paint_expert_lanes(const ExpertBrush& brush);
void paint_expert_figures(const ExpertBrush& brush);

}  // namespace parallelarium
