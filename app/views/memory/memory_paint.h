// SPDX-License-Identifier: GPL-3.0-or-later
// How memory is painted: legend, stacked bars with predicted beside counted, and the two tables.
// One set of functions serves screen, PNG, SVG and PDF.
#pragma once

#include <QLocale>

#include "app/views/memory/memory_data.h"
#include "app/views/timeline/picture/timeline_paint.h"

namespace parallelarium {

// A pair of bars, with a third one where something is pinned.
struct BarGroup {
  QString label;
  std::optional<PeakParts> planned;
  std::optional<CountedParts> counted;
  std::optional<CountedParts> pinned;  // of an earlier prediction or run: an outline
  bool framed = false;                 // the one that is set
  bool stale = false;
  QString instead;  // said where there is no bar: "needs DP"
};
struct BarChart {
  std::vector<BarGroup> groups;
  std::int64_t limit = 0;  // of one device; 0: not known
};
struct BarBox {
  QRectF group, planned, counted, pinned;  // empty where there is none
};
struct BarLayout {
  QRectF axes;
  double most = 1, step = 1;  // bytes at the top, between lines
  double unit = 1;            // of the labels
  QString unit_name;
  std::vector<BarBox> boxes;
  int label_every = 1;
  bool limit_in_sight = false;
  double y_of(double bytes) const { return axes.bottom() - bytes / most * axes.height(); }
};
// Whether the line of a device's limit has a place in a picture that reaches `most` bytes.
bool limit_in_sight(std::int64_t limit, double most);
bool limit_in_sight(const BarChart& chart);
BarLayout bar_layout(const BarChart& chart, const QRectF& rect, const Theme& theme);
void paint_bars(QPainter& painter, const BarChart& chart, const BarLayout& layout,
                const Theme& theme, int cursor, TextLog* texts);
// What a group says, one line each: for tooltip, selection and screen readers.
QStringList bar_lines(const BarGroup& group);
// The category under a point of a group's bar, if any.
std::optional<Category> category_at(const BarGroup& group, const BarLayout& layout,
                                    const BarBox& box, QPointF point);

// 1, 2 or 5 times a power of ten of a unit, so that at most `lines` fit below `bytes`, or a few
// more where it would be one alone.
struct ByteScale {
  double step = 1, unit = 1;
  QString name;
  QString label(double bytes, const QLocale& locale = QLocale()) const;
};
ByteScale byte_scale(double bytes, int lines);

// Swatches and words, left-aligned; those that do not fit are left out. `pinned` says what the
// outlined bars and curve are; empty: nothing is pinned. `limit`: what the dashed line stands for;
// 0: there is none.
void paint_memory_legend(QPainter& painter, const QRectF& rect, bool with_unexplained,
                         const QString& pinned, std::int64_t limit, const Theme& theme,
                         TextLog* texts);
void paint_caption(QPainter& painter, const QRectF& rect, const QString& text, const Theme& theme,
                   TextLog* texts);
// Dots with an outline: what no category explains.
void paint_unexplained(QPainter& painter, const QRectF& rect, const Theme& theme);
// `color` as a predicted area.
QColor memory_tint(const Theme& theme, Category category);

inline constexpr double kByteRow = 30, kByteValues = 64;
// The table of bytes per parameter; with `edited` its middle column is left to widgets. Returns
// the rectangles of that column, one per line.
std::vector<QRectF> paint_byte_table(QPainter& painter, const QRectF& rect, const Setup& setup,
                                     bool edited, const Theme& theme, TextLog* texts);
double byte_table_height();
// "Sent per step and rank"; lines that do not fit are counted in the last. `hits` receives their
// rectangles.
void paint_traffic(QPainter& painter, const QRectF& rect, const std::vector<TrafficTerm>& terms,
                   bool stale, const Theme& theme, TextLog* texts,
                   std::vector<QRectF>* hits = nullptr);

}  // namespace parallelarium
