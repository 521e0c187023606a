// SPDX-License-Identifier: GPL-3.0-or-later
#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/views/experts/expert_brush.h"
#include "app/views/shared/quantities/quantities.h"
#include "app/views/shared/time_axis.h"

namespace parallelarium {
namespace {

struct LanesWords {
  Q_DECLARE_TR_FUNCTIONS(experts)
};

constexpr double kTickPitch = 90;  // of the time axis, at least

OpColor color_of_part(LayerPart part) {
  return part == LayerPart::kDispatch || part == LayerPart::kCombine ? OpColor::kCommunication
                                                                     : OpColor::kForward;
}

void paint_lane(const ExpertBrush& b, const LayerTimes& times, int home, bool observed,
                Nanoseconds longest) {
  const QRectF lane = b.layout.lane(home, observed);
  const bool animated = &times == b.picture.shown();
  for (const LayerSpan& span : times.homes[std::size_t(home)]) {
    const double x0 = std::round(b.layout.x_of(span.span.begin, times, longest));
    const double x1 = std::round(b.layout.x_of(span.span.end, times, longest));
    const QRectF bar(x0, lane.top(), std::max(1.0, x1 - x0 - (x1 - x0 > 4 ? 1 : 0)), lane.height());
    if (span.part == LayerPart::kWait) {
      paint_hatching(b.painter, bar, b.theme);
      continue;
    }
    const OpColor color = color_of_part(span.part);
    const bool future = animated && b.picture.playhead && span.span.begin > *b.picture.playhead;
    const QColor solid = b.theme.solid(color);
    const QColor fill = future ? b.theme.surface : observed ? solid : b.theme.tint(color);
    b.painter.setRenderHint(QPainter::Antialiasing);
    b.painter.setBrush(fill);
    b.painter.setPen(observed && !future ? QPen(Qt::NoPen) : QPen(solid, 1));
    if (bar.width() >= 4)
      b.painter.drawRoundedRect(bar.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2);
    else
      b.painter.fillRect(bar, solid);
    if (span.part != LayerPart::kExperts || lane.height() < 11) continue;
    QStringList names;
    for (int expert = 0; expert < b.layer().experts; ++expert)
      if (b.layer().rank_of_expert[std::size_t(expert)] == home)
        names << QStringLiteral("E%1").arg(expert);
    const QString text = names.size() > 4 ? LanesWords::tr("%1 experts").arg(names.size())
                                          : names.join(QLatin1Char(' '));
    if (text_width(b.theme, 10, text) <= bar.width() - 6)
      b.text(bar, Qt::AlignHCenter, text, 10, false, b.theme.ink_on(fill));
  }
}

// "rehearsed", or "rehearsed, training step 4" where there are several.
QString observed_words(const ExpertPicture& picture) {
  const QString source = source_text(picture.observed->source);
  return picture.steps > 1
             ? LanesWords::tr("%1, training step %2").arg(source).arg(picture.timed_step + 1)
             : source;
}

}  // namespace

void paint_expert_lanes(const ExpertBrush& b) {
  const RoutedLayer& layer = b.layer();
  QString title = LanesWords::tr("Layer %1 in time").arg(layer.layer);
  if (b.picture.predicted)
    title += QStringLiteral(" \u00b7 ") + b.picture.predicted_word +
             (b.picture.by_its_routing ? LanesWords::tr(", by the run's routing") : QString()) +
             (b.picture.observed
                  ? QStringLiteral(" ") + LanesWords::tr("above %1").arg(observed_words(b.picture))
                  : QString());
  if (b.layout.lane_count < layer.ep)
    title += QStringLiteral(" \u00b7 ") +
             LanesWords::tr("first %1 of %2 ranks").arg(b.layout.lane_count).arg(layer.ep);
  b.head(QRectF(b.layout.lanes_head.left(), b.layout.lanes_head.top(), b.layout.lanes.width(), 18),
         title);
  const LayerTimes* any = b.picture.shown();
  if (!any) {
    b.text(QRectF(b.layout.lanes.left(), b.layout.lanes.top(), b.layout.lanes.width(), 18),
           Qt::AlignLeft, b.picture.no_prediction, 12, false, b.theme.muted);
    return;
  }
  Nanoseconds longest{0};
  for (const auto& times : {b.picture.predicted, b.picture.observed})
    if (times) longest = std::max(longest, times->length());
  for (int home = 0; home < b.layout.lane_count; ++home) {
    const QRectF lane = b.layout.lane(home, false);
    b.text(QRectF(b.layout.lanes.left(), lane.top(), 64, std::max(12.0, lane.height())),
           Qt::AlignLeft, LanesWords::tr("Rank %1").arg(home), lane.height() >= 11 ? 11 : 9);
    if (b.picture.predicted) paint_lane(b, *b.picture.predicted, home, false, longest);
    if (b.picture.observed) paint_lane(b, *b.picture.observed, home, true, longest);
  }
  const double bottom = b.layout.lanes.top() + b.layout.lane_count * b.layout.lane_pitch;
  if (b.picture.playhead && *b.picture.playhead >= any->window.begin &&
      *b.picture.playhead <= any->window.end) {
    const double x = b.layout.x_of(*b.picture.playhead, *any, longest);
    b.painter.setPen(QPen(b.theme.mark, 1.5));
    b.painter.drawLine(QPointF(x, b.layout.lanes.top() - 4), QPointF(x, bottom));
  }
  const TimeAxis axis{{Nanoseconds(0), longest}, b.layout.lane_left, b.layout.lane_width};
  const double least = b.layout.lane_left, most = least + b.layout.lane_width;
  for (const Tick& tick : ticks_of(axis, kTickPitch)) {
    const QString& label = b.picture.hides_times ? kHidden : tick.label;
    const double wide = text_width(b.theme, 10, label) + 2;
    const double left = std::clamp(axis.x_of(tick.time) - wide / 2, least, most - wide);
    b.painter.fillRect(QRectF(axis.x_of(tick.time), bottom - 2, 1, 4), b.theme.muted);
    b.text(QRectF(left, bottom + 3, wide, 14), Qt::AlignHCenter, label, 10, false, b.theme.muted);
  }
  const QString below = b.picture.observed ? waiting_sentence(b.picture) : b.picture.no_run;
  if (!below.isEmpty())
    b.text(QRectF(b.layout.lane_left, bottom + 18, b.layout.lane_width, 16), Qt::AlignLeft, below,
           11, false, b.picture.observed ? b.theme.mark : b.theme.muted);
}

// What the colours mean, and how even the routing is.
void paint_expert_figures(const ExpertBrush& b) {
  const RoutedLayer& layer = b.layer();
  const QRectF area = b.layout.figures;
  double y = area.top();
  for (const LayerPart part : {LayerPart::kRouter, LayerPart::kDispatch, LayerPart::kWait}) {
    const QRectF swatch(area.left(), y + 2, 14, 12);
    if (part == LayerPart::kWait) {
      paint_hatching(b.painter, swatch, b.theme);
    } else {
      b.painter.setRenderHint(QPainter::Antialiasing);
      b.painter.setPen(Qt::NoPen);
      b.painter.setBrush(b.theme.solid(color_of_part(part)));
      b.painter.drawRoundedRect(swatch, 2, 2);
    }
    const QString name = part == LayerPart::kRouter     ? LanesWords::tr("router and expert MLPs")
                         : part == LayerPart::kDispatch ? LanesWords::tr("dispatch and combine")
                                                        : part_name(part);
    b.text(QRectF(area.left() + 22, y, area.width() - 22, 16), Qt::AlignLeft, name, 11, false,
           b.theme.muted);
    y += 20;
  }
  y += 8;
  const auto line = [&](const QString& name, const QString& value) {
    const double wide = QFontMetricsF(b.theme.font(11, true)).horizontalAdvance(value);
    b.text(QRectF(area.left(), y, area.width() - wide - 8, 16), Qt::AlignLeft, name, 11, false,
           b.theme.muted);
    b.text(QRectF(area.right() - wide - 1, y, wide + 1, 16), Qt::AlignRight, value, 11, true);
    y += 20;
  };
  if (b.picture.knows_balance())
    line(LanesWords::tr("Balance loss / \u03b1 (1 is even)"), number_text(balance_of(layer)));
  else
    line(LanesWords::tr("Balance loss / \u03b1"),
         QStringLiteral("\u2013 ") + LanesWords::tr("(a run tells)"));
  const double lost =
      double(dropped_of(layer)) / double(std::max<std::int64_t>(1, assignments(layer)));
  line(LanesWords::tr("Dropped"), layer.capacity == 0
                                      ? LanesWords::tr("none, dropless")
                                      : LanesWords::tr("%1 of %2, %3")
                                            .arg(count_text(dropped_of(layer)),
                                                 count_text(assignments(layer)), share_text(lost)));
  line(LanesWords::tr("Fullest rank / mean"), number_text(fullest_over_mean(layer)));
  if (layer.capacity > 0)
    line(LanesWords::tr("Capacity (dashed)"),
         layer.ep > 1 ? LanesWords::tr("%1 ranks \u00d7 %2 = %3")
                            .arg(layer.ep)
                            .arg(count_text(layer.capacity), count_text(layer.ep * layer.capacity))
                      : count_text(layer.capacity));
}

}  // namespace parallelarium
