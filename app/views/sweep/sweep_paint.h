// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of a sweep: one line for each value of the second setting, over the values of the
// first. Nothing here knows a widget.
#pragma once

#include <QPainter>
#include <vector>

#include "app/look/theme/theme.h"
#include "app/state/plan/setting_sweep.h"
#include "app/views/timeline/picture/timeline_paint.h"

namespace parallelarium {

struct SweepPicture {
  SweepWish wish;                       // of the answer, else what would be swept
  const SweepAnswer* answer = nullptr;  // null: there is none
  QString status;                       // what is under way, stale or wrong, or empty
  bool failed = false, sweeping = false;
  bool hidden = false;  // a lesson asks about such figures
  std::vector<SweptRun> runs;
  int selected = -1;  // of the answer's points
  double top = 10;    // where it begins: below what the view puts there
};

struct SweepHits {
  std::vector<std::pair<QRectF, int>> points;
};

// Paints it `width` wide and returns its height.
double paint_sweep(QPainter& painter, double width, const SweepPicture& picture, const Theme& theme,
                   SweepHits* hits, TextLog* texts);
double sweep_height(double width, const SweepPicture& picture, const Theme& theme);
// The plot of the answer, which must be there, in `rect`.
void paint_curves(QPainter& painter, const QRectF& rect, const SweepPicture& picture,
                  const Theme& theme, SweepHits* hits, TextLog* texts);

}  // namespace parallelarium
