// SPDX-License-Identifier: GPL-3.0-or-later
// Memory over one step as stacked areas: the plot that screen and exported pictures share.
#pragma once

#include "app/views/memory/memory_data.h"
#include "app/views/timeline/picture/timeline_paint.h"

class QCustomPlot;

namespace parallelarium {

// The bytes of one rank over the step.
struct MemoryCurve {
  std::vector<MemoryPoint> points;  // at most a few thousand: of moments between, the fullest
  Nanoseconds end{0};
  double most = 1;  // bytes
  MemoryPeak peak;
  std::int64_t limit = 0;
  // "forward", "backward", "update" with the time each takes.
  struct Part {
    QString name;
    TimeRange range;
  };
  std::vector<Part> parts;
  // Bytes of all categories over the step of what is pinned; empty: nothing is.
  struct Level {
    Nanoseconds time{0};
    std::int64_t bytes = 0;
  };
  std::vector<Level> pinned;
  std::int64_t pinned_peak = 0;
  void pin(const MemoryCurve& earlier);  // as an outline
};
MemoryCurve memory_curve(const Program& program, const Timeline& timeline, int rank_index,
                         std::int64_t limit);
// What is held at `time`.
CategoryBytes held_at(const MemoryCurve& curve, Nanoseconds time);
// The category at `bytes` above zero, and how far above the category's bottom.
struct HeldLevel {
  Category category = Category::kParameters;
  std::int64_t above = 0;
};
std::optional<HeldLevel> level_at(const CategoryBytes& held, double bytes);

inline constexpr double kCurveAxis = 70, kCurveCaption = 22, kCurveFoot = 20;

// Replaces what a plot of `width` pixels shows.
void fill_memory_plot(QCustomPlot& plot, const MemoryCurve& curve, bool observed,
                      const Theme& theme, const TimeAxis& axis, double width);
void set_memory_range(QCustomPlot& plot, const TimeAxis& axis, double width);
// Top of the plot's value axis, in bytes.
double curve_top(const MemoryCurve& curve);

// Caption with the peak, and below the plot the names of the parts of the step.
void paint_curve_frame(QPainter& painter, const QRectF& rect, const MemoryCurve& curve,
                       const QString& title, const Theme& theme, const TimeAxis& axis,
                       TextLog* texts);
// All of it, onto any device; `axis` in the coordinates of `rect`.
void paint_memory_curve(QPainter& painter, const QRectF& rect, const MemoryCurve& curve,
                        bool observed, const QString& title, const Theme& theme,
                        const TimeAxis& axis, TextLog* texts);

}  // namespace parallelarium
