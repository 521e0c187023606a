// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of a comparison: lanes of all columns on one time axis, the table of figures with
// their differences, and the causes of a difference to one scale. Nothing here knows a widget.
#pragma once

#include <QPainter>
#include <vector>

#include "app/look/theme/theme.h"
#include "app/views/compare/compare_data.h"

namespace parallelarium {

struct ComparePicture {
  const ComparedEntries* comparison = nullptr;
  QString status;  // what is under way or went wrong, or empty
  std::optional<FollowedAction> followed;
  double beside_head = 0;  // width that is taken at the right of the title
};

// What a click means.
struct CompareHits {
  std::vector<std::pair<QRectF, std::size_t>> columns;  // heads that choose a column
  std::vector<std::pair<QRectF, QString>>
      reasons;  // of cells that say in a word why they are empty
  QRectF lanes;
  PictureLayout layout;  // of the lanes, in the coordinates of `lanes`
};

// Paints it `width` wide and returns its height.
double paint_compare(QPainter& painter, double width, const ComparePicture& picture,
                     const Theme& theme, CompareHits* hits, TextLog* texts);
double compare_height(double width, const ComparePicture& picture, const Theme& theme);

// A letter in a square, as high and wide as this: filled where its column is compared with A now.
inline constexpr double kLetterChip = 16;
void paint_letter(QPainter& painter, const QPointF& top_left, std::size_t column, bool chosen,
                  const Theme& theme, TextLog* texts);

// The parts, from the top left of `rect` on; they return the height that they take.
double paint_compared_figures(QPainter& painter, const QRectF& rect,
                              const ComparedEntries& comparison, const Theme& theme,
                              CompareHits* hits, TextLog* texts);
double figures_width(const ComparedEntries& comparison);
double paint_causes(QPainter& painter, const QRectF& rect, const ComparedEntries& comparison,
                    const Theme& theme, TextLog* texts);

}  // namespace parallelarium
